"""Energies that nobody proves in the time given: whose labeling is better, ``auto`` or toulbar2 alone?

    python benchmarks/open_instances.py [--limits 5,30,120] [--only spin,Potts]

Seeded instances of four kinds: planar and cubic spin glasses, Potts grids of noise, planted 3-colourings with costs,
random binary energies of high coupling. toulbar2 gets each energy as it is, in integers with 50 bits, and prints every
better labeling; the last one before the limit counts. Limits are in seconds of wall clock for both; ``CPU`` is what
``auto`` and toulbar2 used of them, child processes and their start included, which is less on a busy machine. ``auto``
may use toulbar2 too, if it is installed. The lower energy is bold (both where they agree to 1e-9); ``bound`` is that of
auto; a star marks a proven optimum.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gapcut import Energy, solve
from gapcut.engines import describe_machine
from gapcut.inference.methods.exact import last_printed, run_toulbar2
from gapcut.inference.shifted import integers, shifted
from gapcut.typing import IntArray

HEADER = "| energies | nodes | edges | seconds | auto | bound | toulbar2 | CPU |\n|---|---|---|---|---|---|---|---|"
AGREEMENT = 1e-9


def lattice(*sides: int) -> IntArray:
    """(E, 2) neighbours in a box of this shape."""
    node = np.arange(math.prod(sides)).reshape(sides)
    axes = range(len(sides))
    pairs = [
        np.stack([node.take(range(n - 1), a), node.take(range(1, n), a)], -1)
        for n, a in zip(sides, axes, strict=True)
    ]
    return np.concatenate([pair.reshape(-1, 2) for pair in pairs])


def spin_glass(seed: int, *sides: int) -> Energy:
    """Normal couplings (Edwards and Anderson 1975), a weak field."""
    rng = np.random.default_rng(seed)
    edges = lattice(*sides)
    tables = rng.normal(size=(len(edges), 1, 1)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Energy(0.1 * rng.normal(size=(math.prod(sides), 2)), edges, tables)


def potts(seed: int, side: int, labels: int, strength: float) -> Energy:
    """Uniform unaries without any structure, neighbours like equal labels."""
    rng = np.random.default_rng(seed)
    return Energy(rng.random((side * side, labels)), lattice(side, side), strength * (1 - np.eye(labels)))


def colouring(seed: int, n: int, mean_degree: float) -> Energy:
    """Uniform costs of three colours, equal neighbours forbidden, a proper colouring planted."""
    rng = np.random.default_rng(seed)
    colour = rng.integers(0, 3, n)
    pairs = rng.integers(0, n, (int(0.75 * mean_degree * n), 2))
    edges = pairs[colour[pairs[:, 0]] != colour[pairs[:, 1]]]
    return Energy(rng.random((n, 3)), edges, np.where(np.eye(3) > 0, np.inf, 0.0))


def random_binary(seed: int, n: int, density: float, coupling: float) -> Energy:
    """Couplings of any sign on a random graph, far stronger than the unaries."""
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((n, n)) < density, 1))
    return Energy(rng.normal(size=(n, 2)), edges, coupling * rng.normal(size=(len(edges), 2, 2)))


INSTANCES: Mapping[str, Callable[[], Energy]] = {
    "spin glass 32 x 32": lambda: spin_glass(0, 32, 32),
    "spin glass 64 x 64": lambda: spin_glass(1, 64, 64),
    "spin glass 10 x 10 x 10": lambda: spin_glass(2, 10, 10, 10),
    "Potts noise 40 x 40, 5 labels": lambda: potts(3, 40, 5, 0.3),
    "Potts noise 100 x 100, 8 labels": lambda: potts(4, 100, 8, 0.25),
    "3-colouring 300, degree 4": lambda: colouring(5, 300, 4.0),
    "3-colouring 1000, degree 3": lambda: colouring(6, 1000, 3.0),
    "random binary 200, density 0.1": lambda: random_binary(7, 200, 0.1, 3.0),
    "random binary 100, density 0.5": lambda: random_binary(8, 100, 0.5, 3.0),
}


@dataclass(frozen=True)
class Row:
    """One instance at one limit; energies are inf without a labeling."""

    name: str
    nodes: int
    edges: int
    seconds: float
    auto: float
    bound: float
    proven: bool
    toulbar2: float
    claimed: bool
    auto_cpu: float
    toulbar2_cpu: float

    def __str__(self) -> str:
        best = min(self.auto, self.toulbar2)

        def shown(value: float, star: bool) -> str:
            text = f"{value:.4f}" if value < math.inf else "none"
            bold = "**" if value < math.inf and value <= best + AGREEMENT * abs(best) else ""
            return f"{bold}{text}{bold}{' *' if star else ''}"

        auto, other = shown(self.auto, self.proven), shown(self.toulbar2, self.claimed)
        return (
            f"| {self.name} | {self.nodes} | {self.edges} | {self.seconds:g} "
            f"| {auto} | {self.bound:.4f} | {other} | {self.auto_cpu:.1f}, {self.toulbar2_cpu:.1f} |"
        )


def toulbar2(energy: Energy, limit: float) -> tuple[float, bool]:
    """The energy of its last labeling, and whether it says that is optimal."""
    terms = shifted(energy, math.inf)
    if terms is None:
        return math.inf, True
    costs = integers(terms)
    ended = run_toulbar2(energy, costs, costs.top, None, limit)
    labels = last_printed(ended.printed, energy) if ended.answer is None else ended.answer["labels"]
    return (math.inf if labels is None else energy.energy(np.asarray(labels))), ended.answer is not None


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limits", default="5,30,120", help="seconds, separated by commas")
    parser.add_argument("--only", default="", help="instances whose name contains one of these")
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    print(HEADER)
    rows = []
    for name, make in INSTANCES.items():
        if not any(part in name for part in options.only.split(",")):
            continue
        energy = make()
        for limit in map(float, options.limits.split(",")):
            begun = cpu_seconds()
            found = solve(energy, time_limit=limit)
            between = cpu_seconds()
            other, claimed = toulbar2(energy, limit)
            used = (between - begun, cpu_seconds() - between)
            proven = found.status == "optimal"
            size = (energy.n_nodes, energy.n_edges)
            rows.append(Row(name, *size, limit, found.energy, found.bound, proven, other, claimed, *used))
            print(rows[-1], flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()

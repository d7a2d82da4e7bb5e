"""Energies that nobody proves in the time given: whose labeling is better, ``auto`` or toulbar2 alone?

    python benchmarks/open_instances.py [--limits 5,30,120] [--only spin,Potts]

Seeded instances of four kinds: planar and cubic spin glasses, Potts grids of noise, planted 3-colourings with costs,
random binary energies of high coupling. toulbar2 gets each energy as it is, in integers with 50 bits, and prints every
better labeling; the last one before the limit counts. Limits are seconds of CPU. ``auto`` plans by the wall clock: on a
busy machine its limit is longer, by as much as the wall clock ran ahead in the run before, and it begins anew, with
nothing kept, where it got less than 80 % of the CPU seconds. ``CPU`` says what its last run used, child processes and
their start included, and then toulbar2. That is ended by its CPU clock, at the limit or at what ``auto`` used,
whichever is more. ``auto`` may use toulbar2 too, if it is installed. The lower energy is bold (both where they agree to
1e-9); ``bound`` is that of auto; a star marks a proven optimum.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gapcut import Energy, Solution, solve
from gapcut.engines import describe_machine
from gapcut.inference.external.child import HERE
from gapcut.inference.methods.exact import last_printed, payload
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
    """The energy of its last labeling within so many seconds of CPU, and whether it says that is optimal."""
    terms = shifted(energy, math.inf)
    if terms is None:
        return math.inf, True
    costs = integers(terms)
    allowed = math.ceil(limit)
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, "-P", str(HERE / "worker.py"), str(HERE / "toulbar.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 1)),
        )
        answer, _ = process.communicate(pickle.dumps(payload(energy, costs, costs.top, None)))
        printed.seek(0)
        labels = pickle.loads(answer)[1]["labels"] if answer else last_printed(printed.read(), energy)
    return (math.inf if labels is None else energy.energy(np.asarray(labels))), bool(answer)


class Stretched:
    """Wall-clock limits that leave so many seconds of CPU, if the machine is as busy as the last time."""

    ENOUGH, TRIES = 0.8, 4

    def __init__(self) -> None:
        self.ratio = 1.0

    def solve(self, energy: Energy, seconds: float) -> tuple[Solution[IntArray], float]:
        """The solution, and the CPU seconds it took; again where these are far too few."""
        for _ in range(self.TRIES):
            wall, begun = time.perf_counter(), cpu_seconds()
            found = solve(energy, time_limit=seconds * self.ratio)
            used = cpu_seconds() - begun
            self.ratio = max((time.perf_counter() - wall) / max(used, 1e-3), 1.0)
            if used >= self.ENOUGH * seconds or found.status != "stopped":
                break
        return found, used


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limits", default="5,30,120", help="CPU seconds, separated by commas")
    parser.add_argument("--only", default="", help="instances whose name contains one of these")
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    print(HEADER)
    rows, clock = [], Stretched()
    for name, make in INSTANCES.items():
        if not any(part in name for part in options.only.split(",")):
            continue
        energy = make()
        for limit in map(float, options.limits.split(",")):
            found, own = clock.solve(energy, limit)
            begun = cpu_seconds()
            other, claimed = toulbar2(energy, max(limit, own))
            used = (own, cpu_seconds() - begun)
            proven = found.status == "optimal"
            size = (energy.n_nodes, energy.n_edges)
            rows.append(Row(name, *size, limit, found.energy, found.bound, proven, other, claimed, *used))
            print(rows[-1], flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()

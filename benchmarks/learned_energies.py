"""Energies of learned models: ``auto`` against TRW-S alone, toulbar2 alone and HiGHS alone, on the same energies.

    python benchmarks/learned_energies.py [--data planted,tables,cornell] [--time-limit 60] [--repeat 3]

``planted`` are generated (``planted_energies.py``; ``clear`` and ``faint`` planting, ``--repeat`` seeds);
``tables`` and ``cornell`` are test graphs of models trained here, the ``--graphs`` with the most table entries.
Every solver gets the same energies and the same wall-clock limit for each. ``toulbar2 alone`` and ``HiGHS alone``
get the energy as it is (``rivals/minimisers.py``); ``exact`` and ``ilp`` are this package's methods, which reduce the
energy and bound it before they call the same solvers.

Seconds are medians over the energies of a row; ``ratio`` is a solver's median over that of auto (above 1: auto is
faster), and at least that where the limit struck. ``closed`` counts proven optima (of the rivals: claimed);
``worst gap`` is the largest (energy - bound) / |energy|; ``worst excess`` the largest (energy - auto's) / |auto's|.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from planted_energies import CLEAR, FAINT, planted_energy
from rivals.minimisers import RIVALS, missing
from rivals.minimisers import run as run_rival

from gapcut import Energy, Graph, StructuredSVM, datasets, solve
from gapcut.certificates import at_most
from gapcut.engines import describe_machine
from gapcut.inference import METHODS

SIZES = ((300, 1200, 17), (1000, 4000, 11), (3000, 15000, 20))
METHODS_COMPARED = ("auto", "trws", "exact", "ilp")
HEADER = (
    "| energies | how many | solver | seconds | ratio | closed | worst gap | worst excess |\n"
    "|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Family:
    """Energies of one kind."""

    name: str
    energies: Sequence[Energy]


@dataclass(frozen=True)
class Run:
    """One solver on one energy; energy inf without a labeling, gap None without a bound."""

    energy: float
    gap: float | None
    closed: bool
    seconds: float


@dataclass(frozen=True)
class Row:
    """One solver on one family; ``excess`` is the largest (energy - auto's) / |auto's|."""

    family: str
    energies: int
    solver: str
    seconds: float
    ratio: float
    closed: int
    gap: float | None
    excess: float

    def __str__(self) -> str:
        gap = "-" if self.gap is None else at_most(self.gap, 2)
        return (
            f"| {self.family} | {self.energies} | {self.solver} | {self.seconds:.4f} | {self.ratio:.1f} "
            f"| {self.closed} | {gap} | {self.excess:.2g} |"
        )


def planted(repeat: int, largest: int) -> Iterator[Family]:
    """The generated families."""
    for nodes, edges, labels in SIZES:
        if nodes > largest:
            continue
        for name, clarity in (("clear", CLEAR), ("faint", FAINT)):
            drawn = [planted_energy(nodes, edges, labels, seed, clarity)[0] for seed in range(repeat)]
            yield Family(f"{name}, {nodes} / {edges} / {labels}", drawn)


def trained(name: str, shared: Path, C: float, graphs: int) -> Family:
    """Test graphs of a model trained on a data set at hand."""
    train, test = _split(name, shared / "data")
    svm = StructuredSVM(C=C, gap=0.01, time_limit=120.0, n_jobs=-1).fit(train)
    largest = sorted(test, key=lambda g: g.n_edges, reverse=True)[:graphs]
    labels = len(svm.classes_)
    return Family(f"{name}, C = {C:g}, {labels} labels", [svm.energy(graph) for graph in largest])


def _split(name: str, root: Path) -> tuple[Sequence[Graph], Sequence[Graph]]:
    if name == "tables":
        return datasets.load_tables(root / "tables")
    scenes = list(datasets.load_cornell(root / "cornell", "office"))
    return [g for i, g in enumerate(scenes) if i % 4], [g for i, g in enumerate(scenes) if not i % 4]


def compare(family: Family, solvers: Sequence[str], time_limit: float) -> Iterator[Row]:
    """One row a solver; the first is what the others are compared with."""
    reference: list[Run] = []
    for solver in solvers:
        runs = [run_one(solver, energy, time_limit) for energy in family.energies]
        reference = reference or runs
        seconds = statistics.median(run.seconds for run in runs)
        gaps = [run.gap for run in runs if run.gap is not None]
        pairs = zip(runs, reference, strict=True)
        yield Row(
            family.name,
            len(runs),
            solver,
            seconds,
            seconds / statistics.median(run.seconds for run in reference),
            sum(run.closed for run in runs),
            max(gaps) if gaps else None,
            max((run.energy - best.energy) / max(abs(best.energy), 1e-300) for run, best in pairs),
        )


def run_one(solver: str, energy: Energy, time_limit: float) -> Run:
    """One of our methods, or a rival; the energy of its labels is ours to say."""
    if solver in RIVALS:
        found = run_rival(solver, energy, time_limit)
        value = math.inf if found.labels is None else energy.energy(found.labels)
        return Run(value, None, found.claimed, found.seconds)
    solution = solve(energy, solver, time_limit=time_limit)
    gap = solution.gap / max(abs(solution.energy), 1e-300)
    return Run(solution.energy, gap, solution.status == "optimal", solution.seconds)


def usable_solvers() -> list[str]:
    """Auto first; what cannot run is left out with a note."""
    usable = []
    for method in METHODS_COMPARED:
        if method in METHODS and not (method == "exact" and missing("toulbar2 alone")):
            usable.append(method)
        else:
            print(f"left out: method {method}")
    for rival in RIVALS:
        if missing(rival):
            print(f"left out: {rival}, pip install {missing(rival)}")
        else:
            usable.append(rival)
    return usable


def families(options: argparse.Namespace) -> Iterator[Family]:
    """What was asked for."""
    wanted = options.data.split(",")
    if "planted" in wanted:
        yield from planted(options.repeat, options.largest)
    for name in ("tables", "cornell"):
        if name in wanted:
            for C in (1.0, 10.0):
                yield trained(name, options.shared, C, options.graphs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--data", default="planted,tables,cornell")
    parser.add_argument("--largest", type=int, default=3000, help="leave out planted energies of more nodes")
    parser.add_argument("--graphs", type=int, default=15, help="test graphs of a trained model")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds a solve")
    parser.add_argument("--repeat", type=int, default=3, help="seeds of planted energies")
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    solvers = usable_solvers()
    print(HEADER)
    rows = []
    for family in families(options):
        for row in compare(family, solvers, options.time_limit):
            rows.append(row)
            print(row, flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()

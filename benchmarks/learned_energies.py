"""Energies of learned models: ``auto`` against TRW-S alone, toulbar2 alone and HiGHS alone, in one process.

    python benchmarks/learned_energies.py [--data planted,tables,cornell] [--time-limit 60] [--repeat 3]

``planted`` are generated (``planted_energies.py``; ``clear`` and ``faint`` planting, ``--repeat`` seeds);
``tables`` and ``cornell`` are test graphs of models trained here, the ``--graphs`` with the most table entries.
Every solver gets the same energies and the same wall-clock limit for each. Seconds are medians over the
energies of a row; ``ratio`` is a solver's median over that of auto (above 1: auto is faster). ``closed`` counts
proven optima, ``worst gap`` is the largest (energy - bound) / |energy|; a labeling above auto's by more than
that is marked. ``exact`` (pytoulbar2) and ``ilp`` (HiGHS) need ``pip install "gapcut[exact]"``; what is not
there is left out with a note.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from planted_energies import CLEAR, FAINT, planted_energy

from gapcut import Energy, Graph, Solution, StructuredSVM, datasets, solve
from gapcut.inference import METHODS

SIZES = ((300, 1200, 17), (1000, 4000, 11), (3000, 15000, 20))
SOLVERS = {"auto": "auto", "trws": "TRW-S", "exact": "toulbar2", "ilp": "HiGHS"}
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
class Row:
    """One solver on one family; ``excess`` is the largest (energy - auto's) / |auto's|."""

    family: str
    energies: int
    solver: str
    seconds: float
    ratio: float
    closed: int
    gap: float
    excess: float

    def __str__(self) -> str:
        return (
            f"| {self.family} | {self.energies} | {self.solver} | {self.seconds:.3f} | {self.ratio:.1f} "
            f"| {self.closed} | {self.gap:.2g} | {self.excess:.2g} |"
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


def compare(family: Family, time_limit: float) -> Iterator[Row]:
    """One row a solver; auto first."""
    reference: list[Solution] = []
    for method in (m for m in SOLVERS if m in METHODS):
        found = [solve(energy, method, time_limit=time_limit) for energy in family.energies]
        reference = reference or found
        seconds = statistics.median(s.seconds for s in found)
        yield Row(
            family.name,
            len(found),
            SOLVERS[method],
            seconds,
            seconds / statistics.median(s.seconds for s in reference),
            sum(s.status == "optimal" for s in found),
            max(s.gap / max(abs(s.energy), 1e-300) for s in found),
            max(
                (s.energy - r.energy) / max(abs(r.energy), 1e-300)
                for s, r in zip(found, reference, strict=True)
            ),
        )


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
    for method in SOLVERS:
        if method not in METHODS:
            print(f"left out: {SOLVERS[method]}, there is no method {method!r}")
    print(HEADER)
    rows = []
    for family in families(options):
        for row in compare(family, options.time_limit):
            rows.append(row)
            print(row, flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()

"""Known energies and their known optima: does ``auto`` find each, and close the gap?

    python benchmarks/energies.py [--shared ../shared] [--only protein] [--time-limit 60] [--repeat 3]

One row a file under ``data/energies``. ``optimum`` is the published or proven one, ``found`` and ``bound`` are
ours. Seconds are wall clock of the solver, the median over the repeats (reading is off the clock, ``read s``);
``TRW-S s`` is message passing alone, in brackets where it leaves a gap. ``closed by`` says whether message
passing alone closes the gap or what ``auto`` does beyond it. Ends with 1 if an optimum is missed or a gap open.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from gapcut import Energy, EnergyFileError, Solution, read_energy, solve
from gapcut.certificates import at_most
from gapcut.engines import describe_machine

HEADER = (
    "| file | nodes | edges | cliques | labels | optimum | found | bound | gap | auto s | TRW-S s | read s "
    "| closed by |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)
ENDS = (".uai", ".wcsp", ".cfn", ".cfn.gz", ".h5")
AGREEMENT = 1e-6
"""Published optima are rounded to six decimals."""


@dataclass(frozen=True)
class Row:
    """One file. ``seconds`` of auto, ``trws_seconds`` of message passing alone."""

    file: str
    nodes: int
    edges: int
    cliques: int
    labels: int
    optimum: float | None
    found: float
    bound: float
    gap: float
    seconds: float
    trws_seconds: float
    trws_closed: bool
    read_seconds: float
    closed_by: str

    @property
    def right(self) -> bool:
        """Gap closed, at the optimum as far as it is known."""
        close = self.optimum is None or abs(self.found - self.optimum) <= AGREEMENT * max(
            1.0, abs(self.found)
        )
        return close and self.closed_by != "open"

    def __str__(self) -> str:
        trws = f"{self.trws_seconds:.3f}" if self.trws_closed else f"({self.trws_seconds:.3f})"
        optimum = "?" if self.optimum is None else f"{self.optimum:.6f}"
        found = f"{self.found:.6f}" if self.right else f"**{self.found:.6f}**"
        return (
            f"| {self.file} | {self.nodes} | {self.edges} | {self.cliques} | {self.labels} | {optimum} "
            f"| {found} | {self.bound:.6f} | {at_most(self.gap, 2)} | {self.seconds:.3f} | {trws} "
            f"| {self.read_seconds:.2f} | {self.closed_by} |"
        )


def instances(root: Path) -> Iterator[tuple[Path, float | None]]:
    """Files and their optima, from ``optimum.json`` beside them or ``NAME.ub``."""
    for folder in sorted(p for p in root.iterdir() if p.is_dir()):
        proven: dict[str, dict[str, float]] = {}
        if (folder / "optimum.json").exists():
            proven = json.loads((folder / "optimum.json").read_text())["instances"]
        for path in sorted(p for p in folder.iterdir() if p.name.endswith(ENDS)):
            published = folder / f"{path.name.split('.')[0]}.ub"
            if path.name in proven:
                yield path, proven[path.name]["best_energy"]
            else:
                yield path, float(published.read_text()) if published.exists() else None


def measure(path: Path, optimum: float | None, time_limit: float, repeat: int) -> Row:
    """One row of the table."""
    start = time.perf_counter()
    energy = read_energy(path)
    read_seconds = time.perf_counter() - start
    trws, trws_seconds = _timed(energy, "trws", time_limit, repeat)
    auto, seconds = _timed(energy, "auto", time_limit, repeat)
    closed = auto.status in ("optimal", "infeasible")
    alone = trws.status in ("optimal", "infeasible")
    return Row(
        f"{path.parent.name}/{path.name}",
        energy.n_nodes,
        energy.n_edges,
        energy.n_cliques,
        int(energy.n_labels.max()),
        optimum,
        auto.energy,
        auto.bound,
        auto.gap,
        seconds,
        trws_seconds,
        alone,
        read_seconds,
        "open" if not closed else "TRW-S" if alone else "auto, beyond TRW-S",
    )


def _timed(energy: Energy, method: str, time_limit: float, repeat: int) -> tuple[Solution, float]:
    runs = [solve(energy, method, time_limit=time_limit) for _ in range(repeat)]
    return runs[-1], statistics.median(run.seconds for run in runs)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds a solve")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    root = options.shared / "data" / "energies"
    if not root.is_dir():
        parser.error(f"no energies at {root}: name the folder with --shared")
    print(HEADER)
    rows, failed = [], 0
    for path, optimum in instances(root):
        if options.only not in str(path.relative_to(root)):
            continue
        try:
            row = measure(path, optimum, options.time_limit, options.repeat)
        except EnergyFileError as error:
            print(f"refused: {error}", flush=True)
            failed += 1
            continue
        rows.append(row)
        print(row, flush=True)
    right = sum(row.right for row in rows)
    slowest = max((row.seconds for row in rows), default=0.0)
    print(
        f"\n{right} of {len(rows) + failed} at the known optimum with a closed gap; slowest {slowest:.3f} s"
    )
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))
    return 0 if right == len(rows) + failed else 1


if __name__ == "__main__":
    sys.exit(main())

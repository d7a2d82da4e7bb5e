"""Training compared: gapcut's learners, its default learner without this or that, and what others would
use.

    python benchmarks/training.py [--data tables,scenes] [--C 1,10] [--rows primal-dual,block] [--limit 30]

All rows of a data set work on the same packed problem in one process; loading and feature steps are off the
clock. A run ends at a certified relative gap of ``--gap`` or after ``--limit`` seconds of wall clock, and
then shows the gap it reached. Bounds of rivals are made by the same exact oracle and dual bound as ours,
off the clock. ``--oracle lp`` learns one label a node, with ``primal-dual`` unless ``--rows`` says more; its
time includes what is proven of the one-hot problem. CPU seconds are the fair figure on a machine that does
other work. A Markdown table goes to standard output, progress to standard error; ``--compact`` prints a
column for each data set and C, seconds of wall clock or, with ``--cpu``, of all threads together.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from measure import Conditions, Measurement, measure_rival, measure_row, warm_up
from rivals.algorithm1 import Algorithm1
from rivals.base import Rival
from rivals.quoted import Quote, quotes
from rows import own_rows
from threadpoolctl import threadpool_limits
from workloads import NAMES, SHARED, Workload, load

import gapcut
from gapcut.certificates import gap_percent
from gapcut.engines import describe_machine
from gapcut.learners import Limits

RIVALS: dict[str, tuple[str, Rival]] = {
    "algorithm-1": ("Algorithm 1 (BK on all arcs, Clarabel)", Algorithm1()),
}
QUOTED = "quoted"
HEADER = (
    "| data | C | row | wall s | CPU s | passes | oracle calls | lower | upper | gap | test accuracy | "
    "non-zero pairs | note |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    options = _options()
    print(describe_machine(), file=sys.stderr)
    keys = [*RIVALS, *(row.key for row in own_rows()), QUOTED]
    usual = keys if options.oracle == "cut" else ["primal-dual"]
    chosen = usual if options.rows is None else options.rows.split(",")
    if options.oracle != "cut" and (other := {*RIVALS, QUOTED}.intersection(chosen)):
        sys.exit(f"--rows: {', '.join(sorted(other))} for --oracle cut only")
    names = options.data.split(",")
    _refuse_unknown("--rows", chosen, keys)
    _refuse_unknown("--data", names, NAMES)
    limit, threads = options.limit, options.threads
    conditions = Conditions(Limits(gap=options.gap, time_limit=limit), threads, options.repeat)
    measurements: list[Measurement] = []
    print(
        f"target gap {gap_percent(options.gap)}, limit {limit:g} s of wall clock a run, {threads} threads\n"
    )
    if not options.compact:
        print(HEADER, flush=True)
    for name in names:
        try:
            workload = load(name, options.shared, options.oracle)
        except OSError as error:
            print(f"{name} left out: {error}", file=sys.stderr)
            continue
        print(workload.describe(), file=sys.stderr, flush=True)
        for result in _compare(workload, chosen, [float(C) for C in options.C.split(",")], conditions):
            print(_line(result), file=sys.stderr if options.compact else sys.stdout, flush=True)
            measurements.append(result)
        if QUOTED in chosen and not options.compact:
            for quote in quotes(options.shared / "anchors" / "pystruct.md", workload):
                print(_quoted_line(name, quote), flush=True)
    if options.compact:
        print(_compact(measurements, options.cpu))
    if options.json:
        _write(options.json, measurements, conditions)


def _refuse_unknown(option: str, given: list[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            sys.exit(f"{option}: {name!r} is none of {', '.join(known)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=",".join(NAMES), help="names, separated by commas")
    parser.add_argument("--C", default="0.1,1,10,100", help="trade-offs, separated by commas")
    parser.add_argument("--oracle", choices=["cut", "lp"], default="cut", help="the problem that is learned")
    parser.add_argument("--rows", help="keys, separated by commas; default: all that can run")
    parser.add_argument("--gap", type=float, default=1e-2, help="target of the relative gap")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of wall clock a run")
    parser.add_argument("--repeat", type=int, default=1, help="runs a row; the median by CPU time is shown")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder with the data")
    parser.add_argument("--compact", action="store_true", help="a column for each data set and C")
    parser.add_argument("--cpu", action="store_true", help="CPU seconds in these columns, not wall clock")
    parser.add_argument("--json", type=Path, help="write the same with all digits to this file")
    return parser.parse_args()


def _compare(
    workload: Workload, chosen: list[str], trade_offs: list[float], conditions: Conditions
) -> Iterator[Measurement]:
    able = {key: entry for key, entry in RIVALS.items() if key in chosen}
    for key, (title, rival) in list(able.items()):
        if note := rival.missing():
            print(f"{title} left out, {note}", file=sys.stderr)
            del able[key]
    warm_up(workload, conditions.threads)
    for C in trade_offs:
        for key, (title, rival) in able.items():
            yield measure_rival(key, title, rival, workload, C, conditions)
        for row in own_rows():
            if row.key in chosen:
                yield measure_row(row, workload, C, conditions)


def _line(m: Measurement) -> str:
    accuracy = "-" if m.accuracy is None else f"{m.accuracy:.3f}"
    gap = gap_percent(m.gap) if m.reached else f"**{gap_percent(m.gap)}**"
    cells = [m.data, f"{m.C:g}", m.row, f"{m.wall:.2f}", f"{m.cpu:.2f}", m.passes, m.oracle_calls]
    cells += [f"{m.lower:.5g}", f"{m.upper:.5g}", gap, accuracy, f"{m.nonzero:.1%}", m.note]
    return _cells(cells)


def _compact(measurements: Sequence[Measurement], cpu: bool) -> str:
    """Seconds to the target, or the gap where it was not met."""
    columns = list(dict.fromkeys((m.data, m.C) for m in measurements))
    cells: dict[str, dict[tuple[str, float], str]] = {}
    for m in measurements:
        shown = f"{m.cpu if cpu else m.wall:.2g} s" if m.reached else gap_percent(m.gap)
        cells.setdefault(m.row, {})[m.data, m.C] = shown
    lines = [_cells(["", *(f"{data}, C = {C:g}" for data, C in columns)]), f"|{'---|' * (len(columns) + 1)}"]
    return "\n".join(
        lines + [_cells([row, *(found.get(c, "-") for c in columns)]) for row, found in cells.items()]
    )


def _quoted_line(data: str, quote: Quote) -> str:
    C = "-" if quote.C is None else f"~{quote.C:.2g}"
    note = ", ".join(filter(None, ["quoted, not rerun", quote.note]))
    cells = [data, C, quote.row, "-", quote.cpu, quote.passes, "-", "-", "-", "-", quote.accuracy, "-", note]
    return _cells(cells)


def _cells(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _write(path: Path, measurements: list[Measurement], conditions: Conditions) -> None:
    machine = {
        "gapcut": gapcut.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
    }
    rows = [m.as_dict() for m in measurements]
    whole = {"machine": machine, "conditions": asdict(conditions), "rows": rows}
    path.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    with threadpool_limits(1):  # idle BLAS threads would count as CPU time
        main()

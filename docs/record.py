"""Run what the pages show and keep it: ``python docs/record.py [ID ...] [--page NAME] [--all] [--list] [--quick]``.

A run is a marked block of a page (pages.py), run after the blocks before it, or the command in docs/runs/ID.json, of
whose output what stands between the first and the last line of a table is kept. Without an ID all marked blocks that
are not slow are run, with ``--all`` everything, with ``--page paper`` what docs/paper.md shows. ``--list`` says what
there is, with the CPU seconds that a run took. ``--quick`` tries long tables on less data within short limits and keeps
nothing. Afterwards ``python docs/render.py`` fills the pages.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from pages import PATHS, ROOT, RUNS, Block, Session, blocks, pages, record, shown_runs

QUICK = (
    (r"gapcut bridges reproduce", r"\g<0> --quick --limit 1"),
    (r"compare\.py.*(?= --out)", r"\g<0> --scale 0.02"),
    (r"compare\.py(?!.*--pairs).*(?= --out)", r'\g<0> --pairs "primal-dual/cut;block/trws/signed"'),
    (r"qp_solvers\.py.*", r"qp_solvers.py --planes 10 --limit 1"),
    (r"build/", r"build/quick/"),
)
"""What makes a long command short; of an option that is given twice the last one counts."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--page", help="what this page shows: its name, without the ending")
    parser.add_argument("--all", action="store_true", help="slow blocks and long tables too")
    parser.add_argument("--quick", action="store_true", help="try long tables quickly, and keep nothing")
    parser.add_argument("--list", action="store_true", help="say what there is, run nothing")
    parser.add_argument(
        "--processor", default=f"{cpu('model name')}, {os.cpu_count()} cores", help="its name"
    )
    given = parser.parse_args()
    shown = {block.run: block for page in pages() for block in blocks(page) if block.run}
    tables = {
        path.stem: record(path.stem)["command"]
        for path in sorted(RUNS.glob("*.json"))
        if path.stem not in shown
    }
    known = {**{run: block.where for run, block in shown.items()}, **tables}
    if given.page:
        given.ids += shown_runs(ROOT / "docs" / f"{given.page}.md")
    if unknown := set(given.ids) - known.keys():
        parser.error(f"no run named {', '.join(sorted(unknown))}: see --list")
    if given.list:
        tell({run: what for run, what in known.items() if run in given.ids or not given.ids})
        return
    cheap = [run for run, block in shown.items() if "slow" not in block.options]
    wanted = set(given.ids or (known if given.all else cheap))
    if not given.quick:
        for page in pages():
            run_page(blocks(page), wanted, given.processor)
    for run in sorted(wanted & tables.keys()):
        command, start = tables[run], cpu_seconds()
        if given.quick:
            rows = table(quick(command)).count("\n")
            print(f"{run}: {rows} lines, {cpu_seconds() - start:.0f} CPU seconds", flush=True)
        else:
            write(run, command, table(command), given.processor, cpu_seconds() - start)


def tell(known: dict[str, str]) -> None:
    """Names, commands or places of runs, what each took, and the sum."""
    took = [record(run).get("cpu_seconds") for run in known]
    for (run, what), seconds in zip(known.items(), took, strict=True):
        print(f"{run:20} {'-' if seconds is None else f'{seconds:,.0f} s':>9}  {what}")
    print(f"{'in all':20} {sum(s for s in took if s is not None):7,.0f} s  of CPU time, where it is known")


def quick(command: str) -> str:
    """The command of a long table on less data, within short limits, in another folder."""
    for pattern, short in QUICK:
        command = re.sub(pattern, short, command)
    return command


def run_page(todo: list[Block], wanted: set[str], processor: str) -> None:
    """All blocks up to the last one wanted."""
    while todo and todo[-1].run not in wanted:
        todo.pop()
    with Session() as session:
        for block in todo:
            if reason := block.reason_to_skip(slow=block.run in wanted):
                print(f"{block.where}: not run, {reason}", file=sys.stderr)
                continue
            start = cpu_seconds()
            output = session.run(block)
            if block.run in wanted:
                write(block.run, block.code, output, processor, cpu_seconds() - start)


def table(command: str) -> str:
    """What a command prints from the first line of a Markdown table to the last."""
    environment = {**os.environ, "PATH": PATHS}
    done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.split("\n")
    rows = [i for i, line in enumerate(lines) if line.startswith("|")]
    if done.returncode or not rows:
        sys.exit(f"{command}: exit code {done.returncode}, {len(rows)} lines of a table")
    return "\n".join(lines[rows[0] : rows[-1] + 1]) + "\n"


def write(run: str, command: str, output: str, processor: str, seconds: float) -> None:
    flags = cpu("flags").split()
    document = {
        "command": command,
        "processor": processor,
        "target": "AVX-512" if "avx512vl" in flags else "AVX2" if "avx2" in flags else "baseline",
        "date": datetime.date.today().isoformat(),
        "version": importlib.metadata.version("gapcut"),
        "cpu_seconds": round(seconds, 1),
        "output": output,
    }
    (RUNS / f"{run}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print("recorded", run, flush=True)


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def cpu(name: str) -> str:
    """A field of Linux's description of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().split("\n") if info.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "unknown")


if __name__ == "__main__":
    main()

"""Instructions of the headline kernels, counted by valgrind and compared with the counts kept in this folder.

    python benchmarks/instructions.py BUILD_FOLDER [--write]

BUILD_FOLDER holds ``gapcut_counts`` of a release build with ``GAPCUT_TESTS=ON``. Counts belong to one family of
compilers, do not depend on the machine, and may grow by 5 % (exit code 1 beyond). ``--write`` keeps the new counts.
Without valgrind, or counts of this compiler, nothing is compared.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

KEPT = Path(__file__).with_name("instructions.json")
KERNELS = (
    "add_weighted_rows",
    "scores_of",
    "sum_columns",
    "arc_step",
    "label_step",
    "gather_rows",
    "scatter_rows",
    "dot",
    "add_scaled",
    "add_rows",
    "add_products",
    "max_plus",
    "sparse_sums",
    "add_sparse_rows",
    "rows_of_lists",
    "table_sums",
    "message_step",
    "table_step",
    "simplex_step",
    "add_listed_rows",
)
TARGETS = ("baseline", "v3")
"""What valgrind can run."""
SLACK = 1.05
CALLS = 200


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not here: instructions are not counted")
        return
    family, kept = _compiler(options.build), json.loads(KEPT.read_text()) if KEPT.exists() else {}
    program = options.build / "gapcut_counts"
    usable = [
        t for t in TARGETS if subprocess.run([program, t, "dot", "1"], capture_output=True).returncode == 0
    ]
    counts = {f"{t} {k}": _per_call(program, t, k) for t in usable for k in KERNELS}
    if options.write:
        kept[family] = counts
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    if family not in kept:
        print(f"no counts of {family} are kept: nothing to compare")
        return
    slower = [name for name, count in counts.items() if count > SLACK * kept[family].get(name, count)]
    for name, count in counts.items():
        print(f"{name}: {count} (kept {kept[family].get(name, '-')}){' SLOWER' if name in slower else ''}")
    sys.exit(bool(slower))


def _compiler(build: Path) -> str:
    """Family and major version, as "GNU 12"."""
    files = list(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    text = files[0].read_text()
    found = re.search(r'COMPILER_ID "(\w+)"', text), re.search(r'COMPILER_VERSION "(\d+)', text)
    return " ".join(match.group(1) if match else "?" for match in found)


def _per_call(program: Path, target: str, kernel: str) -> int:
    few, many = (_count(program, target, kernel, calls) for calls in (1, 1 + CALLS))
    return round((many - few) / CALLS)


def _count(program: Path, target: str, kernel: str, calls: int) -> int:
    done = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            str(program),
            target,
            kernel,
            str(calls),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found.group(1))


if __name__ == "__main__":
    main()

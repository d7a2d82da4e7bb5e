"""``gapcut label`` on 1.25, 2.5 and 5 million points: CPU seconds a step, peak memory, and how they grow.

``python benchmarks/label_scale.py --model oakland.gapcut --shared ../shared [--sizes 1250000,2500000,5000000]``.
The scans
of Oakland are laid side by side, each copy turned and with 2 mm of noise, until there are enough points; files are LAZ.
Each size is a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from gapcut.datasets import load_oakland
from gapcut.scenes.clouds import PointCloud, write_cloud

SPACING = 320.0
"""Metres between the middles of copies, more than a scan is wide."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--sizes", default="1250000,2500000,5000000")
    parser.add_argument("--format", default="laz")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        documents = []
        for size in sizes:
            source, target = (Path(folder) / f"{name}.{given.format}" for name in ("in", "out"))
            write_cloud(source, town(given.shared, size))
            documents.append(label(source, given.model, target, given.jobs))
            print(json.dumps(documents[-1]), file=sys.stderr, flush=True)
    print(markdown(documents))


def town(shared: Path, size: int) -> PointCloud:
    """So many points, at surveyed coordinates."""
    scans = [c.xyz for part in load_oakland(shared / "data" / "oakland") for c in part]
    rng, parts, have, i = np.random.default_rng(0), [], 0, 0
    side = int(np.ceil(np.sqrt(size / min(len(s) for s in scans)))) + 1
    while have < size:
        xyz = scans[i % len(scans)][: size - have]
        turn = rng.uniform(0, 2 * np.pi)
        c, s = np.cos(turn), np.sin(turn)
        flat = (xyz[:, :2] - xyz[:, :2].mean(axis=0)) @ [[c, s], [-s, c]]
        at = SPACING * np.array([i % side, i // side])
        moved = np.column_stack([flat + at, xyz[:, 2] - xyz[:, 2].min()]) + rng.normal(
            scale=0.002, size=xyz.shape
        )
        parts.append(moved + np.array([500_000.0, 6_000_000.0, 200.0]))
        have, i = have + len(xyz), i + 1
    return PointCloud(np.concatenate(parts), name=f"town of {size:,} points")


def label(source: Path, model: Path, target: Path, jobs: int) -> dict:
    """What ``gapcut label --json`` says, with the CPU seconds of its process."""
    command = [sys.executable, "-c", "import sys; from gapcut.cli import main; sys.exit(main(sys.argv[1:]))"]
    command += [
        "label",
        str(source),
        "--model",
        str(model),
        "--out",
        str(target),
        "--jobs",
        str(jobs),
        "--json",
    ]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return {**json.loads(done.stdout), "cpu_seconds": used}


def markdown(documents: list[dict]) -> str:
    steps = list(documents[0]["steps"])
    rows = [["step, CPU s", *(f"{d['points'] / 1e6:g} M points" for d in documents), "growth"]]
    rows.append(["---"] * len(rows[0]))
    for step in steps:
        seconds = [d["cpu_steps"][step] for d in documents]
        rows.append([step, *(f"{s:.1f}" for s in seconds), f"{seconds[-1] / max(seconds[0], 1e-9):.1f}"])
    for name, key in (
        ("all, wall", "seconds"),
        ("all, CPU", "cpu_seconds"),
        ("peak memory, MB", "peak_memory_mb"),
    ):
        values = [d[key] for d in documents]
        rows.append([name, *(f"{v:,.0f}" for v in values), f"{values[-1] / values[0]:.1f}"])
    for key in ("kept", "segments", "edges"):
        rows.append(
            [key, *(f"{d[key]:,}" for d in documents), f"{documents[-1][key] / documents[0][key]:.1f}"]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


if __name__ == "__main__":
    main()

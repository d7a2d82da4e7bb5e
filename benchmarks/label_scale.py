"""Labelling 1.25, 2.5 and 5 million points: CPU seconds per step, peak memory, and how they grow.

``python benchmarks/label_scale.py --model oakland.gapcut --shared ../shared [--sizes 1250000,2500000,5000000]``: what
``gapcut label`` does, LAZ in and LAZ out, ``--repeats`` times a size; medians are printed. The scans of Oakland are
laid side by side, each copy turned and with 2 mm of noise, until there are enough points. Each size is a process of its
own, so that its peak memory is its own, and labels a small scan first, so that imports and first calls do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gapcut.engines import describe_machine, peak_memory_mb
from gapcut.scenes.clouds import PointCloud, read_cloud, write_cloud
from gapcut.scenes.datasets import load_oakland
from gapcut.scenes.labelling import SceneModel
from gapcut.scenes.labelling.scene import Stopwatch

WARM = 100_000
FRESH = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
"""Arrays of a megabyte or more in fresh memory, as in a process that labels one scan: the C library would give those
below 32 MB memory that an earlier repeat has paid for, and small scans would seem too cheap."""
SPACING = 320.0
"""Metres between the middles of copies, more than a scan is wide."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("GAPCUT_SHARED", "../shared")))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--sizes", default="1250000,2500000,5000000")
    parser.add_argument("--format", default="laz")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--one", type=Path, nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    if given.one:
        print(json.dumps(medians(given.model, *given.one, given.jobs, given.repeats)))
        return
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        source, target, small = (Path(folder) / f"{name}.{given.format}" for name in ("in", "out", "small"))
        write_cloud(small, town(given.shared, WARM))
        documents = []
        for size in sizes:
            write_cloud(source, town(given.shared, size))
            paths = (Path(__file__).resolve(), "--one", source, target, small)
            command = [sys.executable, *map(str, paths)]
            for name in ("model", "jobs", "repeats"):
                command += [f"--{name}", str(getattr(given, name))]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=FRESH)
            documents.append(json.loads(done.stdout))
            print(json.dumps(documents[-1]), file=sys.stderr, flush=True)
    print(markdown(documents))


def medians(model: Path, source: Path, target: Path, small: Path, jobs: int, repeats: int) -> dict:
    """What one size costs: medians over the repeats, peak memory of the first."""
    scenes = SceneModel.load(model)
    label(scenes, small, target, jobs)
    runs = [label(scenes, source, target, jobs) for _ in range(repeats)]
    typical = {s: statistics.median(r["cpu_steps"][s] for r in runs) for s in runs[0]["cpu_steps"]}
    spread = {s: max(r["cpu_steps"][s] for r in runs) for s in typical}
    middle = {key: statistics.median(r[key] for r in runs) for key in ("seconds", "cpu_seconds")}
    return {**runs[0], **middle, "cpu_steps": typical, "largest": spread}


def label(model: SceneModel, source: Path, target: Path, jobs: int) -> dict:
    """Read, label, write, as the command does it."""
    clock, start = Stopwatch(), time.monotonic()
    clock.begin("reading")
    cloud = read_cloud(source)
    clock.begin(None)
    found = model.label(cloud, jobs)
    clock.begin("writing")
    write_cloud(target, found.on(cloud, model.names))
    clock.begin(None)
    steps = {"reading": clock.cpu["reading"], **found.cpu_seconds, "writing": clock.cpu["writing"]}
    return {
        "points": cloud.n_points,
        "kept": found.n_kept,
        "segments": found.n_segments,
        "edges": found.n_edges,
        "cpu_steps": steps,
        "seconds": time.monotonic() - start,
        "cpu_seconds": sum(steps.values()),
        "peak_memory_mb": peak_memory_mb(),
    }


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


def markdown(documents: list[dict]) -> str:
    steps = list(documents[0]["cpu_steps"])
    rows = [["step, CPU s", *(f"{d['points'] / 1e6:g} M points" for d in documents), "growth"]]
    rows.append(["---"] * len(rows[0]))
    for step in steps:
        seconds = [d["cpu_steps"][step] for d in documents]
        rows.append([step, *(f"{s:.2f}" for s in seconds), f"{seconds[-1] / max(seconds[0], 1e-9):.1f}"])
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

"""Scans cut in 16 tiles with halos beside the same scans labelled at once; what tiles cost, and a kill half-way.

``python benchmarks/halos.py --model oakland.gapcut --shared ../shared [--points 3000000]``: the scans of part 3 of
Oakland are labelled at once, and in the smallest square tiles of which no more than 16 hold points, with halos of 5, 10
and 20 m: the share of all points that have the same label. The first of these runs is killed when half of its tiles are
described and begun again: same bytes? Then so many points (copies of the scans side by side) in tiles of a million:
CPU microseconds a point by step and peak memory, beside the same points labelled at once. One process each.
``--large 20000000``: only so many points, in tiles, what was said before and what it took. ``--files``: only the same
scans as folders of 4 x 4 files (side_by_side.py); ``--files-cost``: only what these cost.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import side_by_side
from label_scale import town

from gapcut.certificates import at_most
from gapcut.engines import describe_machine
from gapcut.scenes.clouds import PointCloud, read_cloud, write_cloud
from gapcut.scenes.datasets import load_oakland
from gapcut.scenes.labelling import SceneModel
from gapcut.scenes.tiles.grid import TileGrid

HALOS = (5.0, 10.0, 20.0)
MOST = 16
ENTRY = "import sys; from gapcut.cli import main; sys.exit(main(sys.argv[1:]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("GAPCUT_SHARED", "../shared")))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--points", type=int, default=3_000_000)
    parser.add_argument("--large", type=int)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--files-cost", action="store_true")
    given = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    if given.large:
        with tempfile.TemporaryDirectory() as name:
            print(markdown(large(given.shared, given.large, given.model, Path(name))))
        return
    if given.files_cost:
        with tempfile.TemporaryDirectory() as name:
            print(markdown(side_by_side.costs(town(given.shared, given.points), given.model, Path(name))))
        return
    if given.files:
        in_files(given.shared, given.points, given.model)
        return
    voxel = SceneModel.load(given.model).settings.lengths["voxel"]
    _, scans = load_oakland(given.shared / "data" / "oakland")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [same_labels(scan, voxel, given.model, folder) for scan in scans]
        print(markdown([["scan", "tiles", *(f"halo {halo:g} m" for halo in HALOS), "after a kill"], *lines]))
        print(markdown(costs(town(given.shared, given.points), given.model, folder)))


def in_files(shared: Path, points: int, model: Path) -> None:
    """Scans of part 3, then so many points, as folders."""
    _, scans = load_oakland(shared / "data" / "oakland")
    with tempfile.TemporaryDirectory() as name:
        lines = [line for scan in scans for line in side_by_side.same_labels(scan, model, Path(name))]
        print(markdown([side_by_side.HEAD, *lines]))
        print(markdown(side_by_side.larger_files(town(shared, points), model, Path(name))))


def same_labels(scan: PointCloud, voxel: float, model: Path, folder: Path) -> list[str]:
    """A line of the first table."""
    source = folder / f"{scan.name}.laz"
    write_cloud(source, PointCloud(scan.xyz))
    label(source, folder / "whole.laz", model)
    whole = read_cloud(folder / "whole.laz").labels
    size, tiles = smallest_tiles(scan.local, voxel)
    said = [(scan.name or "").removeprefix("oakland_").replace("_", " "), f"{tiles} of {size:.0f} m"]
    for halo in HALOS:
        target = folder / f"halo-{halo:g}.laz"
        label(source, target, model, size, halo)
        said.append(f"{100 * np.mean(read_cloud(target).labels == whole):.2f} %")
    kept = (folder / f"halo-{HALOS[0]:g}.laz").read_bytes()
    killed(source, folder / "killed.laz", model, size, HALOS[0], tiles // 2)
    label(source, folder / "killed.laz", model, size, HALOS[0])
    return [*said, "same bytes" if (folder / "killed.laz").read_bytes() == kept else "OTHER BYTES"]


def smallest_tiles(local: np.ndarray, voxel: float) -> tuple[float, int]:
    """Edge in metres of the smallest tiles of which at most 16 hold points, and how many do."""
    for voxels in range(1, 100_000):
        grid = TileGrid(voxel, voxels)
        n = len(np.unique(grid.of(local), axis=0))
        if n <= MOST:
            return grid.size, n
    raise ValueError("no size of tiles is large enough")


def command(source: Path, target: Path, model: Path, tile: float | None, halo: float | None) -> list[str]:
    how = [*(["--tile", str(tile)] if tile else []), *(["--halo", str(halo)] if halo else [])]
    asked = ["label", str(source), "--model", str(model), "--out", str(target), *how]
    return [sys.executable, "-c", ENTRY, *asked, "--jobs", "1", "--json"]


def label(
    source: Path, target: Path, model: Path, tile: float | None = None, halo: float | None = None
) -> dict[str, Any]:
    done = subprocess.run(
        command(source, target, model, tile, halo), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def killed(source: Path, target: Path, model: Path, tile: float, halo: float, after: int) -> None:
    """Ended for good, by the signal that cannot be caught, when so many tiles are described."""
    work = subprocess.Popen(
        command(source, target, model, tile, halo), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    scratch = Path(f"{target}.tiles")
    while work.poll() is None and len(list(scratch.glob("described_*.arrays"))) < after:
        time.sleep(0.005)
    work.kill()
    work.wait()
    if not scratch.is_dir():
        sys.exit("the work was done before it could be killed")


def costs(cloud: PointCloud, model: Path, folder: Path) -> list[list[str]]:
    """The second table: by step, in tiles and at once."""
    source = folder / "town.laz"
    write_cloud(source, cloud)
    tiled = label(source, folder / "tiled.laz", model, halo=HALOS[-1])
    whole = label(source, folder / "once.laz", model)
    n = cloud.n_points
    rows = [
        [
            step,
            *(
                f"{1e6 * d['cpu_steps'][step] / n:.2f}" if step in d["cpu_steps"] else ""
                for d in (tiled, whole)
            ),
        ]
        for step in dict.fromkeys([*tiled["cpu_steps"], *whole["cpu_steps"]])
    ]
    rows.append(["all", *(f"{1e6 * sum(d['cpu_steps'].values()) / n:.1f}" for d in (tiled, whole))])
    rows.append(["peak memory, MB", *(f"{d['peak_memory_mb']:,.0f}" for d in (tiled, whole))])
    for count in ("points", "kept", "segments"):
        rows.append([count, *(f"{d[count]:,}" for d in (tiled, whole))])
    how = f"{tiled['tiles']['tiles']} tiles of {tiled['tiles']['size']:.0f} m"
    return [["CPU µs a point", how, "at once"], *rows]


def large(shared: Path, points: int, model: Path, folder: Path) -> list[list[str]]:
    """One line: what a file of so many points was said to need, and what it took."""
    source = folder / "town.laz"
    write_cloud(source, town(shared, points))
    found = label(source, folder / "tiled.laz", model)
    said, steps = found["tiles"], found["cpu_steps"]
    line = {
        "points": f"{found['points']:,}",
        "kept": f"{found['kept']:,}",
        "segments": f"{found['segments']:,}",
        "tiles": f"{said['tiles']} of {said['size']:.0f} m",
        "CPU µs a point": f"{1e6 * sum(steps.values()) / found['points']:.1f}",
        "CPU s (said before)": f"{sum(steps.values()):,.0f} ({said['seconds']:,.0f})",
        "peak memory, MB (said before)": f"{found['peak_memory_mb']:,.0f} ({said['memory_mb']:,.0f})",
        "gap": at_most(found["gap"], 2),
    }
    return [list(line), list(line.values())]


def markdown(lines: list[list[str]]) -> str:
    head, *body = lines
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body]) + "\n"


if __name__ == "__main__":
    main()

"""Scans cut into 4 x 4 files of a folder, labelled as a folder, beside the same scans in one file.

``python benchmarks/halos.py --model oakland.gapcut --files [--points 1000000]`` runs this: the scans of part 3 of
Oakland are cut into 4 x 4 files (those that hold points), and labelled as a folder whose files see each other's points
in halos, as one whose files do not, and in one file: with points told apart by their places, as in such folders, which
is what they are compared with; at once; and at once with the points in another order, which says how much labels move
where nothing but the sample of points that is worked with changes. Then so many points (copies of the scans side by
side) in 4 x 4 files, with halos and without. ``--files-cost`` says what they cost: CPU microseconds a point.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.scenes.clouds import PointCloud, read_cloud, write_cloud
from gapcut.scenes.labelling import SceneModel
from gapcut.scenes.tiles import HALO, Around, Neighbour, ScanFile, TileOptions, label_tiled, look

SIDE = 4
NEAR = 3.0
"""Metres from a seam within which labels are compared on their own."""
WAYS = {"without": ["--no-neighbours"], "with": []}
REPEATS = 3
ENTRY = "import sys; from gapcut.cli import main; sys.exit(main(sys.argv[1:]))"


def same_labels(scan: PointCloud, model: Path, folder: Path) -> list[list[str]]:
    """Lines of the first table: a scan in files, each way of labelling it beside the one in one file."""
    cloud = PointCloud(scan.xyz)
    parts, edges = cut(cloud)
    files, away = [p for p in parts if len(p)], from_seams(cloud.xyz, edges)
    source = folder / f"{scan.name}"
    write_files(cloud, files, source)
    ways = {
        "one file, points by place": by_place(cloud, model, folder / f"{scan.name}-place"),
        "a folder, with halos": as_folder(source, folder / f"{scan.name}-with", model, files, [])[0],
        "a folder, without": as_folder(
            source, folder / f"{scan.name}-off", model, files, ["--no-neighbours"]
        )[0],
        "one file, at once": (at_once := SceneModel.load(model)).label(cloud).labels,
    }
    order = np.random.default_rng(0).permutation(cloud.n_points)
    other = np.empty(cloud.n_points, dtype=np.int64)
    other[order] = at_once.label(PointCloud(cloud.xyz[order])).labels
    ways["one file, at once, in another order"] = other
    known, numbers = scan.labels >= 0, {name: k for k, name in at_once.names.items()}
    truth = np.array([numbers.get(scan.name_of(v), -1) for v in range(int(scan.labels.max()) + 1)])
    truth = np.where(known, truth[np.maximum(scan.labels, 0)], -1)
    whole, size = ways["one file, points by place"], np.diff(edges, axis=1)[:, 0]
    head = (scan.name or "").removeprefix("oakland_").replace("_", " ")
    lines = []
    for way, labels in ways.items():
        same = labels == (ways["one file, at once"] if "order" in way else whole)
        lines.append(
            [
                f"{head}: {len(files)} files of {size[0]:.0f} x {size[1]:.0f} m",
                way,
                f"{100 * same.mean():.2f} %",
                f"{100 * (1 - same[away < NEAR].mean()):.2f} %",
                f"{100 * (labels == truth)[truth >= 0].mean():.2f} %",
            ]
        )
    return lines


HEAD = ["scan", "labelled in", "same labels", f"changed within {NEAR:g} m of a seam", "right"]


def larger_files(cloud: PointCloud, model: Path, folder: Path) -> list[list[str]]:
    """The second table: files of a larger scan, with halos and without."""
    parts, edges = cut(cloud)
    files, away = [p for p in parts if len(p)], from_seams(cloud.xyz, edges)
    write_files(cloud, files, folder / "town")
    whole = by_place(cloud, model, folder / "town-place")
    n, size = cloud.n_points, np.diff(edges, axis=1)[:, 0]
    table = [["files", "halos", "points seen in halos", "peak memory, MB", *HEAD[2:4]]]
    for name, how in WAYS.items():
        labels, found, _, peak = as_folder(folder / "town", folder / f"town-{name}", model, files, how)
        seen = sum(d.get("neighbours", {}).get("points", 0) for d in found["scans"])
        same = labels == whole
        table.append(
            [
                f"{n:,} points in {len(files)} of {size[0]:.0f} x {size[1]:.0f} m",
                name,
                f"{100 * seen / n:.1f} %",
                f"{peak:,.0f}",
                f"{100 * same.mean():.2f} %",
                f"{100 * (1 - same[away < NEAR].mean()):.2f} %",
            ]
        )
    return table


def costs(cloud: PointCloud, model: Path, folder: Path) -> list[list[str]]:
    """CPU microseconds a point of a folder with halos and without, in turn: the least of three runs of each."""
    files = [p for p in cut(cloud)[0] if len(p)]
    write_files(cloud, files, folder / "town")
    spent = dict.fromkeys(WAYS, np.inf)
    steps = np.inf
    for turn in range(REPEATS):
        for name, how in WAYS.items():
            _, found, seconds, _ = as_folder(
                folder / "town", folder / f"town-{name}-{turn}", model, files, how
            )
            spent[name] = min(spent[name], seconds)
            if how:
                steps = min(steps, sum(sum(d["cpu_steps"].values()) for d in found["scans"]))
    start = spent["without"] - steps  # what is no point's, and the same with halos
    body = [[name, f"{1e6 * (seconds - start) / cloud.n_points:.1f}"] for name, seconds in spent.items()]
    return [["halos", "CPU µs a point"], *body]


def cut(cloud: PointCloud) -> tuple[list[np.ndarray], np.ndarray]:
    """Rows of the points in each of 4 x 4 rectangles; (2, 5) where they end along x and y."""
    low, high = cloud.xyz[:, :2].min(axis=0), cloud.xyz[:, :2].max(axis=0)
    edges = np.linspace(low, high, SIDE + 1).T
    place = [np.searchsorted(edges[a][1:-1], cloud.xyz[:, a], side="right") for a in (0, 1)]
    number = place[0] * SIDE + place[1]
    return [np.flatnonzero(number == k) for k in range(SIDE**2)], edges


def from_seams(xyz: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(N,) metres to the nearest line between files."""
    return np.min([np.abs(xyz[:, a] - e) for a in (0, 1) for e in edges[a][1:-1]], axis=0)


def write_files(cloud: PointCloud, parts: list[np.ndarray], folder: Path) -> None:
    folder.mkdir()
    for i, rows in enumerate(parts):
        write_cloud(folder / f"{i:02}.laz", cloud.select(rows))


def as_folder(
    source: Path, target: Path, model: Path, parts: list[np.ndarray], how: list[str]
) -> tuple[np.ndarray, dict[str, Any], float, float]:
    """Labels by point; what the command says; its CPU seconds; the most memory that any scan says."""
    halo = HALO * SceneModel.load(model).settings.lengths["voxel"]
    asked = ["label", str(source), "--model", str(model), "--out", str(target), "--halo", str(halo), *how]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", ENTRY, *asked, "--jobs", "1", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    labels = np.full(sum(map(len, parts)), -1)
    for i, rows in enumerate(parts):
        labels[rows] = read_cloud(target / f"{i:02}.laz").labels
    return labels, found, spent, max(d["peak_memory_mb"] for d in found["scans"])


def by_place(cloud: PointCloud, model: Path, folder: Path) -> np.ndarray:
    """Labels of one file that is labelled as one of a folder whose other files hold nothing near it."""
    folder.mkdir()
    write_cloud(folder / "whole.laz", cloud)
    scan = ScanFile(folder / "whole.laz")
    own = Neighbour(scan, look(scan))
    halo = HALO * SceneModel.load(model).settings.lengths["voxel"]
    shift = cloud.shift
    around = Around(own, (), halo, (float(shift[0]), float(shift[1]), float(shift[2])), folder)
    label_tiled(folder / "out.laz", scan, model, TileOptions(halo=halo), around=around)
    return np.asarray(read_cloud(folder / "out.laz").labels)

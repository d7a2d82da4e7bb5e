"""Do other programs read what we write? One row a file and reader: coordinates to 1 mm, labels, segments, colours.

``python benchmarks/read_elsewhere.py [--python ENVIRONMENT/bin/python] [--scan LABELLED.ply ...]``: the readers (laspy,
trimesh, open3d) may live in another environment, which needs numpy and not gapcut. Made-up points at surveyed
coordinates (x = 500,000, y = 6,000,000), and the ``--scan`` files, are written in each form and read there; what is not
installed is left out with a note. Ends with an error if anything read differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = ("labels", "segments", "confidence", "colour")
FORMS = ("ascii", "binary_little_endian", "binary_big_endian")
MOST_MM = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="of the environment with the readers")
    parser.add_argument(
        "--scan", type=Path, action="append", default=[], help="a labelled scan to try as well"
    )
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        print(json.dumps(read_all(given.read)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_all(folder, given.scan)
        outside = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        command = [given.python, str(Path(__file__).resolve()), "--read", name]
        done = subprocess.run(command, capture_output=True, text=True, env=outside)
    if done.returncode:
        sys.exit(done.stderr)
    rows = json.loads(done.stdout.splitlines()[-1])
    print(markdown(rows))
    if any(row["failed"] for row in rows):
        sys.exit("something was read differently")


def write_all(folder: Path, scans: list[Path]) -> None:
    """Files in every form, and beside each what should be read from it."""
    from functools import partial

    from gapcut.scenes.clouds import ply, read_cloud, write_cloud
    from gapcut.scenes.clouds.files import write_with
    from gapcut.scenes.clouds.table import to_table

    for name, cloud in [("made-up", made_up()), *((path.stem, read_cloud(path)) for path in scans)]:
        known = {"xyz": cloud.xyz, "labels": cloud.labels, "segments": cloud.segments, "colour": cloud.colour}
        known["confidence"] = cloud.extra.get("confidence")
        paths = {form: folder / f"{name}-{form}.ply" for form in FORMS}
        for form, path in paths.items():
            write_with(partial(ply.write, table=to_table(cloud), form=form), path)
        others = [folder / f"{name}.{ending}" for ending in ("las", "laz")]
        for path in others:
            write_cloud(path, cloud)
        for path in [*paths.values(), *others]:
            np.savez(f"{path}.npz", **{k: v for k, v in known.items() if v is not None})


def made_up(n: int = 20_000) -> Any:
    from gapcut.scenes.clouds import PointCloud

    rng = np.random.default_rng(0)
    return PointCloud(
        rng.uniform(-400, 400, (n, 3)) + np.array([500_000.0, 6_000_000.0, 400.0]),
        labels=rng.integers(-1, 7, n),
        label_names=dict(enumerate(("ground", "vegetation", "facade", "wire", "pole", "vehicle", "others"))),
        segments=rng.integers(0, 900, n),
        colour=rng.integers(0, 256, (n, 3)),
        extra={"confidence": rng.uniform(size=n).astype(np.float32)},
    )


def read_all(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for path in sorted([*folder.glob("*.ply"), *folder.glob("*.las"), *folder.glob("*.laz")]):
        known = dict(np.load(f"{path}.npz"))
        for reader, read in READERS[path.suffix].items():
            row: dict[str, Any] = {"file": path.name, "reader": reader, "failed": False}
            try:
                row |= compare(read(path), known)
            except ImportError as error:
                row["note"] = f"left out: {error}"
            rows.append(row)
    return rows


def compare(found: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Largest deviation of a coordinate in mm, and for each column whether it is the same (None: reader has none)."""
    version, xyz = found.pop("version"), np.asarray(found.pop("xyz"))
    same_number = xyz.shape == known["xyz"].shape
    off = float(np.abs(xyz.astype(np.float64) - known["xyz"]).max() * 1000) if same_number else float("inf")
    equal = {
        c: bool(np.array_equal(np.squeeze(np.asarray(found[c])), known[c])) if c in found else None
        for c in COLUMNS
        if c in known
    }
    failed = off > MOST_MM or False in equal.values()
    return {"version": version, "points": len(xyz), "off_mm": off, "equal": equal, "failed": failed}


def with_laspy(path: Path) -> dict[str, Any]:
    import laspy

    las = laspy.read(path)
    dimensions = list(las.point_format.extra_dimension_names)
    found = {"version": laspy.__version__, "xyz": las.xyz}
    found |= {c: las[n] for c, n in NAMES.items() if n in dimensions}
    if "red" in las.point_format.dimension_names:
        found["colour"] = np.column_stack([las.red, las.green, las.blue]) // 257
    return found


def with_trimesh(path: Path) -> dict[str, Any]:
    import trimesh

    cloud = trimesh.load(path, process=False)
    found = {"version": trimesh.__version__, "xyz": cloud.vertices}
    if len(cloud.colors):
        found["colour"] = cloud.colors[:, :3]
    data = cloud.metadata["_ply_raw"]["vertex"]["data"]
    names = data.dtype.names if isinstance(data, np.ndarray) else data
    return found | {c: data[n] for c, n in NAMES.items() if n in names}


def with_open3d(path: Path) -> dict[str, Any]:
    """The classic reader: places and colours alone."""
    import open3d

    cloud = open3d.io.read_point_cloud(str(path))
    found = {"version": open3d.__version__, "xyz": np.asarray(cloud.points)}
    if cloud.has_colors():
        found["colour"] = np.rint(np.asarray(cloud.colors) * 255).astype(np.int64)
    return found


def with_open3d_tensors(path: Path) -> dict[str, Any]:
    import open3d

    cloud = open3d.t.io.read_point_cloud(str(path))
    found = {"version": open3d.__version__, "xyz": cloud.point.positions.numpy()}
    if "colors" in cloud.point:
        found["colour"] = cloud.point.colors.numpy()
    return found | {c: cloud.point[n].numpy() for c, n in NAMES.items() if n in cloud.point}


NAMES = {"labels": "label", "segments": "segment", "confidence": "confidence"}
PLY_READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "trimesh": with_trimesh,
    "open3d.io": with_open3d,
    "open3d.t.io": with_open3d_tensors,
}
READERS = {".ply": PLY_READERS, ".las": {"laspy": with_laspy}, ".laz": {"laspy": with_laspy}}


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = [["file", "reader", "points", "coordinates off by", *COLUMNS], ["---"] * (4 + len(COLUMNS))]
    for row in rows:
        if "note" in row:
            lines.append([row["file"], row["reader"], row["note"], *[""] * (1 + len(COLUMNS))])
            continue
        said = [{True: "same", False: "DIFFERENT", None: "not read"}[row["equal"][c]] if c in row["equal"] else "-"
                for c in COLUMNS]  # fmt: skip
        reader = f"{row['reader']} {row['version']}"
        lines.append([row["file"], reader, f"{row['points']:,}", f"{row['off_mm']:.4f} mm", *said])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()

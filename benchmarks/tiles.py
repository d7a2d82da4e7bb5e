"""Tiles of three surveys through ``gapcut label``, and their outputs as laspy reads them.

``python benchmarks/tiles.py --model MODEL [--shared ../shared]``: every LAS or LAZ tile of ``data/lidar``, and the
points of ``superpoint_nag.h5`` (level 0, as PLY), are labelled with a model of ``gapcut scenes train`` that wants no
colour or intensity. For each: points, segments, inference, seconds, and what is wrong with the output: coordinates off
by more than 1 mm, another order, an attribute that changed, a label that is none of the model's, a missing dimension.
Ends with an error if anything is. The hierarchy of the superpoints is read as a graph and learned as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import laspy
import numpy as np

from gapcut import StructuredSVM
from gapcut.certificates import at_most
from gapcut.engines import describe_machine
from gapcut.scenes.clouds import read_cloud, read_superpoint_cloud, read_superpoint_graph, write_cloud
from gapcut.scenes.labelling import SceneModel

ADDED = ("label", "segment", "confidence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("GAPCUT_SHARED", "../shared")))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="folder for the labelled tiles")
    given = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    lidar = given.shared / "data" / "lidar"
    numbers = SceneModel.load(given.model).numbers
    with tempfile.TemporaryDirectory() as name:
        sources = [p for p in sorted(lidar.iterdir()) if p.suffix.lower() in (".las", ".laz")]
        sources.append(Path(name) / "superpoint_nag.ply")
        write_cloud(sources[-1], read_superpoint_cloud(lidar / "superpoint_nag.h5"))
        folder = given.keep or Path(name) / "out"
        folder.mkdir(exist_ok=True)
        rows = [row(source, folder / source.name, given.model, numbers) for source in sources]
    print(markdown(rows))
    superpoints(lidar / "superpoint_nag.h5")
    if any(r["wrong"] for r in rows):
        sys.exit("an output is not what it should be")


def row(source: Path, target: Path, model: Path, numbers: tuple[int, ...]) -> dict[str, Any]:
    entry = "import sys; from gapcut.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["label", str(source), "--model", str(model), "--out", str(target), "--json"]
    done = subprocess.run([sys.executable, "-c", entry, *arguments], capture_output=True, text=True)
    if done.returncode:
        return {"file": source.name, "wrong": [done.stderr.strip()]}
    check = las_faults if target.suffix in (".las", ".laz") else faults
    return {"file": source.name, **json.loads(done.stdout), "wrong": check(source, target, numbers)}


def las_faults(source: Path, target: Path, numbers: tuple[int, ...]) -> list[str]:
    """What laspy finds wrong with a labelled tile."""
    before, after = laspy.read(source), laspy.read(target)
    if len(before) != len(after):
        return [f"{len(after)} of {len(before)} points"]
    wrong = []
    there = set(after.point_format.dimension_names)
    had = set(before.point_format.dimension_names) - {"classification"}
    wrong += [f"no {name}" for name in (*ADDED, *sorted(had)) if name not in there]
    wrong += [f"{n} changed" for n in sorted(had & there) if not np.array_equal(before[n], after[n])]
    if "truth" in there and not np.array_equal(after["truth"] < 0, before.classification == 0):
        wrong.append("labels it had")
    return wrong + label_faults(np.asarray(after["label"]), np.asarray(after["confidence"]), numbers)


def faults(source: Path, target: Path, numbers: tuple[int, ...]) -> list[str]:
    before, after = read_cloud(source), read_cloud(target)
    wrong = [] if np.abs(before.xyz - after.xyz).max() <= 1e-3 else ["places or order"]
    assert after.labels is not None
    return wrong + label_faults(after.labels, after.extra["confidence"], numbers)


def label_faults(labels: np.ndarray, confidence: np.ndarray, numbers: tuple[int, ...]) -> list[str]:
    wrong = [] if np.isin(labels, numbers).all() else ["a label that is none of the model's"]
    return wrong if ((confidence > 0) & (confidence <= 1)).all() else [*wrong, "confidence"]


def superpoints(path: Path) -> None:
    """Each level of the hierarchy as a graph, learned to a certificate on its own labels."""
    for level in (1, 2):
        graph = read_superpoint_graph(path, level)
        svm = StructuredSVM(C=1.0, gap=0.02, time_limit=60).fit([graph])
        right = np.asarray(svm.predict([graph])[0])[graph.labelled] == graph.labels[graph.labelled]
        print(
            f"superpoints, level {level}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, "
            f"{int(graph.labelled.sum()):,} labelled, {graph.node_dim} and {graph.edge_dim} features; "
            f"learned: {svm.certificate_.status}, gap {svm.certificate_.shown_gap()}, "
            f"{100 * right.mean():.1f} % of its own labels"
        )


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = [["tile", "points", "kept", "segments", "edges", "inference", "seconds", "MB", "wrong"]]
    lines.append(["---"] * len(lines[0]))
    for r in rows:
        if "points" not in r:
            lines.append([r["file"], *[""] * 7, "; ".join(r["wrong"])])
            continue
        counts = [f"{r[key]:,}" for key in ("points", "kept", "segments", "edges")]
        proof = f"{r['status']}, gap {at_most(r['gap'], 2)}"
        costs = [f"{r['seconds']:.1f}", f"{r['peak_memory_mb']:,.0f}"]
        lines.append([r["file"], *counts, proof, *costs, "; ".join(r["wrong"]) or "nothing"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()

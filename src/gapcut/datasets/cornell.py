"""Indoor scenes (Koppula et al. 2011, Anand et al. 2012): labelled segments of RGB-D scans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gapcut.data import Graph, GraphFileError, GraphSet
from gapcut.datasets.files import Root, file_of
from gapcut.typing import AnyArray, FloatArray, IntArray

EDGE_FEATURES = ("HDiffAbs", "SDiff", "VDiff", "centroid_z_diff", "AngleDiff")
NODE_FEATURES = (
    *(f"H_hist{i}" for i in range(6)),
    *("S_hist0", "S_hist1", "V_hist0", "V_hist1", "HAvg", "SAvg", "VAvg"),
    *("horizontalExtent", "zExtent", "centroid_z", "normal_z", "linearness", "planarness", "scatter"),
    *(f"HOG{i}" for i in range(31)),
    "distance_from_wall",
)
_STUMP_ROWS = (0, 1, 2, 6, 8)  # of EDGE_FEATURES among the eleven of Anand et al.
_KEYS = ("Scene_number", "Segment_number", "Segment_label")


def load_cornell(
    root: Root, place: str, edges: str = "complete", k: int = 6, *, stumps: bool = False
) -> GraphSet:
    """The ``"office"`` or ``"home"`` scenes as graphs, named by scene number, labels 1..17.

    Reads ``<place>_data_nodefeats.txt`` and ``<place>_labelmap.txt``; segments whose raw label has no class are
    dropped. Nodes have the 52 published features. Five edge features follow from node rows: HDiffAbs ``|H_u - H_v|``,
    SDiff, VDiff and centroid_z_diff (u minus v), AngleDiff ``acos(normal_z_u) - acos(normal_z_v)``.

    Each pair is one edge, from the higher segment to the lower. ``edges="complete"`` joins all pairs of a
    scene. ``"knn"`` joins a pair if one is among the ``k`` nearest of the other; of the positions only height
    (centroid_z) and distance from the wall are published, so that is the plane in which distance is measured.

    ``stumps``: every feature becomes ten of 0 and 1, whether it is at most the thresholds of Anand et al. in
    ``<place>_binStumpsN.txt`` (not published for the homes) and ``<place>_binStumpsE.txt``.
    """
    if place not in ("office", "home"):
        raise ValueError(f"place must be 'office' or 'home', not {place!r}")
    if edges not in ("complete", "knn"):
        raise ValueError(f"edges must be 'complete' or 'knn', not {edges!r}")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    table = _read_table(file_of(root, f"{place}_data_nodefeats.txt"))
    classes = _read_map(file_of(root, f"{place}_labelmap.txt"))
    table = table[np.isin(table[:, 2], list(classes))]
    scenes = []
    for scene in np.unique(table[:, 0]):
        rows = table[table[:, 0] == scene]
        features, labels = rows[:, 3:], [classes[int(raw)] for raw in rows[:, 2]]
        column = {name: features[:, i] for i, name in enumerate(NODE_FEATURES)}
        pairs = _pairs(column, None if edges == "complete" else k)
        scenes.append(Graph(features, pairs, _edge_features(column, pairs), labels, name=f"{scene:.0f}"))
    if stumps:
        return _as_stumps(scenes, root, place)
    return GraphSet(scenes, node_feature_names=NODE_FEATURES, edge_feature_names=EDGE_FEATURES)


def cornell_classes(root: Root, place: str) -> dict[int, str]:
    """Names of the classes, from ``<place>_labelmap.txt`` and ``labels.txt``; raw labels of one class joined by "/"."""
    names = file_of(root, "labels.txt").read_text().splitlines()
    out: dict[int, str] = {}
    for raw, label in sorted(_read_map(file_of(root, f"{place}_labelmap.txt")).items()):
        out[label] = f"{out[label]}/{names[raw - 1]}" if label in out else names[raw - 1]
    return dict(sorted(out.items()))


def cornell_objects(root: Root, place: str) -> list[tuple[int, ...]]:
    """The classes that are parts of one object, object by object: ``<place>_objectMap.txt``."""
    path = file_of(root, f"{place}_objectMap.txt")
    try:
        return [tuple(int(word) for word in line.split()) for line in path.read_text().splitlines()]
    except ValueError:
        raise GraphFileError(f"{path}: every line must be classes, whole numbers") from None


def _as_stumps(scenes: list[Graph], root: Root, place: str) -> GraphSet:
    nodes = _thresholds(file_of(root, f"{place}_binStumpsN.txt"), len(NODE_FEATURES))
    edges = _thresholds(file_of(root, f"{place}_binStumpsE.txt"), max(_STUMP_ROWS) + 1)[list(_STUMP_ROWS)]
    return GraphSet(
        (
            g.replace(
                node_features=_at_most(np.asarray(g.node_features), nodes),
                edge_features=_at_most(g.edge_features, edges),
            )
            for g in scenes
        ),
        node_feature_names=_stump_names(NODE_FEATURES, nodes),
        edge_feature_names=_stump_names(EDGE_FEATURES, edges),
    )


def _at_most(features: AnyArray, thresholds: FloatArray) -> FloatArray:
    """(rows, 10 F) of 0 and 1, all thresholds of a feature beside each other."""
    return (features[:, :, None] <= thresholds).reshape(len(features), -1).astype(np.float64)


def _stump_names(names: Sequence[str], thresholds: FloatArray) -> list[str]:
    return [f"{name} <= {t:g}" for name, row in zip(names, thresholds, strict=True) for t in row]


def _thresholds(path: Path, rows: int) -> FloatArray:
    """(rows or more, 10) thresholds, a feature a row."""
    try:
        table = np.loadtxt(path, ndmin=2)
    except ValueError:
        raise GraphFileError(f"{path}: every line must be ten thresholds") from None
    if table.shape[0] < rows or table.shape[1] != 10:
        raise GraphFileError(f"{path}: {rows} lines of ten thresholds are needed, not {table.shape}")
    return np.asarray(table, dtype=np.float64)


def _pairs(column: dict[str, FloatArray], k: int | None) -> IntArray:
    """(E, 2) pairs of segments, the higher one first (at equal height the earlier row)."""
    height, wall = column["centroid_z"], column["distance_from_wall"]
    count = len(height)
    first, second = np.triu_indices(count, 1)
    if k is not None and k < count - 1:
        distance = np.hypot(height[:, None] - height, wall[:, None] - wall)
        np.fill_diagonal(distance, np.inf)
        near = np.zeros((count, count), dtype=bool)
        np.put_along_axis(near, np.argsort(distance, axis=1, kind="stable")[:, :k], True, axis=1)
        joined = (near | near.T)[first, second]
        first, second = first[joined], second[joined]
    swap = height[first] < height[second]
    return np.stack([np.where(swap, second, first), np.where(swap, first, second)], axis=1)


def _edge_features(column: dict[str, FloatArray], pairs: IntArray) -> FloatArray:
    def difference(values: FloatArray) -> FloatArray:
        return values[pairs[:, 0]] - values[pairs[:, 1]]

    angle = np.arccos(np.clip(column["normal_z"], -1.0, 1.0))
    signed = [difference(column[name]) for name in ("HAvg", "SAvg", "VAvg", "centroid_z")]
    return np.stack([np.abs(signed[0]), *signed[1:], difference(angle)], axis=1)


def _read_table(path: Path) -> FloatArray:
    """(rows, 3 + 52) numbers: scene, segment, raw label, features."""
    lines = path.read_text().splitlines()
    if not lines or lines[0].strip() != "@DATA":
        raise GraphFileError(f"{path}: the first line must be @DATA")
    names = [line[1:].strip() for line in lines[1:] if line.startswith("#")]
    expected = (*_KEYS, *NODE_FEATURES)
    # one of the two files writes "HAvg0" for "HAvg"
    wrong = [i for i, name in enumerate(expected) if i >= len(names) or names[i] not in (name, f"{name}0")]
    if wrong or len(names) != len(expected):
        which = (
            f"column {wrong[0] + 1} must be {expected[wrong[0]]}" if wrong else "there are too many columns"
        )
        raise GraphFileError(f"{path}: {which}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("#") or not line.strip():
            continue
        try:
            values = [float(word) for word in line.split()]
        except ValueError:
            raise GraphFileError(f"{path}: line {number} holds something that is not a number") from None
        if len(values) != len(names):
            raise GraphFileError(
                f"{path}: line {number} has {len(values)} columns, but {len(names)} are named"
            )
        rows.append(values)
    if not rows:
        raise GraphFileError(f"{path}: no rows")
    return np.array(rows)


def _read_map(path: Path) -> dict[int, int]:
    """Class of each raw label."""
    try:
        pairs = [
            (int(raw), int(label)) for raw, label in (line.split() for line in path.read_text().splitlines())
        ]
    except ValueError:
        raise GraphFileError(
            f"{path}: every line must be a raw label and a class, both whole numbers"
        ) from None
    return dict(pairs)

"""
A street scan
=============

Points of a generated street: ground, a wall, poles, wires and bushes. What lies around a point (flat, in a line, in all
directions) and its height make its features; edges lead from the lower to the higher point. Real scans are labelled by
segments and need no code: ``gapcut scenes train`` and ``gapcut label``.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree

from gapcut import Graph, GraphSet, StructuredSVM
from gapcut.graphs import knn_graph

COLOURS = {"ground": "#b8a48a", "wall": "#999999", "pole": "#0072b2", "wire": "#d55e00", "bush": "#009e73"}


def street(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(V, 3) points of 24 m of a street, and their labels."""
    rng = np.random.default_rng(seed)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in COLOURS}

    def area(n: int, *sides: float) -> np.ndarray:
        return rng.random((n, len(sides))) * sides

    ground, wall = area(900, 24, 12), area(500, 24, 6)
    parts["ground"].append(np.column_stack([ground, np.zeros(len(ground))]))
    parts["wall"].append(np.column_stack([wall[:, 0], np.full(len(wall), 12.0), wall[:, 1]]))
    poles = np.arange(3, 24, 6) + rng.uniform(-1, 1, 4)
    for x in poles:
        height = rng.uniform(0.2, 7, 45)
        parts["pole"].append(np.column_stack([np.full(45, x), np.full(45, 2.0), height]))
    for a, b in itertools.pairwise(poles):
        t = rng.uniform(0, 1, 50)
        parts["wire"].append(
            np.column_stack([a + (b - a) * t, np.full(50, 2.0), 6.8 - 0.4 * np.sin(np.pi * t)])
        )
    for _ in range(4):
        parts["bush"].append(
            rng.uniform((1, 4, 0.8), (23, 11, 0.9)) + rng.normal(size=(60, 3)) * (0.6, 0.6, 0.3)
        )
    labels = np.repeat(list(parts), [sum(map(len, part)) for part in parts.values()])
    points = np.concatenate([piece for part in parts.values() for piece in part])
    return points + 0.05 * rng.normal(size=points.shape), labels


def shape(points: np.ndarray, near: int) -> np.ndarray:
    """(V, 4) how linear, flat and scattered the nearest points lie, and how upright the normal is."""
    around = points[cKDTree(points).query(points, near)[1]]
    spread, axes = np.linalg.eigh(
        np.einsum("vni,vnj->vij", *[around - around.mean(axis=1, keepdims=True)] * 2)
    )
    small, middle, large = np.sqrt(np.maximum(spread, 1e-9)).T
    return np.column_stack(
        [(large - middle) / large, (middle - small) / large, small / large, abs(axes[:, 2, 0])]
    )


def scan(seed: int) -> tuple[Graph, np.ndarray]:
    points, labels = street(seed)
    graph = knn_graph(
        points, 6, node_features=np.column_stack([shape(points, 8), points[:, 2]]), labels=labels
    )
    step = points[graph.edges[:, 1]] - points[graph.edges[:, 0]]
    upward = np.where(step[:, 2:] < 0, graph.edges[:, ::-1], graph.edges)
    distance = np.linalg.norm(step, axis=1)
    relations = np.column_stack([np.exp(-distance), abs(step[:, 2]) / distance])
    return graph.replace(edges=upward, edge_features=relations, name=f"street {seed}"), points


# %%
# Four streets to learn from, two others to test.

scans = [scan(seed) for seed in range(6)]
train, test = (GraphSet(graph for graph, _ in part) for part in (scans[:4], scans[4:]))
bare_train, bare_test = (
    GraphSet(g.replace(edges=None, edge_features=None) for g in part) for part in (train, test)
)
unary = StructuredSVM(C=10.0).fit(bare_train)
pairwise = StructuredSVM(C=10.0).fit(train)
scores = (unary.score(bare_test), pairwise.score(test))
print(f"each point alone {scores[0]:.1%}, with neighbours {scores[1]:.1%} right")

# %%
# A street that no model has seen, from the side of the poles.

figure, axes = plt.subplots(3, 1, figsize=(10, 9), layout="constrained")
shown, points = scans[4]
views = (
    ("reference", shown.labels),
    (f"each point alone: {scores[0]:.1%}", unary.predict(bare_test[:1])[0]),
    (f"with neighbours: {scores[1]:.1%}", pairwise.predict(test[:1])[0]),
)
x, y = points[:, 0] + 0.35 * points[:, 1], points[:, 2] + 0.25 * points[:, 1]
for axis, (title, labels) in zip(axes, views, strict=True):
    for kind, colour in COLOURS.items():
        axis.scatter(x[labels == kind], y[labels == kind], s=5, color=colour, label=kind)
    axis.set(title=title, aspect="equal")
    axis.set_axis_off()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, markerscale=3)
plt.show()

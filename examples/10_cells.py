"""
Cells of a tissue
=================

Cells of a generated tissue are points with noisy markers. Nests of tumour lie in stroma, lymphocytes gather at their
rims. Every cell is linked to its six nearest ones, and how far these are says how much they should agree.
"""

import matplotlib.pyplot as plt
import numpy as np

from gapcut import GraphSet, StructuredSVM
from gapcut.graphs import knn_graph

KINDS = ("stroma", "tumour", "lymphocyte")
COLOURS = ("#bbbbbb", "#d55e00", "#0072b2")


def tissue(seed: int, cells: int = 700):
    """The graph of one piece of tissue, and where its cells are."""
    rng = np.random.default_rng(seed)
    place = rng.random((cells, 2))
    centres, radii = rng.random((5, 2)), rng.uniform(0.08, 0.2, 5)
    rim = (np.linalg.norm(place[:, None] - centres, axis=-1) - radii).min(axis=1)
    kind = np.where(rim < 0, 1, np.where((rim < 0.04) & (rng.random(cells) < 0.8), 2, 0))
    markers = np.eye(3)[kind] + 0.75 * rng.normal(size=(cells, 3))
    labels = np.array(KINDS)[kind]
    graph = knn_graph(place, 6, node_features=markers, labels=labels, name=f"tissue {seed}")
    near = np.exp(-graph.edge_features[:, 0] / 0.03)  # of the same kind, the more so the nearer
    return graph.with_features(edge_features=near[:, None]), place


# %%
# Four pieces to learn from, two others to test.

pieces = [tissue(seed) for seed in range(6)]
train, test = (GraphSet(graph for graph, _ in part) for part in (pieces[:4], pieces[4:]))
bare_train, bare_test = (
    GraphSet(g.replace(edges=None, edge_features=None) for g in part) for part in (train, test)
)
unary = StructuredSVM(C=10.0).fit(bare_train)
pairwise = StructuredSVM(C=10.0, incidence=False).fit(train)
scores = (unary.score(bare_test), pairwise.score(test))
print(f"each cell alone {scores[0]:.1%}, with neighbours {scores[1]:.1%} right")

# %%
# A piece that no model has seen.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
shown, place = pieces[4]
columns = (
    ("reference", shown.labels),
    (f"each cell alone: {scores[0]:.1%}", unary.predict(bare_test[:1])[0]),
    (f"with neighbours: {scores[1]:.1%}", pairwise.predict(test[:1])[0]),
)
for axis, (title, labels) in zip(axes, columns, strict=True):
    for kind, colour in zip(KINDS, COLOURS, strict=True):
        axis.scatter(*place[labels == kind].T, s=14, color=colour, label=kind)
    axis.set(title=title, aspect="equal")
    axis.set_axis_off()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

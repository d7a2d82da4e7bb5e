"""
Parts of bridges
================

Which part of a bridge is a column, a girder, a bearing? A part is known here by its box alone: length, width, height
and how high it lies, measured with large errors; relations are ratios of these sizes and the common box, with errors of
its own. Boxes that touch are neighbours, and edges lead from the lower to the higher part, since a bearing lies on a
pier cap and not the other way round. (``gapcut demo`` labels scans of bridges.)
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from gapcut import Graph, GraphSet, StructuredSVM
from gapcut.scenes.bridges import Bridge, make_bridge
from gapcut.scenes.bridges.colours import COLOURS

KINDS = ("abutment", "deck", "column", "pier cap", "girder", "cross beam", "bearing", "railing", "footing")
PAINT = {kind: tuple(c / 255 for c in COLOURS[kind]) for kind in KINDS}


def boxes(bridge: Bridge) -> np.ndarray:
    """(V, 2, 3) lower and upper corner of every part."""
    return np.array([part.mesh.bounds for part in bridge.parts])


def parts_of(bridge: Bridge) -> Graph:
    """The graph of the parts of a bridge."""
    rng = np.random.default_rng(len(bridge.parts))
    box = boxes(bridge)
    low, high = box[:, 0] - 0.15, box[:, 1] + 0.15
    touch = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=-1)
    size, middle = box[:, 1] - box[:, 0], box.mean(axis=1)
    u, v = np.nonzero(touch & (middle[:, None, 2] < middle[None, :, 2]))
    top, seen = box[:, 1, 2].max(), np.log(size + 0.05) + 1.0 * rng.normal(size=size.shape)
    nodes = np.column_stack([seen, (middle[:, 2] - top) / 5 + 0.6 * rng.normal(size=len(box))])
    shared = np.minimum(box[u, 1], box[v, 1]) - np.maximum(box[u, 0], box[v, 0])
    contact = shared.clip(-0.5, 3) + 0.5 * rng.normal(size=shared.shape)
    relations = np.column_stack([contact, seen[v] - seen[u]])
    return Graph(
        nodes, np.column_stack([u, v]), relations, [part.label for part in bridge.parts], name=bridge.name
    )


# %%
# Ten girder bridges to learn from, five others to test.

bridges = [make_bridge("girder", seed, variant=0) for seed in range(15)]
graphs = GraphSet(parts_of(bridge) for bridge in bridges)
bare = GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)
unary, pairwise = StructuredSVM(C=10.0).fit(bare[:10]), StructuredSVM(C=10.0).fit(graphs[:10])
scores = (unary.score(bare[10:]), pairwise.score(graphs[10:]))
print(
    f"each part alone {scores[0]:.1%}, with neighbours {scores[1]:.1%} of the parts of five other bridges right"
)

# %%
# One of these from the side, wrong parts framed.

shown = graphs[10]
views = (
    ("reference", shown.labels),
    (f"each part alone: {scores[0]:.1%}", unary.predict(bare[10:11])[0]),
    (f"with neighbours: {scores[1]:.1%}", pairwise.predict(graphs[10:11])[0]),
)
figure, axes = plt.subplots(3, 1, figsize=(11, 6.5), layout="constrained")
box = boxes(bridges[10])
for axis, (title, labels) in zip(axes, views, strict=True):
    for i in np.argsort(-box[:, 0, 1]):  # what is in front comes last
        (x, _, z), (width, _, height) = box[i, 0], box[i, 1] - box[i, 0]
        wrong = labels[i] != shown.labels[i]
        axis.add_patch(Rectangle((x, z), width, height, color=PAINT[labels[i]], linewidth=0, zorder=1))
        if wrong:
            axis.add_patch(
                Rectangle((x, z), width, height, fill=False, edgecolor="black", linewidth=1.2, zorder=2)
            )
    axis.set(xlim=(box[..., 0].min() - 1, box[..., 0].max() + 1), title=title)
    axis.set_ylim(box[..., 2].min() - 0.5, box[..., 2].max() + 0.5)
    axis.set_axis_off()
figure.legend(
    handles=[Rectangle((0, 0), 1, 1, color=c, label=k) for k, c in PAINT.items()],
    loc="outside lower center",
    ncols=5,
)
plt.show()

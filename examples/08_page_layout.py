"""
Lines of a page
===============

What is a line of text on a page: heading, text, list, note or page number? A line alone says little (short lines end
paragraphs as well as they make headings); the lines above and below say the rest. Pages are generated here; the
benchmarks have 294 scanned ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from gapcut import Graph, GraphSet, StructuredSVM

CLASSES = ("heading", "text", "list", "note", "number")
COLOURS = dict(zip(CLASSES, ("#0072b2", "#999999", "#009e73", "#e69f00", "#cc79a7"), strict=True))


def page(seed: int) -> tuple[Graph, np.ndarray]:
    """A graph of the lines, and (V, 4) their boxes: left, bottom, width, height."""
    rng = np.random.default_rng(seed)
    kinds: list[str] = []
    while len(kinds) < 34:
        kinds += ["heading"] + ["text"] * rng.integers(3, 8)
        if rng.random() < 0.5:
            kinds += ["list"] * rng.integers(2, 5)
    kinds = [*kinds[:34], *["note"] * rng.integers(1, 4), "number"]
    boxes, top = [], 0.0
    for i, kind in enumerate(kinds):
        last = i + 1 == len(kinds) or kinds[i + 1] != kind
        width = {"heading": 0.45, "text": 0.5 if last else 0.95, "list": 0.6, "note": 0.8, "number": 0.1}[
            kind
        ]
        left = {"list": 0.07, "number": 0.45}.get(kind, 0.0) + 0.03 * rng.normal()
        height = {"heading": 0.85, "note": 0.62}.get(kind, 0.7) + 0.07 * rng.normal()
        top -= 1.0 + (0.5 if kind in ("heading", "number") and rng.random() < 0.8 else 0.0)
        boxes.append((left, top, np.clip(width + 0.15 * rng.normal(), 0.05, 1.0), height))
    box = np.array(boxes)
    pairs = np.column_stack(
        [np.arange(len(box) - 1), np.arange(1, len(box))]
    )  # from the upper to the lower line
    first, second = box[pairs[:, 0]], box[pairs[:, 1]]
    lines = np.column_stack([box[:, [0, 2, 3]], -box[:, 1] / 40])
    relations = np.column_stack([first[:, 1] - second[:, 1], np.abs(first - second)[:, [0, 2, 3]]])
    return Graph(lines, pairs, relations, kinds, name=f"page {seed}"), box


# %%
# Lines on a page make a chain, a graph without cycles, so that ``oracle="tree"`` is exact for one label per line.

pages = [page(seed) for seed in range(60)]
train, test = (GraphSet(graph for graph, _ in part) for part in (pages[:40], pages[40:]))
bare_train, bare_test = (
    GraphSet(g.replace(edges=None, edge_features=None) for g in part) for part in (train, test)
)
unary = StructuredSVM(C=10.0, oracle="tree").fit(bare_train)
pairwise = StructuredSVM(C=10.0, oracle="tree").fit(train)
scores = (unary.score(bare_test), pairwise.score(test))
print(
    f"each line alone {scores[0]:.1%}, with neighbours {scores[1]:.1%} of the lines of 20 other pages right"
)

# %%
# One of these pages, wrong lines framed.

figure, axes = plt.subplots(1, 3, figsize=(11, 6), layout="constrained")
shown, box = pages[40]
columns = (
    ("reference", shown.labels),
    (f"each line alone: {scores[0]:.1%}", unary.predict(bare_test[:1])[0]),
    (f"with neighbours: {scores[1]:.1%}", pairwise.predict(test[:1])[0]),
)
for axis, (title, labels) in zip(axes, columns, strict=True):
    for (left, bottom, width, height), label, right in zip(box, labels, shown.labels, strict=True):
        edge = "black" if label != right else "none"
        axis.add_patch(Rectangle((left, bottom), width, height, color=COLOURS[label]))
        axis.add_patch(Rectangle((left, bottom), width, height, fill=False, edgecolor=edge, linewidth=1.6))
    axis.set(xlim=(-0.2, 1.25), ylim=(box[:, 1].min() - 1, 0.5), title=title)
    axis.set_axis_off()
figure.legend(
    handles=[Rectangle((0, 0), 1, 1, color=c, label=k) for k, c in COLOURS.items()],
    loc="outside lower center",
    ncols=5,
)
plt.show()

"""
Handwritten sequences
=====================

Digits as people wrote them (they come with scikit-learn), set in rows that count: each digit is the one before, or one
more, seen under noise. A digit alone may be a 1, a 7 or a 9; its neighbours decide. Rows are chains, so that
``oracle="tree"`` trains the exact problem of one label per digit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gapcut import Graph, GraphSet, StructuredSVM

digits = load_digits()
LENGTH = 12


def rows(count: int, pool: np.ndarray, seed: int) -> tuple[GraphSet, list[np.ndarray]]:
    """Counting rows of digits from the pool, seen under noise, and their pictures."""
    rng = np.random.default_rng(seed)
    graphs, pictures = [], []
    for _ in range(count):
        labels = (rng.integers(10) + np.cumsum(rng.random(LENGTH) < 0.6)) % 10
        chosen = [rng.choice(pool[digits.target[pool] == digit]) for digit in labels]
        seen = digits.images[chosen] / 16 + 0.35 * rng.normal(size=(LENGTH, 8, 8))
        pairs = np.column_stack([np.arange(LENGTH - 1), np.arange(1, LENGTH)])
        graphs.append(Graph(seen.reshape(LENGTH, 64), pairs, np.ones((LENGTH - 1, 1)), labels))
        pictures.append(seen)
    return GraphSet(graphs), pictures


# %%
# Nobody's digit is in both parts.

split = np.random.default_rng(0).permutation(len(digits.target))
train, _ = rows(100, split[:900], seed=1)
test, pictures = rows(50, split[900:], seed=2)
bare_train, bare_test = (
    GraphSet(g.replace(edges=None, edge_features=None) for g in part) for part in (train, test)
)
options = {"C": 10.0, "oracle": "tree", "incidence": False}
unary = StructuredSVM(**options).fit(bare_train)
pairwise = StructuredSVM(**options).fit(train)
scores = (unary.score(bare_test), pairwise.score(test))
print(
    f"each digit alone {scores[0]:.1%}, with neighbours {scores[1]:.1%} right; {pairwise.certificate_.status}"
)

# %%
# Three rows that no model has seen; wrong digits in red.

figure, axes = plt.subplots(3, 1, figsize=(10, 4.6), layout="constrained")
for axis, i in zip(axes, range(3), strict=True):
    axis.imshow(np.hstack(list(pictures[i])), cmap="gray_r")
    answers = (
        ("alone", unary.predict(bare_test[i : i + 1])[0]),
        ("chain", pairwise.predict(test[i : i + 1])[0]),
    )
    for line, (name, labels) in enumerate(answers):
        axis.text(-1.5, 9.2 + 1.8 * line, name, ha="right", va="center")
        for place, (label, right) in enumerate(zip(labels, test[i].labels, strict=True)):
            colour = "black" if label == right else "red"
            axis.text(8 * place + 3.5, 9.2 + 1.8 * line, label, color=colour, ha="center", va="center")
    axis.set(ylim=(12, -0.5))
    axis.set_axis_off()
figure.suptitle(f"digits right: alone {scores[0]:.1%}, with neighbours {scores[1]:.1%}")
plt.show()

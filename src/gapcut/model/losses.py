"""What wrong labels cost in training: the parameters ``class_weight`` and ``costs`` as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapcut.data import Graph
from gapcut.model.labels import LabelCoder
from gapcut.typing import FloatArray, IntArray

DEAREST = 1e9
"""The largest cost of a label: single precision has room for its products."""


def class_weights(
    given: Any, graphs: Sequence[Graph], codes: Sequence[IntArray], coder: LabelCoder
) -> FloatArray | None:
    """(K,) factor of each class's loss. "balanced": inverse to the node weight of the class, mean 1 over
    present classes.
    """
    if given is None:
        return None
    if isinstance(given, str) and given == "balanced":
        totals = np.zeros(coder.n_labels)
        for graph, code in zip(graphs, codes, strict=True):
            totals += np.bincount(code, weights=graph.node_weights, minlength=coder.n_labels)
        present = totals > 0
        weights = np.ones(coder.n_labels)
        weights[present] = totals.sum() / (present.sum() * totals[present])
        return weights
    if not isinstance(given, Mapping):
        raise ValueError(f"class_weight={given!r} must be None, 'balanced' or a mapping from label to weight")
    weights = np.ones(coder.n_labels)
    for label, weight in given.items():
        k = _code(label, coder, "class_weight names")
        try:
            weights[k] = float(weight)
        except (TypeError, ValueError):
            raise ValueError(f"class_weight of label {label!r} is {weight!r}: give a number >= 0") from None
        if not (np.isfinite(weights[k]) and weights[k] >= 0):
            raise ValueError(f"class_weight of label {label!r} is {weight!r}: give a finite number >= 0")
    return weights


def label_costs(given: Any, coder: LabelCoder) -> FloatArray | None:
    """(K, K) cost of each label (column) in place of each true one (row), or None."""
    if given is None:
        return None
    K, names = coder.n_labels, coder.classes.tolist()
    if isinstance(given, Mapping):
        costs = 1.0 - np.eye(K)
        for truth, row in given.items():
            if not isinstance(row, Mapping):
                raise ValueError(f"costs of label {truth!r} are {row!r}: give a mapping from label to cost")
            for label, cost in row.items():
                costs[tuple(_code(k, coder, "costs name") for k in (truth, label))] = _cost(
                    cost, truth, label
                )
    else:
        try:
            costs = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("costs hold something that is no number") from None
        if costs.shape != (K, K):
            raise ValueError(
                f"costs have shape {costs.shape}, but there are {K} classes: give ({K}, {K}), a row for each "
                "true label, in the order of classes_, or a mapping"
            )
        for y, k in np.argwhere(~((costs >= 0.0) & (costs <= DEAREST))):
            _cost(float(costs[y, k]), names[y], names[k])
    wrong = np.flatnonzero(np.diagonal(costs))
    if len(wrong):
        raise ValueError(f"costs of label {names[wrong[0]]!r} where it is true: the right label costs 0")
    return costs


def cost_factors(given: Any, coder: LabelCoder) -> FloatArray | None:
    """(K, K) factors of the loss of a wrong indicator, by true label y and label k, so that label k in place of y costs
    ``costs[y, k]`` times what it costs without: ``m`` where k = y, the least cost of a wrong label, and
    ``2 costs[y, k] - m`` elsewhere (docs/mathematics.md, Loss). None where all costs are 1.
    """
    costs = label_costs(given, coder)
    if costs is None or np.array_equal(costs, 1.0 - np.eye(coder.n_labels)):
        return None
    others = np.where(np.eye(coder.n_labels) > 0, np.inf, costs)
    least = others.min(axis=1, initial=np.inf, keepdims=True)
    least[~np.isfinite(least)] = 0.0  # one class alone
    return np.asarray(np.where(np.eye(coder.n_labels) > 0, least, 2.0 * costs - least))


def _code(label: Any, coder: LabelCoder, what: str) -> int:
    k = coder.code(label)
    if k < 0:
        raise ValueError(f"{what} the label {label!r}, which is not one of the classes")
    return k


def _cost(given: Any, truth: Any, label: Any) -> float:
    try:
        cost = float(given)
    except (TypeError, ValueError):
        cost = -1.0
    if not (np.isfinite(cost) and 0.0 <= cost <= DEAREST):
        raise ValueError(
            f"costs of label {label!r} in place of {truth!r} are {given!r}: give a number in [0, 1e9]"
        )
    return cost

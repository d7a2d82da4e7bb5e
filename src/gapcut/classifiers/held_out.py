"""Distributions by classifiers that have not seen the row they speak of.

What is learned beside a classifier must see it as it is on new data: it is sure of rows that it was trained on, and
what stands beside it would count for little (stacking: Wolpert, Stacked generalization, Neural Networks 5, 1992).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gapcut.typing import AnyArray, BoolArray, Float32Array, IntArray

Predict = Callable[[IntArray], AnyArray]
"""(M, K) distributions of the rows asked for."""


def out_of_fold(
    fold: IntArray,
    n_classes: int,
    learn: Callable[[BoolArray], Predict],
    say: Callable[[int, int], None] | None = None,
) -> Float32Array:
    """(N, K) distributions of each row by what was learned from rows of other folds only.

    ``fold`` (N,) numbers from 0 on; ``learn`` gets the mask (N,) of the rows it may see; ``say`` is told which fold
    of how many begins.
    """
    out = np.empty((len(fold), n_classes), dtype=np.float32)
    n_folds = 1 + int(fold.max())
    for k in range(n_folds):
        if say is not None:
            say(k + 1, n_folds)
        predict = learn(fold != k)
        rows = np.flatnonzero(fold == k)
        if len(rows):
            out[rows] = predict(rows)
    return out

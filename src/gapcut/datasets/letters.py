"""Handwritten words (Taskar's OCR data): chains of letters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gapcut.data import Graph, GraphSet
from gapcut.datasets.files import Root, arrays_of


def load_letters(root: Root) -> tuple[GraphSet, GraphSet]:
    """Words of fold 1 to train on and all others to test on, from ``letters.npz``.

    Nodes are letters (128 pixels, 0 or 1), an edge leads from each letter to the next in its word and has one
    feature, 1. Labels are 0..25. The set's ``fold`` says which of ten folds a word is in.
    """
    arrays = arrays_of(root, "letters.npz", "data", "labels", "word_offset", "fold")
    pixels, labels = arrays["data"].astype(np.float64), arrays["labels"].astype(np.int64)
    offset, fold = arrays["word_offset"], arrays["fold"].astype(np.int64)
    words = GraphSet(
        (
            _word(pixels[start:stop], labels[start:stop], f"word {i}")
            for i, (start, stop) in enumerate(pairwise(offset))
        ),
        extras={"fold": fold},
        node_feature_names=[f"pixel ({row}, {column})" for row in range(16) for column in range(8)],
        edge_feature_names=["next"],
    )
    return words[fold == 1], words[fold != 1]


def _word(pixels: np.ndarray, labels: np.ndarray, name: str) -> Graph:
    steps = np.arange(len(pixels) - 1)
    return Graph(pixels, np.stack([steps, steps + 1], axis=1), np.ones((len(steps), 1)), labels, name=name)

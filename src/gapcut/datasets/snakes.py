"""Snakes (Nowozin et al., decision tree fields): small colour grids in which only context tells the label."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gapcut.data import Graph, GraphSet
from gapcut.datasets.files import Root, arrays_of
from gapcut.typing import AnyArray, FloatArray, IntArray

_CODES = np.array([1, 2, 3, 4, 6])
"""Colours as bits (red 1, green 2, blue 4), one channel each."""
_COLOURS = ("red", "green", "yellow", "blue", "cyan")
_BACKGROUND = 3


def load_snakes(root: Root | None = None) -> tuple[GraphSet, GraphSet]:
    """200 training and 100 test grids, from ``snakes_train.npz`` and ``snakes_test.npz``; without a folder, from those
    that come with this package.

    Nodes are cells, row by row; their features are the one-hot colours (5) of the 3 x 3 cells around, outside
    the image the background: 45 columns. Edges lead from each cell to its right neighbour, then from each to
    the one below. Edge features are 45 x 4, flattened: columns 0 and 1 hold the node features of the two ends
    of an edge to the right, 2 and 3 those of an edge down. Labels 0..10, 0 the background.
    """
    root = Path(__file__).with_name("shipped") if root is None else root
    return _load(root, "snakes_train.npz"), _load(root, "snakes_test.npz")


def _load(root: Root, name: str) -> GraphSet:
    arrays = arrays_of(root, name, "shape", "pixels", "labels")
    channels = _channels(arrays["pixels"])
    labels = arrays["labels"].astype(np.int64)
    sizes = arrays["shape"].astype(np.int64)
    ends = np.cumsum(sizes.prod(axis=1))
    around = [f"{colour} at ({y:+d}, {x:+d})" for y in (-1, 0, 1) for x in (-1, 0, 1) for colour in _COLOURS]
    slots = ("right from", "right to", "down from", "down to")
    return GraphSet(
        (
            _grid(channels[end - h * w : end], labels[end - h * w : end], (int(h), int(w)), f"snake {i}")
            for i, ((h, w), end) in enumerate(zip(sizes, ends, strict=True))
        ),
        node_feature_names=around,
        edge_feature_names=[f"{slot}: {feature}" for feature in around for slot in slots],
    )


def _channels(pixels: AnyArray) -> IntArray:
    """(N,) channel index of (N, 3) pixels of 0 and 255."""
    code = (pixels // 255) @ np.array([1, 2, 4])
    channel: IntArray = np.searchsorted(_CODES, code).clip(max=len(_CODES) - 1)
    if (_CODES[channel] != code).any():
        raise ValueError(
            f"pixel {int(np.argmax(_CODES[channel] != code))} has none of the five colours of a snake"
        )
    return channel


def _grid(channels: IntArray, labels: IntArray, size: tuple[int, int], name: str) -> Graph:
    height, width = size
    padded = np.full((height + 2, width + 2), _BACKGROUND)
    padded[1:-1, 1:-1] = channels.reshape(size)
    windows = [padded[y : y + height, x : x + width].ravel() for y in range(3) for x in range(3)]
    nodes = np.eye(len(_CODES))[np.stack(windows, axis=1)].reshape(height * width, -1)
    cells = np.arange(height * width).reshape(size)
    right = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    features = np.concatenate([_pair_features(nodes, right, 0), _pair_features(nodes, down, 2)])
    return Graph(nodes, np.concatenate([right, down]), features, labels, name=name)


def _pair_features(nodes: FloatArray, edges: IntArray, slot: int) -> FloatArray:
    pairs = np.zeros((len(edges), nodes.shape[1], 4))
    pairs[:, :, slot], pairs[:, :, slot + 1] = nodes[edges[:, 0]], nodes[edges[:, 1]]
    return pairs.reshape(len(edges), -1)

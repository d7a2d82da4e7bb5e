"""Images as graphs of their segments (superpixels), and labels of segments as images."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapcut.data import Graph
from gapcut.typing import AnyArray, FloatArray, IntArray


def superpixel_graph(
    image: Any, segments: Any, labels: Any = None, *, ignore: Any = None, name: object = None
) -> Graph:
    """The region adjacency graph of an image: a node per segment, an edge where two segments touch.

    ``image`` (H, W) or (H, W, channels), numbers of any unit (colours that look equally far apart, as Lab, do best);
    ``segments`` (H, W) whole numbers, one per segment, as of ``skimage.segmentation.slic``. Nodes are in the order of
    ``np.unique(segments)`` and weigh their pixels. ``labels`` (H, W): the label of most of a segment's pixels becomes
    its own, pixels with the label ``ignore`` not counted.

    Node features: mean and standard deviation of each channel, the centre's row and column (0 to 1), the square root of
    the segment's share of the image. An edge leads from the segment whose centre is higher up. Its features:
    ``boundary``, the pixel sides that the two share over those of the one with fewer; ``difference`` of the mean
    colours; ``step``, the mean difference of colours across the boundary (both Euclidean, in units of the
    image); ``below``, how much lower the second lies, and ``beside``, how far aside, in segments' mean width. Raises
    ValueError for shapes that do not fit and values that are not finite.
    """
    pixels, ids, node = _checked(image, segments)
    size = np.bincount(node.ravel())
    nodes, names = _node_features(pixels, node, size)
    edges, features = _edges(pixels, node, size, nodes)
    return Graph(
        nodes,
        edges,
        features,
        None if labels is None else _majority(labels, node, len(ids), ignore),
        size.astype(np.float64),
        name=name,
        node_feature_names=names,
        edge_feature_names=["boundary", "difference", "step", "below", "beside"],
    )


def paint(segments: Any, values: Any) -> AnyArray:
    """An image from one value per segment (labels, colours): pixel by pixel ``values[node of the pixel's segment]``.

    ``segments`` (H, W) as in :func:`superpixel_graph`; ``values`` (V, ...). Raises ValueError unless there is one a
    segment.
    """
    ids, node = np.unique(np.asarray(segments), return_inverse=True)
    values = np.asarray(values)
    if not values.ndim or len(values) != len(ids):
        raise ValueError(f"{values.shape} values for {len(ids)} segments: give one per segment")
    painted: AnyArray = values[node.reshape(np.shape(segments))]
    return painted


def _checked(image: Any, segments: Any) -> tuple[FloatArray, AnyArray, IntArray]:
    pixels, numbers = np.asarray(image, dtype=np.float64), np.asarray(segments)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.ndim != 3 or not pixels.size or not np.isfinite(pixels).all():
        raise ValueError(
            f"the image has shape {np.shape(image)}, but must be (H, W) or (H, W, channels), finite"
        )
    if numbers.shape != pixels.shape[:2] or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"segments are {numbers.dtype} of shape {numbers.shape}, but must be whole numbers of {pixels.shape[:2]}"
        )
    ids, node = np.unique(numbers, return_inverse=True)
    return pixels, ids, node.reshape(numbers.shape)


def _node_features(pixels: FloatArray, node: IntArray, size: IntArray) -> tuple[FloatArray, list[str]]:
    height, width, channels = pixels.shape
    row, column = np.mgrid[:height, :width]
    columns = [_mean(pixels[..., c], node, size) for c in range(channels)]
    columns += [np.sqrt(_mean((pixels[..., c] - columns[c][node]) ** 2, node, size)) for c in range(channels)]
    columns += [_mean((row + 0.5) / height, node, size), _mean((column + 0.5) / width, node, size)]
    names = [f"{what} {c}" for what in ("mean", "deviation") for c in range(channels)]
    return np.column_stack([*columns, np.sqrt(size / node.size)]), [*names, "row", "column", "size"]


def _mean(values: FloatArray, node: IntArray, size: IntArray) -> FloatArray:
    return np.asarray(np.bincount(node.ravel(), weights=values.ravel()) / size)


def _edges(
    pixels: FloatArray, node: IntArray, size: IntArray, nodes: FloatArray
) -> tuple[IntArray, FloatArray]:
    height, width, channels = pixels.shape
    count = len(size)
    cut: list[tuple[Any, Any]] = [
        (np.s_[:, :-1], np.s_[:, 1:]),
        (np.s_[:-1], np.s_[1:]),
    ]  # right, lower neighbour
    pairs = np.concatenate([np.stack([node[a].ravel(), node[b].ravel()], axis=1) for a, b in cut])
    step = np.concatenate([np.linalg.norm(pixels[a] - pixels[b], axis=-1).ravel() for a, b in cut])
    between = pairs[:, 0] != pairs[:, 1]
    pairs, step = np.sort(pairs[between], axis=1), step[between]
    # the rim of the image is part of a segment's outline
    rim = np.concatenate([node[0], node[-1], node[:, 0], node[:, -1]])
    outline = np.bincount(np.concatenate([pairs.ravel(), rim]), minlength=count)
    code, owner, shared = np.unique(
        pairs[:, 0] * count + pairs[:, 1], return_inverse=True, return_counts=True
    )
    low, high = code // count, code % count
    centre = nodes[:, -3:-1] * (height, width)
    down = (centre[low, 0] < centre[high, 0]) | ((centre[low, 0] == centre[high, 0]) & (low < high))
    edges = np.where(down[:, None], np.stack([low, high], axis=1), np.stack([high, low], axis=1))
    u, v = edges.T
    offset = (centre[v] - centre[u]) / np.sqrt(node.size / count)
    features = [
        shared / np.minimum(outline[u], outline[v]),
        np.linalg.norm(nodes[u, :channels] - nodes[v, :channels], axis=1),
        np.bincount(owner, weights=step, minlength=len(code)) / shared,
        offset[:, 0],
        np.abs(offset[:, 1]),
    ]
    return edges, np.column_stack(features)


def _majority(labels: Any, node: IntArray, count: int, ignore: Any) -> list[Any]:
    """(V,) the label of most pixels, the first in order of equals; None where all pixels are to be ignored."""
    truth = np.asarray(labels)
    if truth.shape != node.shape:
        raise ValueError(f"labels have shape {truth.shape}, but the image has {node.shape}")
    if truth.dtype == object:
        raise ValueError(
            "labels of pixels must be of one type, numbers or text: name the ones to ignore by ignore="
        )
    values, code = np.unique(truth, return_inverse=True)
    votes = np.bincount(node.ravel() * len(values) + code.ravel(), minlength=count * len(values))
    votes = votes.reshape(count, len(values))
    if ignore is not None:
        votes[:, np.isin(values, np.atleast_1d(ignore))] = 0
    if values.dtype.kind == "f":
        votes[:, np.isnan(values)] = 0
    best = votes.argmax(axis=1)
    return [values[k].item() if votes[i, k] else None for i, k in enumerate(best.tolist())]

"""Turn what users pass for the arrays of a graph into read-only arrays of one kind, or say what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapcut.data import sparse
from gapcut.data.errors import GraphError
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray, BoolArray, FloatArray, IntArray


def plain_array(value: Any, what: str, row: str = "row") -> AnyArray:
    """Any array-like as an ndarray (no copy of an ndarray); ragged and masked ones are refused.

    The gate for all that users hand over: sparse matrices are checked before they are unpacked.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise GraphError(f"{what} has masked entries: fill or drop them first")
    if is_sparse(value):
        return sparse.dense(value, what, row)
    try:
        return np.asarray(value)
    except ValueError:
        raise GraphError(f"{what} is ragged: every row must have the same number of entries") from None
    except (TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise GraphError(
            f"{what} is no array: {' '.join(str(error).split()) or type(error).__name__}"
        ) from None


def frozen(value: AnyArray, dtype: Any) -> AnyArray:
    """A read-only C-contiguous array of that type: shared if nobody can write to it already, else a copy."""
    if value.dtype == dtype and value.flags.c_contiguous and _never_written(value):
        return value
    copy = np.array(value, dtype=dtype, order="C", copy=True)
    copy.flags.writeable = False
    return copy


def _never_written(array: AnyArray) -> bool:
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None


def feature_matrix(value: Any, what: str, row: str) -> FloatArray:
    """(rows, columns) finite float64, read-only. ``row`` says what a row is: node or edge."""
    raw = plain_array(value, what, row)
    if raw.ndim != 2:
        more = f"; reshape a single feature with {what}.reshape(-1, 1)" if raw.ndim == 1 else ""
        raise GraphError(f"{what} has shape {raw.shape}, but must be a table of {row}s by features{more}")
    return finite(_real(raw, what), what, row)


def sparse_features(value: Any) -> sp.csr_array:
    """(V, Dn) finite sparse node features in canonical CSR form, its arrays read-only."""
    if value.dtype.kind not in "biuf":
        raise GraphError(f"node_features holds {value.dtype} values, but must hold real numbers")
    sound = sparse.sound_csr(value, "node_features", "node")
    matrix = value if _is_frozen_csr(sound) and isinstance(value, sp.csr_array) else _canonical_copy(sound)
    bad = ~np.isfinite(matrix.data)
    if bad.any():
        at = int(np.argmax(bad))
        node = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise GraphError(_not_finite("node_features", "node", node, int(matrix.indices[at]), matrix.data[at]))
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


def _canonical_copy(sound: Any) -> sp.csr_array:
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf and is named as such
        matrix: sp.csr_array = sp.csr_array(sound, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    return matrix


def _is_frozen_csr(value: sp.csr_array) -> bool:
    if value.dtype != np.float64 or not value.has_canonical_format or len(value.data) != value.indptr[-1]:
        return False
    return all(_never_written(part) for part in (value.data, value.indices, value.indptr))


def finite(array: FloatArray, what: str, row: str) -> FloatArray:
    """The same array; raises GraphError naming the first entry that is NaN or infinite."""
    good = np.isfinite(array)
    if not good.all():
        at = tuple(int(i) for i in np.argwhere(~good)[0])
        raise GraphError(_not_finite(what, row, at[0], at[1] if len(at) > 1 else None, array[at]))
    return array


def _not_finite(what: str, row: str, index: int, column: int | None, value: float) -> str:
    feature = "" if column is None else f", feature {column}"
    return f"{what} of {row} {index}{feature} is {value}: replace it with a finite number"


def _real(raw: AnyArray, what: str) -> FloatArray:
    """Numbers as float64; text, complex numbers and objects that are not numbers are refused."""
    if raw.dtype.kind not in "biufO":
        raise GraphError(f"{what} holds {raw.dtype} values, but must hold real numbers")
    try:
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf and is named as such
            return frozen(raw, np.float64)
    except (TypeError, ValueError):
        raise GraphError(f"{what} holds entries that are not numbers") from None
    except OverflowError:
        raise GraphError(f"{what} holds a number beyond the range of float64") from None
    except MemoryError:
        raise GraphError(f"{what} of shape {raw.shape} is too large for the memory at hand") from None


def edge_array(value: Any, n_nodes: int) -> IntArray:
    """(E, 2) int64 node indices, read-only, no self loops. Repeated and reversed edges are legal."""
    raw = plain_array([] if value is None else value, "edges", "edge")
    if raw.shape == (0,):
        raw = np.empty((0, 2), dtype=np.int64)
    if raw.ndim != 2 or raw.shape[1] != 2:
        transposed = raw.ndim == 2 and raw.shape[0] == 2
        advice = "it looks transposed, pass edges.T" if transposed else "give one row (from, to) an edge"
        raise GraphError(f"edges has shape {raw.shape}, but must be (E, 2): {advice}")
    whole = whole_numbers(raw, "edge", "edges")
    outside = ((whole < 0) | (whole >= n_nodes)).any(axis=1)
    if outside.any():
        at = int(np.argmax(outside))
        legal = f"node indices run from 0 to {n_nodes - 1}" if n_nodes else "the graph has no nodes"
        raise GraphError(f"edge {at} is {listed(whole[at])}, but {legal}")
    loops = whole[:, 0] == whole[:, 1]
    if loops.any():
        at = int(np.argmax(loops))
        raise GraphError(
            f"edge {at} is {listed(whole[at])}, a self loop: drop it, or add its features to the node's"
        )
    return frozen(whole, np.int64)


def whole_numbers(raw: AnyArray, row: str, what: str) -> AnyArray:
    """(rows, d) integers, or floats that are whole numbers, as they are: the range is checked before any cast."""
    if raw.dtype.kind in "iu":
        return raw
    if raw.dtype.kind not in "fO":
        raise GraphError(f"{what} holds {raw.dtype} values, but must hold node indices")
    values = _real(raw, what)
    broken = (values != np.floor(values)).any(axis=1)
    if broken.any():
        at = int(np.argmax(broken))
        raise GraphError(f"{row} {at} is {listed(values[at])}, but node indices are whole numbers")
    return values


def listed(nodes: AnyArray) -> str:
    """How messages write a row of node indices."""
    return f"({', '.join(f'{u:g}' if nodes.dtype.kind == 'f' else str(u) for u in nodes)})"


def weight_vector(value: Any, n_nodes: int) -> FloatArray:
    """(V,) finite weights >= 0, read-only."""
    raw = plain_array(value, "node_weights", "node")
    if raw.shape != (n_nodes,):
        raise GraphError(
            f"node_weights has shape {raw.shape}, but the graph has {n_nodes} nodes: give one per node"
        )
    weights = finite(_real(raw, "node_weights"), "node_weights", "node")
    if (weights < 0).any():
        at = int(np.argmax(weights < 0))
        raise GraphError(f"node_weights of node {at} is {weights[at]:g}: weights are at least 0")
    return weights


def node_mask(value: Any, n_nodes: int) -> BoolArray:
    """(V,) boolean array."""
    mask = np.asarray(value)
    if mask.dtype != np.bool_ or mask.shape != (n_nodes,):
        raise GraphError(
            f"a node mask is a boolean array of shape ({n_nodes},), not {mask.dtype} of {mask.shape}"
        )
    return mask

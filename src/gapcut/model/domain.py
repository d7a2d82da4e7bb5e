"""Which weights are sign constrained (the set P of the paper), which are frozen, and which are one and the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.parameters import Frozen, Nonnegative, PairwiseKind
from gapcut.typing import AnyArray, BoolArray, FloatArray, Int32Array


@dataclass(frozen=True)
class WeightShape:
    """Sizes of the weights: unary (K, Dn), pairwise (K, K, De)."""

    n_labels: int
    node_dim: int
    edge_dim: int

    @property
    def unary(self) -> tuple[int, int]:
        return (self.n_labels, self.node_dim)

    @property
    def pairwise(self) -> tuple[int, int, int]:
        return (self.n_labels, self.n_labels, self.edge_dim)

    def _block(self, name: str) -> tuple[int, ...]:
        return self.unary if name == "unary" else self.pairwise


def tied_pairs(pairwise: PairwiseKind, n_labels: int) -> Int32Array | None:
    """(K K,) for each label pair the first of those that share its weights; None where none do."""
    if pairwise == "full":
        return None
    own = np.arange(n_labels * n_labels, dtype=np.int32).reshape(n_labels, n_labels)
    if pairwise == "symmetric":
        return np.minimum(own, own.T).ravel()
    np.fill_diagonal(own, 0)
    return own.ravel()


def weight_box(
    shape: WeightShape,
    nonnegative: Nonnegative,
    frozen: Frozen | None,
    pairwise: PairwiseKind = "full",
    *,
    free_pairwise: bool,
    oracle: str,
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bound of every weight, ``[unary | pairwise]`` flat.

    ``nonnegative``: "pairwise", "none", a boolean array (K, K, De) or its flat form, or a mapping with
    boolean arrays "unary" (K, Dn) and "pairwise". ``frozen``: None, or a mapping with float arrays "unary"
    and "pairwise"; NaN entries are learned, the others stay at the given value. ``pairwise``: label pairs without
    weights stay at 0. ``free_pairwise``: whether the oracle can work with negative pairwise weights. Raises ValueError
    with the reason for anything else.
    """
    masks = _nonnegative_masks(shape, nonnegative)
    values = _frozen_values(shape, frozen)
    if pairwise != "full":
        values["pairwise"] = _with_ties(shape, pairwise, masks["pairwise"], values["pairwise"])
    lower, upper = [], []
    for name in ("unary", "pairwise"):
        fixed = ~np.isnan(values[name])
        low = np.where(masks[name], 0.0, -np.inf)
        lower.append(np.where(fixed, values[name], low).ravel())
        upper.append(np.where(fixed, values[name], np.inf).ravel())
    if not free_pairwise:
        _require_nonnegative(shape, lower[1], values["pairwise"].ravel(), oracle)
    return np.concatenate(lower), np.concatenate(upper)


def _with_ties(shape: WeightShape, pairwise: PairwiseKind, mask: BoolArray, values: FloatArray) -> FloatArray:
    """Frozen pairwise weights where label pairs share theirs or have none; ValueError where what is asked for differs
    between those that share."""
    if pairwise == "potts":
        different = ~np.eye(shape.n_labels, dtype=bool)
        if np.any(np.nan_to_num(values[different]) != 0.0):
            raise ValueError(
                "frozen['pairwise'] fixes weights of different labels, but pairwise='potts' has none of them"
            )
        values = np.where(different[:, :, None], 0.0, values)
    first = tied_pairs(pairwise, shape.n_labels)
    for name, array in (("nonnegative", mask), ("frozen", values)):
        rows = array.reshape(shape.n_labels**2, -1)
        if not np.array_equal(rows, rows[first], equal_nan=True):
            raise ValueError(
                f"{name}['pairwise'] differs between label pairs that share their weights with pairwise={pairwise!r}"
            )
    return values


def _nonnegative_masks(shape: WeightShape, nonnegative: Nonnegative) -> dict[str, BoolArray]:
    masks = {"unary": np.zeros(shape.unary, dtype=bool), "pairwise": np.ones(shape.pairwise, dtype=bool)}
    if isinstance(nonnegative, str):
        masks["pairwise"][:] = nonnegative == "pairwise"
        return masks
    given = nonnegative if isinstance(nonnegative, Mapping) else {"pairwise": nonnegative}
    for name, value in given.items():
        array = _shaped(value, shape, name, "nonnegative")
        if array.dtype != np.bool_:
            raise ValueError(f"nonnegative[{name!r}] must be boolean, not {array.dtype}")
        masks[name] = array
    return masks


def _frozen_values(shape: WeightShape, frozen: Frozen | None) -> dict[str, FloatArray]:
    values = {name: np.full(shape._block(name), np.nan) for name in ("unary", "pairwise")}
    if frozen is None:
        return values
    for name, value in frozen.items():
        array = _shaped(value, shape, name, "frozen", dtype=np.float64)
        for place in np.argwhere(np.isinf(array)):
            where = tuple(place.tolist())
            raise ValueError(f"frozen[{name!r}] at {where} is {array[where]}: use NaN for weights to learn")
        values[name] = array
    return values


def _shaped(value: Any, shape: WeightShape, name: Any, argument: str, dtype: Any = None) -> AnyArray:
    if name not in ("unary", "pairwise"):
        raise ValueError(f"{argument} has the key {name!r}: only 'unary' and 'pairwise' exist")
    expected = shape._block(name)
    try:
        array = np.asarray(value, dtype=dtype)
    except (TypeError, ValueError):
        raise ValueError(f"{argument}[{name!r}] is not an array of numbers of shape {expected}") from None
    if array.shape != expected and array.shape != (int(np.prod(expected)),):
        raise ValueError(
            f"{argument}[{name!r}] has shape {array.shape}, but the model's weights have shape {expected} "
            "(after the feature steps; see node_names_ and pipeline_.edge_names) or its flat form"
        )
    return array.reshape(expected)


def _require_nonnegative(shape: WeightShape, lower: FloatArray, frozen: FloatArray, oracle: str) -> None:
    bad = np.flatnonzero(lower < 0)
    if not len(bad):
        return
    k, m, d = (int(i) for i in np.unravel_index(bad[0], shape.pairwise))
    what = "frozen below zero" if frozen[bad[0]] < 0 else "free of the sign constraint"
    raise ValueError(
        f"pairwise weight ({k}, {m}, {d}) is {what}, but oracle={oracle!r} is one min cut, which is exact "
        "only while every pairwise weight is >= 0: use nonnegative='pairwise' or an oracle that takes any "
        "sign (oracle='brute')"
    )

"""Roof duality of binary functions: labels that some minimiser has, half-integral relaxation, lower bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapcut import _core
from gapcut.inference.energy import Energy
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class RoofDual:
    """What roof duality says about a function of n binary variables.

    ``values`` (n,) in {0, 0.5, 1}: a minimiser of the half-integral relaxation (Boros and Hammer 2002); 0.5 is
    unlabelled. Some minimiser of the function has all the labels (persistency); ``strong`` (n,) bool marks those
    that every minimiser has. ``bound`` is never above the minimum, rounding paid for; inf: everything is
    forbidden. ``stopped``: time ran out, with fewer labels and a weaker bound, both valid.

    Labels are exact for a function whose terms differ from the given ones by less than 2^-56 of the sum of all
    their ranges.
    """

    values: FloatArray
    strong: NDArray[np.bool_]
    bound: float
    stopped: bool = False

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(n,) where ``values`` is 0 or 1."""
        return np.not_equal(self.values, 0.5)


def roof_dual(
    unary: ArrayLike,
    pairs: ArrayLike,
    tables: ArrayLike,
    *,
    start: ArrayLike | None = None,
    time_left: float | None = None,
) -> RoofDual:
    """Roof duality of ``sum_i unary[i, x_i] + sum_p tables[p, x_i, x_j]`` with ``(i, j) = pairs[p]``, minimised.

    ``unary`` (n, 2), ``pairs`` (m, 2) variable numbers, ``tables`` (m, 2, 2); finite, or +inf to forbid. Pairs may
    repeat in either order. ``start`` (n,) 0/1: a good labeling sharpens the integer scale where entries differ
    much in size. ``ValueError`` names the first bad entry.
    """
    cost, joined, table = _check(unary, pairs, tables)
    first = None if start is None else _check_start(start, len(cost))
    labels, strong, bound, stopped = _core.roof_dual(cost, joined, table, first, time_left)
    return RoofDual(_halves(labels), strong.astype(bool), bound, stopped)


def persistency(
    energy: Energy, *, start: ArrayLike | None = None, time_left: float | None = None
) -> RoofDual:
    """Roof duality of an energy with one or two labels per node; ``ValueError`` if a node has more."""
    refuse_cliques(energy, "roof duality")
    first = None if start is None else energy.check_labels(start).astype(np.uint8)
    labels, strong, bound, stopped = _core.roof_dual_energy(energy.native, first, time_left)
    single = energy.n_labels == 1
    return RoofDual(np.where(single, 0.0, _halves(labels)), single | (strong != 0), bound, stopped)


def refuse_cliques(energy: Energy, what: str) -> None:
    """``ValueError`` if the energy has terms over more than two nodes: they must not be left out silently."""
    count = getattr(energy, "n_cliques", 0)
    if count:
        raise ValueError(
            f"{what} takes terms over one and two nodes only, but the energy has {count} larger cliques: "
            "use method='auto'"
        )


def _halves(labels: NDArray[np.int8]) -> FloatArray:
    return np.where(labels < 0, 0.5, labels.astype(np.float64))


def _check(
    unary: ArrayLike, pairs: ArrayLike, tables: ArrayLike
) -> tuple[FloatArray, NDArray[np.int32], FloatArray]:
    cost = np.ascontiguousarray(unary, dtype=np.float64)
    if cost.ndim != 2 or cost.shape[1] != 2:
        raise ValueError(f"unary has shape {cost.shape}, expected (variables, 2)")
    joined = np.asarray(pairs)
    if joined.size == 0:
        joined = np.zeros((0, 2), dtype=np.int32)
    if joined.ndim != 2 or joined.shape[1] != 2 or joined.dtype.kind not in "iu":
        raise ValueError(f"pairs have shape {joined.shape} of {joined.dtype}, expected integers (pairs, 2)")
    wrong = np.flatnonzero(
        ((joined < 0) | (joined >= len(cost))).any(axis=1) | (joined[:, 0] == joined[:, 1])
    )
    if len(wrong):
        p = int(wrong[0])
        raise ValueError(
            f"pair {p} joins {joined[p, 0]} and {joined[p, 1]}: "
            f"give two different variables of 0..{len(cost) - 1}"
        )
    table = np.ascontiguousarray(tables, dtype=np.float64)
    if table.size == 0 and len(joined) == 0:
        table = np.zeros((0, 2, 2))
    if table.shape != (len(joined), 2, 2):
        raise ValueError(f"tables have shape {table.shape}, expected ({len(joined)}, 2, 2): one per pair")
    for what, entries in (("unary", cost), ("tables", table)):
        bad = np.flatnonzero(~(entries.ravel() > -np.inf))
        if len(bad):
            at = tuple(int(i) for i in np.unravel_index(bad[0], entries.shape))
            raise ValueError(f"{what} entry {at} is {entries[at]}: entries must be finite, or +inf to forbid")
    return cost, joined.astype(np.int32), table.reshape(-1, 4)


def _check_start(start: ArrayLike, n: int) -> NDArray[np.uint8]:
    labels = np.asarray(start)
    if labels.shape != (n,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"start must hold {n} labels 0 or 1")
    return labels.astype(np.uint8)

"""The learning problem of the paper (Problem 4) as arrays: what every learner and every oracle works on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gapcut import _core
from gapcut.data import Graph
from gapcut.problem.packing import Room, pack
from gapcut.problem.ties import Ties, coordinate_numbers
from gapcut.typing import AnyArray, FloatArray, Int32Array, IntArray

_PIECE = 1 << 20
FINGERPRINT = "2:"
"""What fingerprints of this kind start with; the first kind, without a mark, covered sums of features only."""


@dataclass(frozen=True)
class LearningProblem:
    r"""``min_w 1/2 |w|^2 + C/n sum_i max_z [Delta_b(y_i, z) - w'(Psi(x_i, y_i) - Psi(x_i, z))]`` over a box.

    Weights are compact vectors of length ``dim``: the coordinates of
    ``[unary (K, Dn) | pairwise (K, K, De) | (T, D) of each clique group]`` that can differ from zero.
    ``lower`` and ``upper`` hold the box, one entry a coordinate: (-inf, inf) is free, (0, inf) sign
    constrained (the set P of the paper), (v, v) frozen at v. With ``ties`` some coordinates share a weight, which is
    there once: in the vector, in its norm and in the box; :meth:`spread` and :meth:`gather` lead to the core and back.

    The dual of any set of planes ``h_t, d_t`` needs only the box (Eq. 21 of the supplement): with
    ``x = sum a_t h_t``, ``w = clamp(x)`` and the dual value is ``sum a_t d_t - conjugate(x)``.
    """

    core: _core.Problem
    C: float
    loss_scale: float
    lower: FloatArray
    upper: FloatArray
    ties: Ties | None = None

    @property
    def n_graphs(self) -> int:
        return self.core.n_graphs

    @property
    def n_labels(self) -> int:
        return self.core.n_labels

    @property
    def dim(self) -> int:
        return self.core.dim if self.ties is None else self.ties.count

    @property
    def costs(self) -> FloatArray | None:
        """(K, K) factors of the loss by true label and indicator; None where all are 1."""
        flat = self.core.costs
        return flat.reshape(self.n_labels, self.n_labels) if len(flat) else None

    @property
    def unary_count(self) -> int:
        """How many of the compact coordinates, the first ones, are unary weights."""
        return int(np.searchsorted(self.core.coordinates, self.core.n_labels * self.core.node_dim))

    def clamp(self, x: FloatArray) -> FloatArray:
        """The weights that belong to the dual point ``x``: its nearest point in the box, with exact zeros."""
        return np.clip(x, self.lower, self.upper)

    def conjugate(self, x: FloatArray) -> float:
        """``max_w w'x - 1/2 |w|^2`` over the box, attained at ``clamp(x)``."""
        w = self.clamp(x)
        return _core.dot(w, x) - 0.5 * _core.dot(w, w)

    def spread(self, w: FloatArray) -> FloatArray:
        """Weights, or bounds of them, one a coordinate of the core."""
        return np.ascontiguousarray(w if self.ties is None else w[self.ties.place], dtype=np.float64)

    def gather(self, rows: FloatArray) -> FloatArray:
        """Planes (..., dim) from those of the core: its coordinates of one weight are added up."""
        return rows if self.ties is None else self.ties.sums(rows)

    def expand(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compact weights as ``unary (K, Dn)`` and ``pairwise (K, K, De)``; see also :meth:`clique_weights`."""
        core = self.core
        full = self._full(w)
        split = core.n_labels * core.node_dim
        return (
            full[:split].reshape(core.n_labels, core.node_dim),
            full[split : core.pairwise_end].reshape(core.n_labels, core.n_labels, core.edge_dim),
        )

    def clique_weights(self, w: FloatArray) -> tuple[FloatArray, ...]:
        """The rest of the compact weights: (T, D) of each clique group."""
        groups = self.core.cliques
        ends = self.core.pairwise_end + np.cumsum([g.n_tuples * g.dim for g in groups], dtype=np.int64)
        parts = np.split(self._full(w)[self.core.pairwise_end :], ends[:-1] - self.core.pairwise_end)
        return tuple(part.reshape(g.n_tuples, g.dim) for part, g in zip(parts, groups, strict=False))

    def compact(self, unary: AnyArray, pairwise: AnyArray, cliques: Sequence[AnyArray] = ()) -> FloatArray:
        """Inverse of :meth:`expand` and :meth:`clique_weights`; values outside the coordinates in use are dropped, and
        of tied ones the first counts."""
        own = self._in_use(unary, pairwise, cliques)
        return own if self.ties is None else own[self.ties.first]

    def plane(self, unary: AnyArray, pairwise: AnyArray, cliques: Sequence[AnyArray] = ()) -> FloatArray:
        """A joint feature map, or a difference of two, as learners have it."""
        return self.gather(self._in_use(unary, pairwise, cliques))

    def _in_use(self, unary: AnyArray, pairwise: AnyArray, cliques: Sequence[AnyArray]) -> FloatArray:
        full = np.concatenate([np.ravel(part) for part in (unary, pairwise, *cliques)]).astype(np.float64)
        return full[self.core.coordinates]

    def _full(self, w: FloatArray) -> FloatArray:
        full = np.zeros(self.core.full_dim)
        full[self.core.coordinates] = self.spread(w)
        return full

    def with_C(self, C: float) -> LearningProblem:
        """The same data and box at another trade-off."""
        return replace(self, C=float(C))

    @cached_property
    def absolute_mean(self) -> FloatArray:
        """(dim,) mean over graphs of the sum of absolute features behind each coordinate.

        Bounds every coordinate of a mean joint feature map, and so the rounding made in summing one.
        """
        core = self.core
        mean = core.absolute_feature_sums().mean(axis=0)
        return self.gather(np.asarray(mean[core.feature_columns()[core.coordinates]]))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over all that is learned from: every feature, edge, clique, label, loss weight and bound of the box,
        after the feature steps; not over C. Sparse and dense rows of equal numbers are equal.
        """
        core = self.core
        shape = (core.n_graphs, core.n_labels, core.node_dim, core.edge_dim, self.loss_scale)
        digest = hashlib.sha256(repr((*shape, [(g.order, g.dim) for g in core.cliques])).encode())
        ties = () if self.ties is None else (self.ties.place,)
        for part in (self.lower, self.upper, *ties, *core.contents()):
            digest.update(f"{part.dtype.str}{part.size};".encode())
            for start in range(0, part.size, _PIECE):  # -0 becomes 0, as in sparse rows
                digest.update(np.ascontiguousarray(part[start : start + _PIECE]) + part.dtype.type(0))
        return FINGERPRINT + digest.hexdigest()

    @cached_property
    def radius(self) -> float:
        """``R`` of Theorem B.4: bounds ``|Psi(x, y) - Psi(x, z)|`` over graphs and labelings.

        A sum of m coordinates has a square of at most m times the sum of theirs.
        """
        return self.core.feature_radius() * (1.0 if self.ties is None else math.sqrt(self.ties.most))

    @property
    def max_loss(self) -> float:
        """``Delta`` of Theorem B.4: at least the largest ``Delta_b``; ``rho K / 2`` without costs."""
        indicators = self.n_labels if self.costs is None else float(self.costs.sum(axis=1).max())
        return 0.5 * self.loss_scale * indicators


def learning_problem(
    graphs: Sequence[Graph],
    labels: Sequence[IntArray],
    *,
    n_labels: int,
    C: float,
    loss_scale: float,
    class_weight: FloatArray | None = None,
    costs: FloatArray | None = None,
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
    tuples: Sequence[IntArray] = (),
    tied: Int32Array | None = None,
    room: Room | None = None,
) -> LearningProblem:
    """Pack model-ready graphs whose every node is labelled.

    ``labels``: one (V,) integer array per graph, in ``[0, n_labels)``. ``class_weight``: (n_labels,) multiplies
    the loss weight of the nodes of each class, ``costs``: (n_labels, n_labels) that of each indicator, by
    true label (:func:`gapcut.model.losses.cost_factors`). ``tuples``: for each clique group of the graphs the (T, d)
    label codes that get weights. ``lower``, ``upper``: (full_dim,) box over
    ``[unary (K, Dn) | pairwise (K, K, De) | (T, D) of each clique group]``; default: unary free, all others
    non-negative. ``tied`` (K K,): label pairs with one number, that of the first of them,
    share their weights, whose bounds must be the same. ``room``: see :func:`gapcut.problem.packing.pack`.
    """
    core = pack(
        graphs,
        labels,
        n_labels=n_labels,
        loss_scale=loss_scale,
        class_weight=class_weight,
        costs=costs,
        tuples=tuples,
        room=room,
    )
    unary = core.n_labels * core.node_dim
    if lower is None:
        lower = np.concatenate([np.full(unary, -np.inf), np.zeros(core.full_dim - unary)])
    if upper is None:
        upper = np.full(core.full_dim, np.inf)
    numbers = None if tied is None else coordinate_numbers(tied, unary, core.edge_dim, core.full_dim)
    core.restrict_to(_coordinates_in_use(core, lower, upper, numbers))
    lower, upper = lower[core.coordinates], upper[core.coordinates]
    if tied is None or numbers is None:
        return LearningProblem(core, float(C), float(loss_scale), lower, upper)
    ties = Ties.of(tied, numbers[core.coordinates])
    for bound in (lower, upper):
        if not np.array_equal(bound, bound[ties.first][ties.place]):
            raise ValueError("weights that are tied have different bounds")
    return LearningProblem(core, float(C), float(loss_scale), lower[ties.first], upper[ties.first], ties)


def _coordinates_in_use(
    core: _core.Problem, lower: FloatArray, upper: FloatArray, numbers: IntArray | None
) -> AnyArray:
    """All but the pairwise and clique coordinates that are zero at every optimum.

    With non-negative features, a coordinate that no true joint feature map shows has ``h <= 0`` in every
    plane, so a lower bound of 0 keeps its weight at 0 (docs/mathematics.md, Learning problems).
    """
    unary = core.n_labels * core.node_dim
    never_true = core.true_feature_sum() == 0.0
    never_true[:unary] = False
    nonnegative = core.nonnegative_columns()[core.feature_columns()] != 0
    at_zero = (lower == 0.0) & ((upper == 0.0) | (never_true & nonnegative))
    if numbers is not None:  # the weight of several is in use where one of them is
        at_zero = (np.bincount(numbers, ~at_zero) == 0.0)[numbers]
    return np.flatnonzero(~at_zero).astype(np.int32)

"""What a learner may ask of an oracle.

An oracle solves the inner maximum of the learning problem, graph by graph. Whatever it does inside, ``bounds`` must
hold: it is what certificates are made of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gapcut import _core
from gapcut.engines.shards import ShardEngine
from gapcut.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from gapcut.oracles.relaxation import Relaxation

ProblemName = Literal["relaxed binary", "one-hot", "LP-relaxed one-hot"]
"""Label space of the inner maximum: {0,1}^{V x K}, one label per node, or the local polytope over the latter."""


@dataclass(frozen=True)
class SlackBound:
    """Proven upper ``bound`` of the mean slack at some weights.

    ``attained``: the slack that the oracle's own labelings reach, where they are maximisers; else ``bound`` itself.
    ``rounding``: the part of ``bound`` that pays for floating point, as far as it is not in ``bound - attained``.
    """

    bound: float
    attained: float
    rounding: float = 0.0


@dataclass(frozen=True)
class OracleTotal:
    """Means over all graphs of what :class:`OraclePlanes` holds: one plane of the 1-slack problem."""

    plane: FloatArray
    loss: float
    bound: float

    def violation(self, w: FloatArray) -> float:
        """The slack that the plane asks for at ``w``, at least 0."""
        return max(0.0, self.loss - _core.dot(self.plane, w))

    def slack(self, w: FloatArray, exact: bool = True) -> SlackBound:
        """The bound of a pass at ``w``; ``exact``: whether the labelings behind the plane are maximisers."""
        return SlackBound(self.bound, self.violation(w) if exact else self.bound)


@dataclass(frozen=True)
class OraclePlanes:
    """One labeling per graph, as a plane of the learning problem (``h_i = Psi(x_i, y_i) - Psi(x_i, z_i)``).

    ``planes`` (m, dim) rows ``h_i``; ``losses`` (m,) ``Delta_b(y_i, z_i)``; ``bounds`` (m,) proven upper bounds,
    rounding included, of ``max_z Delta_b(y_i, z) - w'(Psi(x_i, y_i) - Psi(x_i, z))``, each at least 0
    (``z = y_i`` is allowed).
    """

    planes: FloatArray
    losses: FloatArray
    bounds: FloatArray

    labels: AnyArray | None = None
    """The labelings one after the other, where the oracle gives them: (N,) codes, or (N K,) indicators."""

    def mean(self) -> OracleTotal:
        """Means of the planes of all graphs, found at the same weights; that of the bounds is proven too."""
        bound = mean_bound(float(self.bounds.sum()), len(self.bounds))
        return OracleTotal(self.planes.mean(axis=0), float(self.losses.mean()), bound)


def mean_bound(total: float, count: int) -> float:
    """At least the mean of ``count`` proven bounds that add up, in floating point and any order, to ``total``.

    The one rule for all oracles; proof in ``cpp/include/gapcut/rounding.hpp``.
    """
    return _core.mean_above(total, count)


class Oracle(ABC):
    """Loss-augmented inference on all graphs of one problem."""

    exact: bool = False
    """Whether the labelings are maximisers (up to the rounding inside ``bounds``)."""

    proven: bool = True
    """Whether ``bounds`` are numbers; without, no model is ever certified."""

    feasible: bool = True
    """Whether every plane is one of that problem's labelings, or a mixture of them; else no lower bound holds."""

    solves: ProblemName = "one-hot"
    """The learning problem whose inner maximum ``bounds`` bound and whose labelings the planes are made of."""

    elsewhere: bool = False
    """Whether other processes do the work: they are asked for many graphs at once."""

    @abstractmethod
    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        """Solve the named graphs (all by default) at compact weights ``w``.

        Raises ``gapcut.engines.OutOfTime`` if ``time_left`` seconds pass first.
        """

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        """Solve all graphs and return means, the same bits for any number of threads."""
        return self.evaluate(w, None, time_left).mean()

    def on(self, engine: ShardEngine) -> Oracle:
        """The same answers of :meth:`evaluate` from shards of the graphs where ``engine`` puts them. ValueError where
        it cannot be sent there."""
        if engine.elsewhere:
            raise ValueError(f"{type(self).__name__} works in this process only: leave engine='threads'")
        return self

    def relaxation(
        self, settings: _core.PrimalDualSettings, n_threads: int, engine: ShardEngine | None = None
    ) -> Relaxation:
        """The relaxation that this oracle solves exactly, for first-order learning; ``engine``: where its shards are,
        by default here. ValueError where it has none."""
        raise ValueError(
            f"learner='primal-dual' is not compatible with {type(self).__name__}: it needs an oracle with a relaxation"
        )

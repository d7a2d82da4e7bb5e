"""What a learner may ask of an oracle.

An oracle solves the inner maximum of the learning problem, graph by graph. Whatever it does inside, ``bounds`` must
hold: it is what certificates are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gapcut import _core
from gapcut.typing import FloatArray

ProblemName = Literal["relaxed binary", "one-hot", "LP-relaxed one-hot"]
"""Label space of the inner maximum: {0,1}^{V x K}, one label a node, or the local polytope over the latter."""


@dataclass(frozen=True)
class OraclePlanes:
    """One labeling a graph, as a plane of the learning problem (``h_i = Psi(x_i, y_i) - Psi(x_i, z_i)``).

    ``planes`` (m, dim) rows ``h_i``; ``losses`` (m,) ``Delta_b(y_i, z_i)``; ``bounds`` (m,) proven upper bounds,
    rounding included, of ``max_z Delta_b(y_i, z) - w'(Psi(x_i, y_i) - Psi(x_i, z))``, each at least 0
    (``z = y_i`` is allowed).
    """

    planes: FloatArray
    losses: FloatArray
    bounds: FloatArray

    def mean(self) -> OracleTotal:
        """Means over the graphs; that of the bounds is proven too."""
        return OracleTotal(
            self.planes.mean(axis=0),
            float(self.losses.mean()),
            mean_bound(self.bounds.sum(), len(self.bounds)),
        )


@dataclass(frozen=True)
class OracleTotal:
    """Means over all graphs of what :class:`OraclePlanes` holds: one plane of the 1-slack problem."""

    plane: FloatArray
    loss: float
    bound: float


def mean_bound(total: float, count: int) -> float:
    """At least the mean of ``count`` proven bounds that add up, in floating point and any order, to ``total``.

    The one rule for all oracles; proof in ``cpp/include/gapcut/rounding.hpp``.
    """
    return _core.mean_above(float(total), count)


class Oracle(Protocol):
    """Loss-augmented inference on all graphs of one problem."""

    exact: bool
    """Whether the labelings are maximisers (up to the rounding inside ``bounds``)."""

    feasible: bool
    """Whether every plane is one of that problem's labelings, or a mixture of them; else no lower bound holds."""

    solves: ProblemName
    """The learning problem whose inner maximum ``bounds`` bound and whose labelings the planes are made of."""

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        """Solve the named graphs (all by default) at compact weights ``w``.

        Raises ``gapcut.engines.OutOfTime`` if ``time_left`` seconds pass first.
        """
        ...

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        """Solve all graphs and return means, the same bits for any number of threads."""
        ...

"""Dual points of relaxed labels, and mixtures of them: the dual value is concave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gapcut.learners.block import plane_cache
from gapcut.learners.qp import PlaneProgram, qp_solver
from gapcut.oracles.base import OraclePlanes
from gapcut.oracles.relaxation import Point, Relaxation
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

SWEEPS: Final = 50
"""Over the graphs, at most."""

MEMORY_MB: Final = 2048.0
"""Of the planes of one mixture."""

SHORT: Final = 1.0 - 1e-12
"""Of a graph's mass that its shares may take to begin with, so that their sum does not exceed it."""


@dataclass(frozen=True)
class GraphPlanes:
    """One plane a graph, ``planes`` (n, dim) and ``losses`` (n,), of one point or labeling."""

    planes: FloatArray
    losses: FloatArray

    def mean(self) -> tuple[FloatArray, float]:
        return self.planes.mean(axis=0), float(self.losses.mean())


@dataclass(frozen=True)
class RelaxedPoint:
    """Relaxed labels, the mean ``plane`` (dim,) and ``loss`` they give, and the dual ``value`` of both; ``graphs``: the
    planes that these are means of, where points are mixed."""

    relaxed: Point
    plane: FloatArray
    loss: float
    value: float
    graphs: GraphPlanes | None = None


def mixture_of_two(
    problem: LearningProblem, relaxation: Relaxation, one: RelaxedPoint, two: RelaxedPoint, left: float | None
) -> NDArray[np.float32]:
    """The convex combination whose planes prove most; that of the labels proves no less."""
    planes, losses = np.stack([one.plane, two.plane]), np.array([one.loss, two.loss])
    program = PlaneProgram(planes, losses, problem.C, problem.lower, problem.upper)
    solved = qp_solver("dual").solve(program, tolerance=1e-6, time_left=left)
    mass = solved.alpha / problem.C
    labels = [relaxation.fetched(point.relaxed).labels for point in (one, two)]
    if mass.sum() < 0.5:  # the true labels would prove more than both
        return labels[0 if one.value > two.value else 1]
    first = np.float32(mass[0] / mass.sum())
    return np.clip(first * labels[0] + (1 - first) * labels[1], 0.0, 1.0)


class GraphMixture:
    """Of each graph its own mixture of two points and of labelings, so that all prove most; what their shares leave of
    1 is the truth's. Labelings may be added while it is solved.
    """

    def __init__(
        self,
        problem: LearningProblem,
        relaxation: Relaxation,
        one: RelaxedPoint,
        two: RelaxedPoint,
        found: Sequence[OraclePlanes],
    ) -> None:
        """First one share for all graphs: each graph alone would crawl where all err alike."""
        assert one.graphs is not None
        assert two.graphs is not None
        self._problem, self._relaxation = problem, relaxation
        self._points = one.relaxed, two.relaxed
        self._graphs = np.arange(problem.n_graphs, dtype=np.int32)
        self._cache = plane_cache(problem, one.graphs.planes, MEMORY_MB, 0)
        self.labelings: list[OraclePlanes] = []
        given = [one.graphs, two.graphs, *(GraphPlanes(more.planes, more.losses) for more in found)]
        for point in given[:2]:
            self._cache.add(self._graphs, point.planes, point.losses)
        for more in found:
            self.add(more)
        self._cache.set_masses(np.repeat(self._common_shares(given) * SHORT, problem.n_graphs))

    def _common_shares(self, given: Sequence[GraphPlanes]) -> FloatArray:
        """Of all graphs, as masses of one of them."""
        means = [point.mean() for point in given]
        planes, losses = np.stack([plane for plane, _ in means]), np.array([loss for _, loss in means])
        problem = self._problem
        program = PlaneProgram(planes, losses, problem.C, problem.lower, problem.upper)
        return qp_solver("dual").solve(program, tolerance=1e-6).alpha / problem.n_graphs

    def add(self, found: OraclePlanes) -> None:
        """Labelings of all graphs, without a share to begin with."""
        assert found.labels is not None
        self._cache.add(self._graphs, found.planes, found.losses)
        self.labelings.append(found)

    @property
    def full(self) -> bool:
        """Whether the planes of more labelings would not fit; then those without a share leave, new ones first."""
        problem = self._problem
        row = problem.n_graphs * (8 * problem.dim + 64)
        return (len(self._points) + len(self.labelings) + 1) * row > MEMORY_MB * 2**20

    def solve(self, precision: float, time_left: float | None) -> float:
        """The best shares, to an absolute ``precision``; the lower end that the mixture proves with them, about."""
        self._cache.sweep(precision, SWEEPS, time_left)
        x, loss, _ = self._cache.refresh()
        return float(loss - self._problem.conjugate(x))

    @property
    def weights(self) -> FloatArray:
        """(dim,) Those to which the shares belong."""
        return self._cache.weights

    def shares(self) -> FloatArray:
        """(2 + labelings, n) how much of each every graph takes."""
        n = self._problem.n_graphs
        return np.minimum(1.0, self._cache.masses().reshape(-1, n) * (n / self._problem.C))

    def point(self) -> Point:
        """The mixture itself."""
        labels = np.stack([found.labels for found in self.labelings if found.labels is not None])
        return self._relaxation.mixed(*self._points, labels, self.shares())

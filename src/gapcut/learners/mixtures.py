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

PRECISION: Final = 0.1
"""Of the gap wanted, to which the shares are solved."""

MEMORY_MB: Final = 2048.0

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


def mixture_of_graphs(
    problem: LearningProblem,
    relaxation: Relaxation,
    one: RelaxedPoint,
    two: RelaxedPoint,
    found: OraclePlanes,
    gap: float,
    left: float | None,
) -> Point:
    """Of each graph its own mixture of two points and the labelings found, so that all prove most; to ``gap``."""
    assert one.graphs is not None
    assert two.graphs is not None
    assert found.labels is not None
    points = [one.graphs, two.graphs, GraphPlanes(found.planes, found.losses)]
    shares = best_shares(problem, points, gap, left)
    return relaxation.mixed(one.relaxed, two.relaxed, found.labels, shares)


def best_shares(
    problem: LearningProblem, points: Sequence[GraphPlanes], gap: float, time_left: float | None
) -> FloatArray:
    """(points, n) how much of each point every graph should take so that the mixture proves most; the rest, up to 1, is
    the truth's. Solved to ``gap``, absolute.

    First one share for all graphs, then block by block: each graph alone would crawl where all err alike.
    """
    n = problem.n_graphs
    means = [point.mean() for point in points]
    planes, losses = np.stack([plane for plane, _ in means]), np.array([loss for _, loss in means])
    program = PlaneProgram(planes, losses, problem.C, problem.lower, problem.upper)
    alpha = qp_solver("dual").solve(program, tolerance=1e-6, time_left=time_left).alpha
    cache = plane_cache(problem, points[0].planes, MEMORY_MB, 0)
    graphs = np.arange(n, dtype=np.int32)
    for point in points:
        cache.add(graphs, point.planes, point.losses)
    cache.set_masses(np.repeat(alpha * (SHORT / n), n))
    cache.sweep(PRECISION * gap, SWEEPS, time_left)
    return np.minimum(1.0, cache.masses().reshape(len(points), n) * (n / problem.C))

"""Block-coordinate ascent over cached planes of every graph, with a stabilised oracle point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from gapcut import _core
from gapcut.engines.shards import ShardEngine
from gapcut.learners.base import Learner, LearnResult, Session, WarmStart
from gapcut.oracles.base import OraclePlanes, OracleTotal, mean_bound
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray, Int32Array


@dataclass(frozen=True)
class Block(Learner):
    """Multi-plane block-coordinate learning (Shah, Kolmogorov, Lampert, CVPR 2015), with weights clamped to the box.

    The dual has one simplex of mass ``C/n`` a graph over the planes the oracle has returned for it. A pass asks the
    oracle for all graphs at one point, which proves an upper bound there, and then sweeps over the cached planes until
    their gap is well under the true one; the lower bound is recomputed from planes and masses.

    The oracle is asked at ``best + stabilisation (dual - best)``, between the best weights so far and those of the dual
    (in-out separation; Ben-Ameur and Neto 2007): plane models are poor far from where they were built, and this halves
    the passes and more. 1 asks at the dual's weights.

    ``inner``: fraction of the gap to which the cached planes are solved; ``max_sweeps`` in a pass; ``keep``: passes a
    plane may stay without mass; ``memory_mb`` caps the cache; ``seed`` orders the sweeps; ``engine``: where the graphs
    are, for the caller to close. Results do not depend on threads nor on the engine.

    By default ``stabilisation`` and ``inner`` are 0.2 and 0.3 for exact planes of the relaxed binary problem, 0.4 and
    0.5 for others: those differ more from pass to pass, and bolder steps took a fifth less time on letters.
    """

    stabilisation: float | None = None
    inner: float | None = None
    max_sweeps: int = 150
    keep: int = 15
    memory_mb: float = 2048.0
    seed: int = 0
    engine: ShardEngine | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.stabilisation is not None and not 0.0 < self.stabilisation <= 1.0:
            raise ValueError(f"stabilisation={self.stabilisation!r} must lie in (0, 1]")
        if self.inner is not None and not 0.0 < self.inner < 1.0:
            raise ValueError(f"inner={self.inner!r} must lie in (0, 1)")

    def learn(self, session: Session, start: WarmStart | None = None) -> LearnResult:
        if self.engine is not None:
            session.oracle = session.oracle.on(self.engine)
        with session.guard():
            progress = self.begin(session)
            while session.goes_on:
                self.one_pass(session, progress)
        return session.result()

    def begin(self, session: Session) -> PlaneProgress:
        """Before the first pass."""
        oracle = session.oracle
        steady = oracle.exact and oracle.solves == "relaxed binary"
        stabilisation, inner = _STEADY if steady else _BOLD
        return PlaneProgress(
            stabilisation if self.stabilisation is None else self.stabilisation,
            inner if self.inner is None else self.inner,
        )

    def one_pass(self, session: Session, progress: PlaneProgress) -> None:
        """All graphs at one point, and sweeps over the planes known."""
        bounds, clock = session.bounds, session.clock
        cache = progress.cache
        w = bounds.weights if cache is None else self._oracle_point(session, cache.weights, progress)
        progress.asked = w
        total, added = self._ask(session, progress, w)
        cache = progress.cache
        assert cache is not None
        session.passes += 1
        session.calls += session.problem.n_graphs
        session.offer_primal(w, total)
        if not session.target_met:
            try:
                precision = progress.inner * _gap(session, w, total)
                progress.sweeps = cache.sweep(precision, self.max_sweeps, clock.left)
            finally:
                bounds.offer_dual(*cache.refresh())
            cache.tick(self.keep)
        progress.note(bounds.upper, bounds.lower, added)
        if progress.stalled and not session.target_met:
            session.ended = (
                "no plane is left to add and the bounds no longer move: rounding keeps the rest of the gap, "
                "scale the features or lower C"
            )
        session.record(cache.size)

    def _ask(self, session: Session, progress: PlaneProgress, w: FloatArray) -> tuple[OracleTotal, int]:
        """All graphs at ``w``: planes into the cache, made for the first of them; means, and how many were new."""
        n, added = session.problem.n_graphs, 0
        plane, loss, bound = np.zeros(session.problem.dim), 0.0, 0.0
        chunk = int(np.clip(_CHUNK_BYTES // (8 * len(w) + 1), *_CHUNK))

        def ask(w: FloatArray, graphs: Int32Array, left: float | None) -> OraclePlanes:
            return session.oracle.evaluate(w, graphs.tolist(), left)

        for graphs, answer in in_chunks(session, ask, w, chunk, session.oracle.elsewhere):
            if progress.cache is None:
                progress.cache = plane_cache(session.problem, answer.planes, self.memory_mb, self.seed)
                progress.entries = np.count_nonzero(answer.planes) / len(graphs)
            added += progress.cache.add(graphs, answer.planes, answer.losses)
            plane += answer.planes.sum(axis=0)
            loss += float(answer.losses.sum())
            bound += float(answer.bounds.sum())
        return OracleTotal(plane / n, loss / n, mean_bound(bound, n)), added

    def _oracle_point(self, session: Session, dual: FloatArray, progress: PlaneProgress) -> FloatArray:
        """Between the best weights and the dual's; closer to the latter while passes bring no new plane.

        Entries that the dual has at 0 and that have become small are set to 0 (exact zeros are what the
        oracle's speed lives on), unless that has just kept the bounds from moving.
        """
        if session.passes < _PLAIN_PASSES:
            return dual
        best = session.bounds.weights
        step = min(1.0, progress.stabilisation * 2.0 ** min(progress.quiet, 10))
        point = session.problem.clamp(best + step * (dual - best))
        if progress.idle:
            return point
        faded = (dual == 0.0) & (np.abs(point) < _FADED * np.abs(point).max(initial=0.0))
        point[faded] = 0.0
        return point


def in_chunks(
    session: Session, evaluate: Evaluate, w: FloatArray, chunk: int, elsewhere: bool
) -> Iterator[tuple[Int32Array, OraclePlanes]]:
    """All graphs at ``w``, so many at a time; ``elsewhere``: other processes are asked, for many chunks at once."""
    n = session.problem.n_graphs
    batch = max(1, _BATCH_BYTES // (8 * chunk * (len(w) + 1))) * chunk if elsewhere else chunk
    for first in range(0, n, batch):
        graphs = np.arange(first, min(n, first + batch), dtype=np.int32)
        answer = evaluate(w, graphs, session.clock.left)
        for at in range(0, len(graphs), chunk):
            part = slice(at, at + chunk)
            yield (
                graphs[part],
                OraclePlanes(answer.planes[part], answer.losses[part], answer.bounds[part]),
            )


Evaluate: TypeAlias = Callable[[FloatArray, Int32Array, float | None], OraclePlanes]
PlaneCache = _core.PlaneCache | _core.SparsePlaneCache
_STEADY, _BOLD = (0.2, 0.3), (0.4, 0.5)  # stabilisation and inner
_SPARSE_BELOW = 0.2  # density
_PLAIN_PASSES = 2  # at the dual's own weights; before that there is no best to stay near
_FADED = 1e-3
_PATIENCE = 8  # passes without a new plane or a better bound before rounding is blamed
_CHUNK = 32, 256  # graphs, least and most, whose planes are in memory beside the cache
_BATCH_BYTES = 2**28  # of planes that come from other processes at once
_CHUNK_BYTES = 2**20  # of them; what fits the processor's own memory need not be cleared and fetched again


def plane_cache(problem: LearningProblem, planes: FloatArray, memory_mb: float, seed: int) -> PlaneCache:
    """Sparse where these planes are; ``memory_mb`` is what planes like them may take."""
    density = np.count_nonzero(planes) / max(1, planes.size)
    sparse = density < _SPARSE_BELOW
    room = 12 * density * problem.dim + 128 if sparse else 8 * problem.dim + 64
    return (_core.SparsePlaneCache if sparse else _core.PlaneCache)(
        problem.n_graphs,
        problem.C / problem.n_graphs,
        problem.lower,
        problem.upper,
        max(2 * problem.n_graphs, int(memory_mb * 2**20 / room)),
        seed,
    )


def _gap(session: Session, w: FloatArray, total: OracleTotal) -> float:
    """The true gap; where the oracle proves no upper bound, that to the objective its planes show."""
    if session.bounds.bounded:
        return session.bounds.gap
    shown = 0.5 * _core.dot(w, w) + session.problem.C * total.violation(w)
    return max(0.0, shown - session.bounds.lower)


@dataclass
class PlaneProgress:
    """Of a run, from pass to pass: the ``cache`` of planes with about so many ``entries`` that are not 0, where the
    last pass ``asked`` and its ``sweeps``, and passes in a row that brought no plane (``quiet``), and that moved no
    bound either (``idle``)."""

    stabilisation: float
    inner: float
    cache: PlaneCache | None = None
    entries: float = 0.0
    asked: FloatArray | None = None
    sweeps: int = 0
    upper: float = float("inf")
    lower: float = float("-inf")
    quiet: int = 0
    idle: int = 0

    def note(self, upper: float, lower: float, added: int) -> None:
        moved = upper < self.upper or lower > self.lower
        self.quiet = 0 if added else self.quiet + 1
        self.idle = 0 if added or moved else self.idle + 1
        self.upper, self.lower = upper, lower

    @property
    def stalled(self) -> bool:
        return self.idle >= _PATIENCE

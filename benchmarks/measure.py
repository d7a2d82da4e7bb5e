"""One run, timed and judged; the same judge for everyone, and off the clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rivals.base import Claim, Rival
from rows import Row
from workloads import Workload

from gapcut.certificates import Bounds, gap_percent
from gapcut.learners import Limits
from gapcut.oracles import CutOracle, Oracle
from gapcut.oracles.kinds import KINDS
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class Conditions:
    """The same for all rows. Among ``repeat`` runs the one of median CPU time is shown; a run
    that misses the target is not repeated."""

    limits: Limits
    threads: int
    repeat: int


@dataclass(frozen=True)
class Measurement:
    """One row of the table. ``wall`` and ``cpu`` seconds of the run alone (``cpu``: all threads of the
    process); ``lower``, ``upper`` certified; ``gap`` = (upper - lower) / upper; ``nonzero`` the share of
    pairwise weights.
    """

    data: str
    C: float
    key: str
    row: str
    wall: float
    cpu: float
    passes: int
    oracle_calls: int
    lower: float
    upper: float
    gap: float
    reached: bool
    accuracy: float | None
    nonzero: float
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class _Run:
    weights: FloatArray
    lower: float
    upper: float
    passes: int
    oracle_calls: int
    note: str
    wall: float
    cpu: float


def measure_row(row: Row, workload: Workload, C: float, conditions: Conditions) -> Measurement:
    """One of our own rows."""
    problem = workload.problem.with_C(C)
    threads = conditions.threads if row.threads is None else row.threads

    def once() -> _Run:
        oracle = _oracle(row, workload, problem, threads)
        learner = row.learner(threads)
        result, wall, cpu = _timed(lambda: learner.run(problem, oracle, conditions.limits))
        proof = result.certificate
        note = "" if proof.status == "certified" else result.message.split(":")[0].split(" (")[0]
        if proof.one_hot is not None:
            note = f"one-hot gap {proof.one_hot.shown_gap()}"
        ends, counts = (proof.lower, proof.upper), (proof.passes, proof.oracle_calls)
        return _Run(result.weights, *ends, *counts, note, wall, cpu)

    runs = _repeated(once, conditions)
    return _measurement(row.key, row.title, workload, C, conditions, runs)


def measure_rival(
    key: str, title: str, rival: Rival, workload: Workload, C: float, conditions: Conditions
) -> Measurement:
    """A rival runs until it believes in its gap; both bounds are made anew from what it hands over."""
    rival.prepare(workload)

    def once() -> _Run:
        claim, wall, cpu = _timed(lambda: rival.run(workload, C, conditions.limits))
        lower, upper, weights = _judge(workload, C, claim, conditions.threads)
        note = f"its own gap {gap_percent(claim.gap)}"
        return _Run(weights, lower, upper, claim.passes, claim.oracle_calls, note, wall, cpu)

    runs = _repeated(once, conditions)
    return _measurement(key, title, workload, C, conditions, runs)


def _oracle(row: Row, workload: Workload, problem: LearningProblem, threads: int) -> Oracle:
    if workload.oracle == "cut":
        return CutOracle(problem, n_threads=threads, persistency=row.persistency)
    return KINDS[workload.oracle].make(problem, threads)


def warm_up(workload: Workload, threads: int) -> None:
    """One exact pass, so that no row pays for first-touch memory of the data."""
    if workload.oracle == "cut":
        CutOracle(workload.problem, n_threads=threads).total(np.zeros(workload.problem.dim))


def _repeated(once: Callable[[], _Run], conditions: Conditions) -> list[_Run]:
    """``repeat`` runs, or the first alone where it missed the target: its time is the limit, and will be."""
    runs = [once()]
    if runs[0].upper - runs[0].lower <= conditions.limits.gap * runs[0].upper:
        runs += [once() for _ in range(conditions.repeat - 1)]
    return runs


def _timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def _judge(workload: Workload, C: float, claim: Claim, threads: int) -> tuple[float, float, FloatArray]:
    problem = workload.problem.with_C(C)
    oracle = CutOracle(problem, n_threads=threads)
    bounds = Bounds(problem)
    weights = problem.clamp(claim.weights)
    bounds.offer_primal(weights, oracle.total(weights).slack(weights))
    if claim.alpha.size:
        loss = float(claim.alpha @ claim.losses)
        bounds.offer_dual(claim.alpha @ claim.planes, loss, len(claim.alpha) + problem.n_graphs)
    return bounds.lower, bounds.upper, bounds.weights


def _measurement(
    key: str, title: str, workload: Workload, C: float, conditions: Conditions, runs: list[_Run]
) -> Measurement:
    middle = statistics.median_low(run.cpu for run in runs)
    run = next(r for r in runs if r.cpu == middle)
    gap = (run.upper - run.lower) / run.upper if run.upper > 0.0 else 0.0
    pairwise = run.weights[workload.problem.unary_count :]
    return Measurement(
        workload.name,
        C,
        key,
        title,
        run.wall,
        run.cpu,
        run.passes,
        run.oracle_calls,
        run.lower,
        run.upper,
        gap,
        gap <= conditions.limits.gap,
        workload.accuracy(run.weights, conditions.threads),
        float(np.count_nonzero(pairwise) / max(1, pairwise.size)),
        run.note,
    )

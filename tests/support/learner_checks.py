"""What every learner must keep to, checked on tiny problems of which the optimum is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from brute_oracle import all_planes, enumerated_optimum, objective
from gapcut.learners import Learner, LearnResult, Limits
from gapcut.oracles import CutOracle, OraclePlanes, OracleTotal
from tiny import frozen_and_bounded, tiny_problem

MakeLearner = Callable[..., Learner]


class Careless:
    """Labelings that are optimal at other weights, with the true bounds: inexact, but honest."""

    exact = False
    feasible = True
    solves = "relaxed binary"
    proven = True

    def __init__(self, problem, seed: int = 0) -> None:
        self._problem, self._exact = problem, CutOracle(problem)
        self._rng = np.random.default_rng(seed)

    def evaluate(self, w, graphs=None, time_left=None) -> OraclePlanes:
        shift = self._rng.normal(size=len(w))
        other = self._exact.evaluate(self._problem.clamp(w + shift), graphs)
        return OraclePlanes(other.planes, other.losses, self._exact.evaluate(w, graphs).bounds)

    def total(self, w, time_left=None) -> OracleTotal:
        each, exact = self.evaluate(w), self._exact.total(w)
        return OracleTotal(each.planes.mean(axis=0), float(each.losses.mean()), exact.bound)


class Unbounded(Careless):
    """Proves nothing, as belief propagation does."""

    proven = False

    def evaluate(self, w, graphs=None, time_left=None) -> OraclePlanes:
        found = super().evaluate(w, graphs)
        return OraclePlanes(found.planes, found.losses, np.full(len(found.losses), np.inf))

    def total(self, w, time_left=None) -> OracleTotal:
        found = super().total(w)
        return OracleTotal(found.plane, found.loss, np.inf)


def check_bracket(problem, graphs, labels, result: LearnResult) -> None:
    """lower <= optimum <= objective at the weights <= upper, and the weights are in the box."""
    _, best = enumerated_optimum(problem, all_planes(problem, graphs, labels))
    slip = 1e-7 * (1.0 + abs(best))  # of the interior point
    assert result.certificate.lower <= best + slip
    assert (
        best - slip
        <= objective(problem, all_planes(problem, graphs, labels), result.weights)
        <= result.certificate.upper + 1e-12 * best
    )
    assert (result.weights >= problem.lower).all()
    assert (result.weights <= problem.upper).all()


def check_random_problems(make: MakeLearner, C: float, gap: float, passes: int, oracle=CutOracle) -> int:
    """Brackets on 25 random problems; returns how many were certified."""
    rng = np.random.default_rng(int(np.log10(C) * 10) + 1000)
    certified = 0
    for _ in range(25):
        problem, graphs, labels = tiny_problem(rng, n_graphs=int(rng.integers(1, 6)), max_bits=8, C=C)
        result = make().run(problem, oracle(problem), Limits(gap=gap, max_passes=passes))
        check_bracket(problem, graphs, labels, result)
        certified += result.certificate.status == "certified"
    return certified


def check_boxes(make: MakeLearner, gap: float, passes: int) -> int:
    """The same where weights are frozen or bounded; returns how many of 15 were certified."""
    rng = np.random.default_rng(5)
    certified = 0
    for _ in range(15):
        boxed, graphs, labels = frozen_and_bounded(rng)
        result = make().run(boxed, CutOracle(boxed), Limits(gap=gap, max_passes=passes))
        check_bracket(boxed, graphs, labels, result)
        certified += result.certificate.status == "certified"
    return certified


def check_threads(make: MakeLearner) -> None:
    """The same bits in every run and for any number of threads; another seed gives other ones."""
    problem, *_ = tiny_problem(np.random.default_rng(3), n_graphs=30, C=10.0)
    limits = Limits(gap=1e-3, max_passes=15)
    runs = [make().run(problem, CutOracle(problem, n_threads=t), limits) for t in (1, 1, 2, 3)]
    first, others = runs[0], runs[1:]
    for other in others:
        assert np.array_equal(first.weights, other.weights)
        assert first.certificate == other.certificate
    shuffled = make(seed=1).run(problem, CutOracle(problem), limits)
    assert not np.array_equal(first.weights, shuffled.weights)


def check_early_ends(make: MakeLearner) -> None:
    """Time limit, callback and Ctrl-C, also inside the oracle, end with a valid certificate and a reason."""
    problem, graphs, labels = tiny_problem(np.random.default_rng(6), n_graphs=4, max_bits=8, C=100.0)

    def interrupt(record):
        raise KeyboardInterrupt

    class Interrupted(CutOracle):
        calls = 0

        def evaluate(self, w, graphs=None, time_left=None):
            self.calls += 1
            if self.calls == 7:
                raise KeyboardInterrupt
            return super().evaluate(w, graphs, time_left)

    for limits, callback, oracle, reason in (
        (Limits(gap=0.0, time_limit=0.0), None, CutOracle, "time limit"),
        (Limits(gap=0.0, time_limit=0.05), None, CutOracle, "time limit"),
        (Limits(gap=0.0, max_passes=3), None, CutOracle, "max_passes=3"),
        (Limits(gap=0.0), lambda record: record.passes == 2, CutOracle, "callback"),
        (Limits(gap=0.0), interrupt, CutOracle, "by the user"),
        (Limits(gap=0.0), None, Interrupted, "by the user"),
    ):
        result = make().run(problem, oracle(problem), limits, callback)
        assert result.certificate.status == "stopped"
        assert reason in result.message
        check_bracket(problem, graphs, labels, result)


def check_counts_and_history(make: MakeLearner) -> None:
    """Passes and calls are those the oracle saw; bounds only ever get better."""
    problem, *_ = tiny_problem(np.random.default_rng(8), n_graphs=7, C=10.0)

    class Counting(CutOracle):
        graphs = 0

        def evaluate(self, w, graphs=None, time_left=None):
            self.graphs += problem.n_graphs if graphs is None else len(graphs)
            return super().evaluate(w, graphs, time_left)

        def total(self, w, time_left=None):
            self.graphs += problem.n_graphs
            return super().total(w, time_left)

    oracle = Counting(problem)
    result = make().run(problem, oracle, Limits(gap=0.0, max_passes=20))
    assert result.certificate.passes == 20 == len(result.history)
    assert result.certificate.oracle_calls == oracle.graphs == 20 * problem.n_graphs
    for before, after in zip(result.history, result.history[1:], strict=False):
        assert after.lower >= before.lower
        assert after.upper <= before.upper

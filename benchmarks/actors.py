"""Training on a Ray cluster of this machine against threads of one process: the same work, to the same bits.

    python benchmarks/actors.py [--graphs 200] [--workers 2] [--nodes 500] [--edges 5000] [--passes 3]

The first ``--passes`` certificates (0: none) with so many threads, and with so many actors of one thread, whose making
counts; an iteration of both; of the rest a question and its answer without the work, and the bytes of both. Needs the
extra ``cluster``. Rounds take turns; medians. A Markdown table goes to standard output.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import ray
from scale import CLASSES, room_graph

from gapcut.engines import describe_machine
from gapcut.engines.shards import ShardEngine, ThreadShards, open_shards
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.base import LearnResult
from gapcut.oracles import CutOracle
from gapcut.problem import LearningProblem, learning_problem, shard_ends

ROUNDS, ITERATIONS, WARM = 3, 5, 15


def rooms(graphs: int, nodes: int, edges: int) -> LearningProblem:
    """Like the set of issue 22."""
    made = [room_graph(nodes, edges, seed) for seed in range(graphs)]
    labels = [np.asarray(graph.labels, dtype=np.int64) for graph in made]
    return learning_problem(made, labels, n_labels=CLASSES, C=10.0, loss_scale=100.0)


def timed(work: Callable[[], object]) -> float:
    """Seconds of wall clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--edges", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    problem = rooms(options.graphs, options.nodes, options.edges)
    ray.init(num_cpus=options.workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    engines: dict[str, tuple[int, ShardEngine]] = {
        "threads": (options.workers, ThreadShards()),
        "actors": (1, open_shards("ray")),
    }
    print(f"{describe_machine()}; {options.graphs} graphs, {len(shard_ends(problem.core)) - 1} shards\n")
    print(f"| | {options.workers} threads | {options.workers} actors | ratio |\n|---|---|---|---|")
    if options.passes:
        show(f"{options.passes} certificates, s", *whole_runs(problem, engines, options.passes))
    show("iteration, ms", *(1e3 * s for s in iterations(problem, engines)))
    pool = engines["actors"][1].spread(Nothing, [()] * (len(shard_ends(problem.core)) - 1), 1)
    order, answer = np.zeros(problem.core.full_dim), np.zeros(problem.core.full_dim)
    asks = [timed(lambda: pool.call("ask", order, len(answer))) for _ in range(50)]
    milliseconds = 1e3 * statistics.median(asks)
    print(
        f"\nA question without work: {milliseconds:.2f} ms, {order.nbytes:,} bytes to each actor and from each shard."
    )
    engines["actors"][1].close()
    ray.shutdown()


class Nothing:
    """A shard that answers at once."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def ask(self, order: np.ndarray, size: int) -> np.ndarray:
        return np.zeros(size)


def show(what: str, threads: float, actors: float) -> None:
    """A line of the table."""
    print(f"| {what} | {threads:.2f} | {actors:.2f} | {actors / threads:.2f} |", flush=True)


def whole_runs(
    problem: LearningProblem, engines: dict[str, tuple[int, ShardEngine]], passes: int
) -> tuple[float, float]:
    """Seconds, start of the actors included; the results must be the same bits."""
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    found: dict[str, LearnResult] = {}
    for _ in range(ROUNDS):
        for name, (threads, engine) in engines.items():
            learner = PrimalDual(n_threads=threads, engine=engine)
            oracle = CutOracle(problem, threads)
            start = time.perf_counter()
            found[name] = learner.run(problem, oracle, Limits(gap=0.0, max_passes=passes))
            seconds[name].append(time.perf_counter() - start)
    assert np.array_equal(found["threads"].weights, found["actors"].weights)
    assert found["threads"].certificate == found["actors"].certificate
    return statistics.median(seconds["threads"]), statistics.median(seconds["actors"])


def iterations(problem: LearningProblem, engines: dict[str, tuple[int, ShardEngine]]) -> tuple[float, float]:
    """Seconds of one, after so many that label pairs in use are those of a run."""
    relaxations = []
    for threads, engine in engines.values():
        relaxation = CutOracle(problem, threads).relaxation(PrimalDual().native(), threads, engine)
        relaxation.advance(WARM)
        relaxations.append(relaxation)
    rounds = [
        [timed(lambda r=relaxation: r.advance(ITERATIONS)) / ITERATIONS for relaxation in relaxations]
        for _ in range(ROUNDS)
    ]
    threads_s, actors_s = (statistics.median(column) for column in zip(*rounds, strict=True))
    return threads_s, actors_s


if __name__ == "__main__":
    main()

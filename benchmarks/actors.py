"""Training on a Ray cluster of this machine against threads of one process: the same work, to the same bits.

    python benchmarks/actors.py [--graphs 200] [--workers 2] [--nodes 500] [--edges 5000] [--passes 3] [--oracle cut]
        [--apart]

The first ``--passes`` certificates (0: none) with so many threads, and with so many actors of one thread, whose making
counts; an iteration of both, by the clock and by the processor: CPU seconds of the process (threads), and of the
busiest actor and of the driver, which work one after the other; of the rest a question and its answer without the work,
and the bytes of both. The processor's figures do not depend on what else the machine does: "critical" is the longest
way through an iteration, which is its time where each thread or actor has a core. Needs the extra ``cluster``. Rounds
take turns, or with ``--apart`` threads have theirs first and then leave the memory to the actors; medians. A Markdown
table goes to standard output.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import ray
from scale import CLASSES, room_graph

from gapcut.engines import describe_machine
from gapcut.engines.shards import ShardEngine, ThreadShards, open_shards
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.base import LearnResult
from gapcut.oracles import CutOracle, Oracle
from gapcut.oracles.lp import LpOracle
from gapcut.oracles.relaxation import Relaxation
from gapcut.problem import LearningProblem, learning_problem, shard_ends

ROUNDS, ITERATIONS, WARM = 3, 5, 15
ORACLES: dict[str, Callable[..., Oracle]] = {"cut": CutOracle, "lp": lambda problem, _: LpOracle(problem)}


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
    parser.add_argument("--oracle", choices=["cut", "lp"], default="cut")
    parser.add_argument("--apart", action="store_true")
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
        show(
            f"{options.passes} certificates, s", *whole_runs(problem, engines, options.passes, options.oracle)
        )
    for what, threads, actors in iterations(problem, engines, options):
        show(what, threads, actors)
    pool = engines["actors"][1].spread(Nothing, [()] * (len(shard_ends(problem.core)) - 1), 1)
    order, answer = np.zeros(problem.core.full_dim), np.zeros(problem.core.full_dim)
    before = time.process_time()
    asks = [timed(lambda: pool.call("ask", order, len(answer))) for _ in range(50)]
    driver = time.process_time() - before
    milliseconds = 1e3 * statistics.median(asks)
    print(
        f"\nA question without work: {milliseconds:.2f} ms, {order.nbytes:,} bytes to each actor and from each shard; "
        f"of the driver's processor {1e3 * driver / 50:.2f} ms."
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
    ratio = f"{actors / threads:.2f}" if threads else ""
    print(f"| {what} | {threads:.2f} | {actors:.2f} | {ratio} |", flush=True)


def whole_runs(
    problem: LearningProblem, engines: dict[str, tuple[int, ShardEngine]], passes: int, oracle_name: str
) -> tuple[float, float]:
    """Seconds, start of the actors included; the results must be the same bits."""
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    found: dict[str, LearnResult] = {}
    for _ in range(ROUNDS):
        for name, (threads, engine) in engines.items():
            learner = PrimalDual(n_threads=threads, engine=engine)
            oracle = ORACLES[oracle_name](problem, threads)
            start = time.perf_counter()
            found[name] = learner.run(problem, oracle, Limits(gap=0.0, max_passes=passes))
            seconds[name].append(time.perf_counter() - start)
    assert np.array_equal(found["threads"].weights, found["actors"].weights)
    assert found["threads"].certificate == found["actors"].certificate
    return statistics.median(seconds["threads"]), statistics.median(seconds["actors"])


def iterations(
    problem: LearningProblem, engines: dict[str, tuple[int, ShardEngine]], options: argparse.Namespace
) -> Iterator[tuple[str, float, float]]:
    """Milliseconds of one, after so many that label pairs in use are those of a run."""
    workers = options.workers

    def warmed(name: str) -> Relaxation:
        threads, engine = engines[name]
        relaxation = ORACLES[options.oracle](problem, threads).relaxation(
            PrimalDual().native(), threads, engine
        )
        relaxation.advance(WARM)
        return relaxation

    rounds: dict[str, list[tuple[float, float, float]]] = {name: [] for name in engines}
    if options.apart:
        for name, found in rounds.items():
            relaxation = warmed(name)
            found += [one_round(relaxation) for _ in range(ROUNDS)]
            del relaxation
    else:
        relaxations = {name: warmed(name) for name in engines}
        for _ in range(ROUNDS):
            for name, found in rounds.items():
                found.append(one_round(relaxations[name]))
    threads, actors = (np.median(found, axis=0) * (1e3 / ITERATIONS) for found in rounds.values())
    yield "iteration, ms", threads[0], actors[0]
    yield "of the processor: threads together; busiest actor", threads[1], actors[2]
    yield "of the processor: driver", 0.0, actors[1]
    yield "critical, ms", threads[1] / workers, actors[1] + actors[2]


def one_round(relaxation: Relaxation) -> tuple[float, float, float]:
    """Seconds of some iterations: of the clock, of this process, of the busiest actor."""
    before, own = actor_seconds(), time.process_time()
    wall = timed(lambda: relaxation.advance(ITERATIONS))
    busiest = max((now - before[pid] for pid, now in actor_seconds().items()), default=0.0)
    return wall, time.process_time() - own, busiest


def actor_seconds() -> dict[int, float]:
    """User and system, of each actor."""
    tick, found = os.sysconf("SC_CLK_TCK"), {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                if (folder / "cmdline").read_bytes().startswith(b"ray::Holder"):
                    numbers = (folder / "stat").read_text().rpartition(")")[2].split()
                    found[int(folder.name)] = (int(numbers[11]) + int(numbers[12])) / tick
    return found


if __name__ == "__main__":
    main()

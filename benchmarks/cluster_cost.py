"""What an iteration on a cluster costs: a model, checked with 1, 2 and 3 actors of this machine, and what it says of
others.

    python benchmarks/cluster_cost.py [--graphs 140] [--nodes 500] [--edges 5000] [--machines 64] [--far 1e9]
        [--network 1.0]

With A actors, S shards and P label pairs in use, an iteration of ``oracle="cut"`` sends 8 (weights + K^2 + K + 5) bytes
to each actor, gets 8 (K Dn + P (De + 1) + 1) bytes from each shard, and takes

    graphs' side / A  +  weights' side  +  a question without work, for A actors  +  bytes / network

The graphs' side grows with the edges, the weights' side does not; both are measured with one actor, by the processor.
A question is measured for each A (the shortest of fifty), and is a straight line of A beyond. ``--network`` in GB/s
counts elsewhere only: here processes share memory. Measured is the processor's time of the busiest actor and of the
driver, which work one after the other, and the question: what an iteration takes where each actor has a core. A
Markdown table goes to standard output. Needs the extra ``cluster``.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
import ray
from actors import ITERATIONS, WARM, Nothing, actor_seconds, rooms, timed

from gapcut.engines import describe_machine
from gapcut.engines.shards import open_shards
from gapcut.learners import PrimalDual
from gapcut.oracles import CutOracle
from gapcut.problem import LearningProblem, shard_ends
from gapcut.problem.shards import MOST

ROUNDS = 3


@dataclass(frozen=True)
class Measured:
    """Milliseconds of an iteration with so many actors: the busiest one, the driver, a question without work."""

    actors: int
    busiest: float
    driver: float
    question: float
    pairs: int


def measured(problem: LearningProblem, actors: int) -> Measured:
    """With actors of a cluster of this machine."""
    ray.init(num_cpus=actors, include_dashboard=False, log_to_driver=False, logging_level="error")
    engine = open_shards("ray")
    relaxation = CutOracle(problem).relaxation(PrimalDual().native(), 1, engine)
    relaxation.advance(WARM)
    busiest, driver = [], []
    for _ in range(ROUNDS):
        before, own = actor_seconds(), time.process_time()
        relaxation.advance(ITERATIONS)
        driver.append(time.process_time() - own)
        busiest.append(max(now - before[pid] for pid, now in actor_seconds().items()))
    pairs = relaxation.state.active_pairs
    down, up = message_bytes(problem, pairs)
    pool = engine.spread(Nothing, [()] * (len(shard_ends(problem.core)) - 1), 1)
    order = np.zeros(down // 8)
    question = min(timed(lambda: pool.call("ask", order, up // 8)) for _ in range(50))
    engine.close()
    ray.shutdown()
    scale = 1e3 / ITERATIONS
    return Measured(actors, scale * min(busiest), scale * min(driver), 1e3 * question, pairs)


def message_bytes(problem: LearningProblem, pairs: int) -> tuple[int, int]:
    """To an actor, and from a shard."""
    core = problem.core
    down = 8 * (core.full_dim + core.n_labels**2 + core.n_labels + 5)
    return down, 8 * (core.n_labels * core.node_dim + pairs * (core.edge_dim + 1) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=140)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--edges", type=int, default=5000)
    parser.add_argument("--machines", type=int, default=64)
    parser.add_argument("--far", type=float, default=1e9)
    parser.add_argument("--network", type=float, default=1.0)
    options = parser.parse_args()
    problem = rooms(options.graphs, options.nodes, options.edges)
    shards, edges = len(shard_ends(problem.core)) - 1, int(problem.core.edge_offset[-1])
    print(f"{describe_machine()}; {shards} shards\n")
    print("| actors | edges | kB to actors | kB from shards | model, ms | measured, ms |\n|" + "---|" * 6)
    found = [measured(problem, actors) for actors in (1, 2, 3)]
    first = found[0]
    for own in found:
        down, up = message_bytes(problem, own.pairs)
        told = first.busiest / own.actors + first.driver + own.question
        took = own.busiest + own.driver + own.question
        show(own.actors, edges, down * own.actors, up * shards, told, f"{took:.0f}")
    slope, start = np.polyfit([own.actors for own in found], [own.question for own in found], 1)
    actors = min(MOST, options.machines)
    down, up = message_bytes(problem, found[-1].pairs)
    sent = (down * actors + up * MOST) / options.network / 1e6
    question = max(0.0, slope) * actors + max(0.0, start)
    told = first.busiest * options.far / edges / actors + first.driver + question + sent
    show(actors, int(options.far), down * actors, up * MOST, told, "")
    bytes_of_edge = 12 * first.pairs + 24 * problem.core.edge_dim
    print(
        f"\nOf it {question:.0f} ms questions, {sent:.1f} ms network, {first.driver:.0f} ms weights' side; "
        f"{bytes_of_edge * options.far / actors / 2**30:.0f} GiB an actor."
    )


def show(actors: int, edges: int, down: int, up: int, told: float, took: str) -> None:
    """A line of the table."""
    print(f"| {actors} | {edges:,} | {down / 1e3:.0f} | {up / 1e3:.0f} | {told:,.0f} | {took} |", flush=True)


if __name__ == "__main__":
    main()

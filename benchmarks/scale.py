"""How training grows: twice the edges, twice the threads, one huge graph, a thousand graphs.

    python benchmarks/scale.py [--part doubling,threads,large,many] [--largest 125000]

``doubling``: planted graphs of 15,625 edges and up (to ten million arcs of label pairs), time of an iteration, of
the slack bound, of an exact cut (started evenly, and from the arc multipliers) and of a repair, and their ratio to half
the size. ``large``: one graph of
100,000 nodes, 1,000,000 edges, 13 classes, 8 edge features, trained to 1 %. ``many``: 1,000 graphs of 500 nodes. Both
learn the relaxed binary problem, or with ``--oracle lp`` one label a node (weights >= 0 in both, so that only the
problem differs).
``threads``: tables and scenes with one thread and with two, one after the other. Peak memory is that of a process of
its own; medians over ``--repeat``. A Markdown table goes to standard output.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from workloads import SHARED, load

from gapcut import Graph, GraphSet
from gapcut.engines import describe_machine, peak_memory_mb
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.base import Session
from gapcut.learners.primal_dual import Steps
from gapcut.oracles import CutOracle
from gapcut.oracles.kinds import KINDS
from gapcut.problem import LearningProblem, learning_problem

CLASSES, EDGE_FEATURES = 13, 8


def room_graph(n_nodes: int, n_edges: int, seed: int) -> Graph:
    """Nodes in a box, labels by region with noise, edges to near neighbours, eight non-negative edge features whose
    means the label pair decides, two of them indicators.
    """
    rng = np.random.default_rng(seed)
    affinity = np.random.default_rng(7).random((CLASSES, CLASSES, EDGE_FEATURES)) ** 3
    centres = np.random.default_rng(8).random((CLASSES * 4, 3))
    position = rng.random((n_nodes, 3))
    distance, nearest = cKDTree(centres).query(position, k=3)
    choice = np.argmin(distance + 0.05 * rng.gumbel(size=distance.shape), axis=1)
    labels = nearest[np.arange(n_nodes), choice] % CLASSES
    per_node = -(-n_edges // n_nodes)
    _, near = cKDTree(position).query(position, k=per_node + 1)
    pairs = np.column_stack([np.repeat(np.arange(n_nodes), per_node), near[:, 1:].ravel()])
    pairs = pairs[np.sort(rng.permutation(len(pairs))[:n_edges])]
    mean = affinity[labels[pairs[:, 0]], labels[pairs[:, 1]]]
    features = np.clip(mean + 0.15 * rng.normal(size=mean.shape), 0.0, 1.0)
    features[:, :2] = rng.random((len(pairs), 2)) < mean[:, :2]
    logits = rng.normal(size=(n_nodes, CLASSES))
    logits[np.arange(n_nodes), labels] += 1.5
    belief = np.exp(logits)
    return Graph(belief / belief.sum(axis=1, keepdims=True), pairs, features, labels)


def problem_of(graphs: GraphSet, C: float) -> LearningProblem:
    codes = [np.asarray(g.labels, dtype=np.int64) for g in graphs]
    return learning_problem(graphs, codes, n_labels=CLASSES, C=C, loss_scale=100.0)


def median_of(work: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def head(title: str, columns: str) -> None:
    names = columns.split("|")
    print(f"\n## {title}\n\n| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)


def doubling(options: argparse.Namespace) -> None:
    """Times of an iteration, of the bound from arc multipliers, of a cut started evenly and from them, of a repair,
    each summed over ``--instances`` graphs of one size: cuts differ from graph to graph.
    """
    parts = ("iteration", "slack bound", "cut", "cut from multipliers", "repair")
    columns = "|".join(f"{part} ms|x" for part in parts)
    head("Twice the edges", f"nodes|edges|arcs of active pairs|arcs of the cut|{columns}")
    before: list[float] = []
    edges = 15_625
    while edges <= options.largest:
        runs = [_parts(edges, seed, options.repeat) for seed in range(options.instances)]
        active, arcs, *now = [sum(column) / len(runs) for column in zip(*runs, strict=True)]
        ratios = [f"{b / a:.2f}" for a, b in zip(before, now, strict=True)] if before else ["-"] * len(now)
        cells = [f"{edges // 10:,}", f"{edges:,}", f"{active:,.0f}", f"{arcs:,.0f}"]
        for seconds, ratio in zip(now, ratios, strict=True):
            cells += [f"{1e3 * seconds:.1f}", ratio]
        print(f"| {' | '.join(cells)} |", flush=True)
        before, edges = now, 2 * edges


def _parts(edges: int, seed: int, repeat: int) -> tuple[float, ...]:
    problem = problem_of(GraphSet((room_graph(edges // 10, edges, seed),)), 1.0)
    oracle = CutOracle(problem, n_threads=1)
    steps = Steps(PrimalDual(n_threads=1), problem, oracle)
    relaxation = steps.relaxation
    relaxation.state.advance(60)
    w, labels = problem.clamp(relaxation.state.weights()), relaxation.labels()
    session = Session(problem, oracle, Limits(gap=1e-2))
    session.offer_primal(w, relaxation.total(w, None))
    times = (
        median_of(lambda: relaxation.state.advance(4), repeat) / 4,
        median_of(lambda: relaxation.slack(w, None), repeat),
        median_of(lambda: oracle.total(w), 1),
        median_of(lambda: relaxation.total(w, None), repeat),
        median_of(lambda: steps._repaired(session, labels), 1),
    )
    return edges * relaxation.state.active_pairs, oracle.statistics(w)["arcs"], *times


def _train(
    graphs: Callable[[], GraphSet], kind: str, C: float, threads: int, limit: float, out: object
) -> None:
    start = time.perf_counter()
    built = graphs()
    problem = problem_of(built, C)
    data = peak_memory_mb()
    packed, cpu = time.perf_counter(), time.process_time()
    limits, oracle = Limits(gap=1e-2, time_limit=limit), KINDS[kind].make(problem, threads)
    result = PrimalDual(n_threads=threads).run(problem, oracle, limits)
    proof = result.certificate
    end = time.perf_counter()
    out.send(
        [
            packed - start,
            end - packed,
            time.process_time() - cpu,
            proof.shown_gap(),
            proof.passes,
            data,
            peak_memory_mb(),
        ]
    )  # type: ignore[attr-defined]


def one_graph() -> GraphSet:
    return GraphSet((room_graph(100_000, 1_000_000, 1),))


def thousand_graphs() -> GraphSet:
    return GraphSet(tuple(room_graph(500, 5_000, seed) for seed in range(1000)))


def trained(title: str, graphs: Callable[[], GraphSet], options: argparse.Namespace) -> None:
    """In a process of its own, so that its peak memory is its own."""
    head(title, "C|data ready s|training s|CPU s|gap|certificates|MB before training|peak MB")
    context = multiprocessing.get_context("spawn")
    for C in (float(c) for c in options.C.split(",")):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(
            target=_train, args=(graphs, options.oracle, C, options.threads, options.limit, sender)
        )
        child.start()
        sender.close()
        ready, wall, cpu, gap, passes, before, peak = receiver.recv()
        child.join()
        times = f"{ready:.1f} | {wall:.1f} | {cpu:.1f}"
        print(f"| {C:g} | {times} | {gap} | {passes} | {before:.0f} | {peak:.0f} |", flush=True)


def threads(options: argparse.Namespace) -> None:
    head("Two threads", "data|C|one thread s|two threads s|speed-up")
    for name in ("tables", "scenes"):
        workload = load(name, options.shared)
        for C in (1.0, 10.0):
            problem = workload.problem.with_C(C)

            def run(n: int, problem: LearningProblem = problem) -> object:
                return PrimalDual(n_threads=n).run(problem, CutOracle(problem, n_threads=n), Limits(gap=1e-2))

            run(2)
            times: dict[int, list[float]] = {1: [], 2: []}
            for _ in range(options.repeat):
                for n in (1, 2):
                    times[n].append(median_of(lambda n=n: run(n), 1))  # type: ignore[misc]
            one, two = statistics.median(times[1]), statistics.median(times[2])
            print(f"| {name} | {C:g} | {one:.2f} | {two:.2f} | {one / two:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", default="doubling,threads,large,many")
    parser.add_argument("--largest", type=int, default=125_000, help="edges of the largest doubled graph")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--instances", type=int, default=3, help="graphs of each size that is doubled")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--C", default="1", help="trade-offs of large and many, separated by commas")
    parser.add_argument(
        "--oracle", choices=["cut", "lp"], default="cut", help="the problem of large and many"
    )
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds a training run")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder with the data")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    parts = options.part.split(",")
    if "doubling" in parts:
        doubling(options)
    if "threads" in parts:
        threads(options)
    if "large" in parts:
        trained("One graph: 100,000 nodes, 1,000,000 edges, 13 classes, 8 edge features", one_graph, options)
    if "many" in parts:
        trained("1,000 graphs of 500 nodes and 5,000 edges", thousand_graphs, options)


if __name__ == "__main__":
    main()

"""How training grows with the number of cliques, and what graphs without cliques pay for their existence.

    python benchmarks/cliques.py [--part growth] [--largest 128000]
    python benchmarks/cliques.py --part incidence
    python benchmarks/cliques.py --part plain --other PATH/TO/OTHER/python [--repeats 5]

``growth``: generated graphs, as many cliques as nodes, twice as many from row to row: in twice the graphs, or in 20
graphs of twice the size (features then sum to twice as much, so C is divided by 4 to ask for the same). CPU seconds of
one exact pass at the learned weights, of training to a certified gap of 1 %, and their ratio to the row before.

``incidence``: test accuracy with and without the sums of clique features at the nodes, and with and without the clique
terms themselves, on generated graphs and on words with every three letters in a row as a clique.

``plain``: tables and scenes, no cliques: CPU seconds of exact passes at fixed weights and of training by the default
learner and by ``block``, with this interpreter's gapcut and with another's (an older version), in turns in processes of
their own; medians and their ratio. Above 1: this version is faster.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from workloads import SHARED, load

from gapcut import Graph, StructuredSVM, datasets
from gapcut.engines import describe_machine
from gapcut.features import FeaturePipeline
from gapcut.learners import Block, Limits, PrimalDual
from gapcut.model.settings import Settings
from gapcut.model.training import build_problem, training_set
from gapcut.oracles import CutOracle

try:
    from gapcut import CliqueSet
except ImportError:  # an older version, which --part plain may name
    CliqueSet = None  # type: ignore[assignment,misc]

CLASSES, GRAPHS = 4, 20


def planted(rng: np.random.Generator, n_nodes: int, n_cliques: int) -> Graph:
    """Noisy nodes, a ring of edges, and triples of neighbours. A third of the 64 label tuples are regular; a feature of
    a triple says, wrongly in one case of five, whether its labels are.
    """
    regular = np.random.default_rng(7).random((CLASSES,) * 3) < 1 / 3
    labels = rng.integers(CLASSES, size=n_nodes)
    nodes = 0.8 * np.eye(CLASSES)[labels] + 0.5 * rng.normal(size=(n_nodes, CLASSES))
    ring = np.column_stack([np.arange(n_nodes), (np.arange(n_nodes) + 1) % n_nodes])
    same = (labels[ring[:, 0]] == labels[ring[:, 1]]) + 0.3 * rng.random(n_nodes)
    first = rng.integers(n_nodes, size=n_cliques)
    steps = np.cumsum(rng.integers(1, 10, size=(n_cliques, 2)), axis=1)
    triples = np.column_stack([first, (first + steps[:, 0]) % n_nodes, (first + steps[:, 1]) % n_nodes])
    told = regular[tuple(labels[triples].T)] ^ (rng.random(n_cliques) < 0.2)
    return Graph(
        nodes, ring, same[:, None], labels, cliques=[CliqueSet(triples, np.column_stack([told, ~told]))]
    )


def growth(options: argparse.Namespace) -> None:
    for kind in ("more graphs", "larger graphs"):
        print(
            f"\n## {kind}\n\n| graphs | cliques | closure items | pass ms | x | training s | x | passes | gap |"
        )
        print(f"|{'---|' * 9}", flush=True)
        before = None
        cliques = options.smallest
        while cliques <= options.largest:
            rng = np.random.default_rng(0)
            times = cliques // options.smallest
            size, count = options.smallest // GRAPHS, GRAPHS
            size, count = (size, count * times) if kind == "more graphs" else (size * times, count)
            graphs = [planted(rng, size, size) for _ in range(count)]
            svm = StructuredSVM(C=0.1 if kind == "more graphs" else 0.1 / times**2)
            settings = Settings.checked(svm.get_params())
            data = training_set(graphs, settings)
            problem = build_problem(data, settings.settled(data.graphs))
            oracle = CutOracle(problem)
            start = time.process_time()
            result = Block().run(problem, oracle, Limits(gap=1e-2, time_limit=options.limit))
            trained = time.process_time() - start
            passes = []
            for _ in range(options.repeats):
                start = time.process_time()
                oracle.total(result.weights)
                passes.append(time.process_time() - start)
            now = (statistics.median(passes), trained)
            x = ["-", "-"] if before is None else [f"{b / a:.2f}" for a, b in zip(before, now, strict=True)]
            proof = result.certificate
            items = oracle.statistics(result.weights)["variables"] - cliques * CLASSES
            print(
                f"| {count} | {cliques:,} | {items:,} | {1e3 * now[0]:.1f} | {x[0]} | {trained:.2f} | {x[1]} | "
                f"{proof.passes} | {proof.shown_gap()} |",
                flush=True,
            )
            before, cliques = now, 2 * cliques


def trigrams(graph: Graph) -> Graph:
    """A word with its letters in threes."""
    first = np.arange(max(0, graph.n_nodes - 2))
    triples = np.column_stack([first, first + 1, first + 2])
    return graph.replace(cliques=[CliqueSet(triples, np.ones((len(triples), 1)))])


def incidence_data(name: str, shared: Path) -> tuple[list[Graph], list[Graph]]:
    """Training and test graphs."""
    if name == "letters":
        train, test = datasets.load_letters(shared / "data" / "letters")
        return [trigrams(g) for g in train], [trigrams(g) for g in test[:600]]
    per_node = {"sparse": 1, "dense": 4}[name]
    parts = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        parts.append([planted(rng, 200, 200 * per_node) for _ in range(GRAPHS)])
    return parts[0], parts[1]


def incidence(options: argparse.Namespace) -> None:
    print(
        "| data | C | sums | terms | accuracy | gap | training s |\n|---|---|---|---|---|---|---|", flush=True
    )
    for name, values in (("sparse", (1.0,)), ("dense", (0.1, 1.0, 10.0)), ("letters", (10.0, 100.0, 1000.0))):
        train, test = incidence_data(name, options.shared)
        pipeline = FeaturePipeline().fit(train)
        other = np.array([not column.startswith("at ") for column in pipeline.node_names])

        def ready(graph: Graph, sums: bool, terms: bool, pipeline=pipeline, other=other) -> Graph:  # type: ignore[no-untyped-def]
            graph = pipeline.transform(graph)
            graph = graph if sums else graph.with_features(graph.node_features[:, other])
            return graph if terms else graph.replace(cliques=None)

        for C, sums, terms in product(values, (False, True), (False, True)):
            svm = StructuredSVM(
                C=C,
                **{"standardize": False, "incidence": False, "intercept": False, "edge_lift": "none"},
                time_limit=options.limit,
            )
            start = time.process_time()
            svm.fit([ready(g, sums, terms) for g in train])
            trained = time.process_time() - start
            accuracy = svm.score([ready(g, sums, terms) for g in test])
            gap = svm.certificate_.shown_gap()
            print(
                f"| {name} | {C:g} | {sums} | {terms} | {accuracy:.4f} | {gap} | {trained:.1f} |",
                flush=True,
            )


def child(data: str, shared: Path) -> None:
    """Measurements with this interpreter's package: CPU seconds of each task as JSON."""
    problem = load(data, shared).problem
    oracle = CutOracle(problem)
    rng = np.random.default_rng(0)
    w = 0.1 * rng.normal(size=problem.dim)
    rest = problem.unary_count
    w[rest:] = np.abs(w[rest:]) * (rng.random(problem.dim - rest) < 0.1)

    def passes() -> None:
        for _ in range(20):
            oracle.total(w)

    limits = Limits(gap=1e-2, time_limit=300.0)
    tasks = {
        "20 exact passes": passes,
        "primal-dual": lambda: PrimalDual().run(problem, oracle, limits),
        "block": lambda: Block().run(problem, oracle, limits),
    }
    oracle.total(w)
    found = {}
    for name, task in tasks.items():
        start = time.process_time()
        task()
        found[name] = time.process_time() - start
    print(json.dumps(found))


def plain(options: argparse.Namespace) -> None:
    if options.other is None:
        raise SystemExit("--part plain compares with another version: name its interpreter with --other")
    print("| data | task | this s | other s | other / this |\n|---|---|---|---|---|", flush=True)
    for data in options.data.split(","):
        found: dict[str, list[dict[str, float]]] = {sys.executable: [], options.other: []}
        for _ in range(options.repeats):
            for python, runs in found.items():
                command = [python, __file__, "--child", data, "--shared", str(options.shared)]
                runs.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
        for task in found[sys.executable][0]:
            this, other = (statistics.median(run[task] for run in runs) for runs in found.values())
            print(f"| {data} | {task} | {this:.2f} | {other:.2f} | {other / this:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("growth", "incidence", "plain"), default="growth")
    parser.add_argument("--smallest", type=int, default=8_000, help="cliques of the first row")
    parser.add_argument("--largest", type=int, default=128_000, help="cliques of the last row")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of one training")
    parser.add_argument("--other", help="interpreter of another version")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--data", default="tables,scenes", help="for --part plain")
    parser.add_argument("--child", metavar="DATA", help=argparse.SUPPRESS)
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    if options.child is not None:
        child(options.child, options.shared)
    elif options.part == "growth":
        growth(options)
    elif options.part == "incidence":
        incidence(options)
    else:
        plain(options)


if __name__ == "__main__":
    main()

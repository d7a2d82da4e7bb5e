"""The headline workloads on every target that the processor has, in one run, and their ratios to the fastest target.

    python benchmarks/targets.py [--targets baseline,v3] [--repeats 3] [--only tables,scenes,trws,labelling]

Each target has a process of its own (``GAPCUT_TARGET``) with one thread; figures are CPU seconds, the least of the
repeats. ``trws K=5`` is nanoseconds per table entry and half-sweep; ``labelling`` labels the 20 training scenes with
weights after 60 iterations.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits
from trws_speed import measure, random_energy
from workloads import Workload, load

from gapcut.engines import describe_machine, targets
from gapcut.inference import model_energy, solve_many
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.primal_dual import Steps
from gapcut.oracles import CutOracle
from gapcut.problem import row_matrix

GROUPS = ("tables", "scenes", "trws", "labelling")
TRADE_OFFS = {"tables": (1.0, 10.0, 100.0), "scenes": (1.0,)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).resolve().parents[1]
    parser.add_argument("--targets", default=",".join(targets()), help="names, separated by commas")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shared", type=Path, default=here.parent / "shared", help="folder with the data")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        _one_target(options)
        return
    names = options.targets.split(",")
    rows = {name: _in_process(name, sys.argv[1:]) for name in names}
    print(describe_machine() + "\n")
    print(f"| workload | {' | '.join(names)} | {' | '.join(f'{n} / {names[-1]}' for n in names[:-1])} |")
    print("|---" * 2 * len(names) + "|")
    for workload in rows[names[-1]]:
        times = [rows[name][workload] for name in names]
        shown = [f"{t:.3g}" for t in times] + [f"{t / times[-1]:.2f}" for t in times[:-1]]
        print(f"| {workload} | {' | '.join(shown)} |")


def _in_process(target: str, arguments: list[str]) -> dict[str, float]:
    """The times of one target."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments, "--one"],
        env={**os.environ, "GAPCUT_TARGET": target},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    times: dict[str, float] = json.loads(done.stdout)
    return times


def _one_target(options: argparse.Namespace) -> None:
    only, repeats = options.only.split(","), options.repeats
    times: dict[str, float] = {}
    with threadpool_limits(1):
        for name, values in TRADE_OFFS.items():
            if name not in only:
                continue
            workload = load(name, options.shared)
            for C in values:
                times[f"{name} C={C:g}, s"] = _least(repeats, lambda w=workload, c=C: _train(w, c))
        if "trws" in only:
            for labels in (2, 3, 5, 11):
                energy = random_energy(3_000, labels, True)
                times[f"trws K={labels}, ns"] = measure(energy, "index", repeats)[0]
        if "labelling" in only:
            times["labelling, s"] = _label(load("scenes", options.shared), repeats)
    print(json.dumps(times))


def _least(repeats: int, work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def _train(workload: Workload, C: float) -> None:
    problem = workload.problem.with_C(C)
    PrimalDual().run(problem, CutOracle(problem), Limits(gap=0.01))


def _label(workload: Workload, repeats: int) -> float:
    steps = Steps(PrimalDual(), workload.problem, CutOracle(workload.problem))
    steps.state.advance(60)
    unary, pairwise = workload.problem.expand(steps.state.weights())
    energies = [
        model_energy(row_matrix([g.node_features]), g.edges, row_matrix([g.edge_features]), unary, pairwise)
        for g in workload.training.graphs
    ]
    return _least(repeats, lambda: solve_many(energies, n_threads=1))


if __name__ == "__main__":
    main()

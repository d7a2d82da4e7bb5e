"""Time of the three working-set solvers at equal tolerance, on the working sets of a real run of Algorithm 1.

    python benchmarks/qp_solvers.py [--tables FOLDER] [--C 1] [--planes 10 40 100] [--tolerance 1e-3]

``FOLDER`` holds the tables data set; without it planted scenes are used. The cutting plane is run once, and the
first so many planes it found are a program each, solved cold by every method. Printed: seconds, the relative gap
reached (measured alike for all, by the weights clamped from alpha), and the time over that of ``dual``.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from gapcut.certificates import at_most
from gapcut.datasets import load_tables
from gapcut.engines import OutOfTime, describe_machine
from gapcut.features import FeaturePipeline
from gapcut.learners import CuttingPlane, Limits
from gapcut.learners.qp import PlaneProgram, QPResult, qp_solver
from gapcut.oracles import CutOracle, OracleTotal
from gapcut.problem import LearningProblem, learning_problem
from gapcut.scenes.datasets import make_scenes
from gapcut.typing import FloatArray


class Recorder(CutOracle):
    """Keeps the planes it returns."""

    def __init__(self, problem: LearningProblem) -> None:
        super().__init__(problem, n_threads=1)
        self.planes: list[FloatArray] = []
        self.losses: list[float] = []

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        total = super().total(w, time_left)
        self.planes.append(total.plane)
        self.losses.append(total.loss)
        return total


def load(folder: str | None, C: float) -> LearningProblem:
    graphs = load_tables(folder)[0] if folder else make_scenes()
    pipeline = FeaturePipeline().fit(graphs)
    labels = [np.asarray(g.labels, dtype=np.int64) for g in graphs]
    return learning_problem(
        [pipeline.transform(g) for g in graphs],
        labels,
        n_labels=1 + max(int(y.max()) for y in labels),
        C=C,
        loss_scale=100.0,
    )


def solve(
    name: str,
    problem: LearningProblem,
    planes: FloatArray,
    losses: FloatArray,
    tolerance: float,
    limit: float,
) -> tuple[float, QPResult | None]:
    start = time.perf_counter()
    try:
        program = PlaneProgram(planes, losses, problem.C, problem.lower, problem.upper)
        result = qp_solver(name).solve(program, tolerance=tolerance, time_left=limit)
    except OutOfTime:
        result = None
    return time.perf_counter() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", help="folder of the tables data set; planted scenes without it")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--planes", type=int, nargs="+", default=[10, 40, 100])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a method may take on one program")
    chosen = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    problem = load(chosen.tables, chosen.C)
    oracle = Recorder(problem)
    CuttingPlane().run(problem, oracle, Limits(gap=1e-6, max_passes=max(chosen.planes)))
    print(
        f"{problem.n_graphs} graphs, {problem.dim} weights, C={problem.C:g}, tolerance {chosen.tolerance:g}"
    )
    print("| planes, solver | seconds | relative gap | times dual |\n| --- | ---: | ---: | ---: |")
    for count in chosen.planes:
        planes, losses = np.array(oracle.planes[:count]), np.array(oracle.losses[:count])
        base = 0.0
        for name in ("dual", "dcd", "clarabel"):
            seconds, result = solve(name, problem, planes, losses, chosen.tolerance, chosen.limit)
            base = seconds if name == "dual" else base
            gap = "out of time" if result is None else at_most(result.gap / (result.value + result.gap), 2)
            print(f"| {len(losses)}, {name} | {seconds:.4f} | {gap} | {seconds / base:.1f} |")


if __name__ == "__main__":
    main()

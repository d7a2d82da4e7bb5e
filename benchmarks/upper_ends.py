"""What is proven of the one-hot problem from above, at equal CPU time: ``primal-dual`` over ``lp`` and ``block`` over
``trws``.

    python benchmarks/upper_ends.py [--rows tables:1,letters:1000]

Both work on the same packed problem, with the same target, so small that neither ends much before its time. The
relaxed problem is learned first, for ``--limit`` CPU seconds, to the end of a certificate; then ``block`` has as many
as that took. The upper end of the relaxed problem is one of the one-hot problem. ``scenes`` are the planted ones,
``home`` and ``office`` all of cornell's with ``edges="knn"``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits
from workloads import SHARED, load

from gapcut.certificates import Record
from gapcut.engines import describe_machine
from gapcut.learners import Block, LearnResult, Limits, PrimalDual
from gapcut.oracles.kinds import KINDS
from gapcut.problem import LearningProblem

HEADER = (
    "| data | C | CPU s | lp: upper | gap | block over trws: upper | lower | at least as good |\n"
    + "|---" * 8
    + "|"
)
USUAL = "tables:1,tables:10,tables:100,letters:1000,snakes:50,home:1,home:10,office:1,office:10,scenes:1"


def for_cpu(seconds: float) -> Callable[[Record], bool]:
    """A callback that ends a run after so many CPU seconds."""
    start = time.process_time()
    return lambda record: time.process_time() - start >= seconds


def compared(
    problem: LearningProblem, limits: Limits, seconds: float
) -> tuple[LearnResult, float, LearnResult]:
    """The relaxed problem's run, its CPU seconds, and that of planes for as long."""
    start = time.process_time()
    relaxed = PrimalDual().run(problem, KINDS["lp"].make(problem, 1), limits, for_cpu(seconds))
    took = time.process_time() - start
    planes = Block().run(problem, KINDS["trws"].make(problem, 1), limits, for_cpu(took))
    return relaxed, took, planes


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default=USUAL, help="data:C, separated by commas")
    parser.add_argument("--limit", type=float, default=12.0, help="CPU seconds of a run")
    parser.add_argument("--gap", type=float, default=1e-4, help="target of both")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder with the data")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    print(HEADER)
    good = True
    for row in options.rows.split(","):
        name, C = row.split(":")
        problem = load(name, options.shared, "lp").problem.with_C(float(C))
        relaxed, took, planes = compared(problem, Limits(gap=options.gap), options.limit)
        proof, other = relaxed.certificate, planes.certificate
        upper = proof.upper if proof.one_hot is None else min(proof.upper, proof.one_hot.upper)
        better = upper <= other.upper
        good = good and better
        print(
            f"| {name} | {C} | {took:.1f} | {upper:.5g} | {proof.shown_gap()} | {other.upper:.5g} "
            f"| {other.lower:.5g} | {'yes' if better else '**no**'} |",
            flush=True,
        )
    return 0 if good else 1


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())

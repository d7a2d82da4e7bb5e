"""Minimum cuts compared on networks from real runs: ours, PyMaxflow's Boykov-Kolmogorov, SciPy's Dinic.

    python benchmarks/cuts.py [--data tables,scenes] [--C 1,10] [--repeats 5]

Weights are taken along runs: ``sparse`` from the default learner (most pairwise weights are exactly zero),
``planes`` from the cutting plane, ``dense`` from subgradient steps (hardly any weight is zero), ``dust`` is
``sparse`` with 1e-9 of the largest weight in place of every zero, as an interior-point method leaves it.
``core`` is what persistency leaves to the cut, ``whole`` the network without it.

Every code gets the same integer networks, one per graph, and must return the same flow values. Seconds are CPU
seconds for all graphs, building and solving, median over repeats; a ratio above 1 says that ours is faster.
SciPy takes 32-bit capacities: it is compared on networks scaled down to 31 bits, with ours timed on the same.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rivals.flow import OTHERS, OURS, FlowCode, Network
from workloads import NAMES, SHARED, Workload, load

from gapcut import _core
from gapcut.engines import describe_machine
from gapcut.learners import CuttingPlane, Learner, Limits, PrimalDual, Subgradient
from gapcut.oracles import CutOracle, OracleTotal
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

HEADER = (
    "| data | C | weights | network | passes | graphs | nodes | arcs | code | ours s | theirs s "
    "| theirs / ours |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Comparison:
    """Medians of seconds over all graphs of all moments; sizes are sums over the same."""

    data: str
    C: float
    weights: str
    network: str
    moments: int
    graphs: int
    nodes: int
    arcs: int
    code: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


class Recorder(CutOracle):
    """Notes the weights of every exact pass."""

    def __init__(self, problem: LearningProblem, n_threads: int) -> None:
        super().__init__(problem, n_threads)
        self.seen: list[FloatArray] = []

    def total(
        self, w: FloatArray, time_left: float | None = None, start: _core.PrimalDual | None = None
    ) -> OracleTotal:
        self.seen.append(np.array(w))
        return super().total(w, time_left, start)


def moments_of(learner: Learner, problem: LearningProblem, options: argparse.Namespace) -> list[FloatArray]:
    """The weights at some exact passes spread over a run; the first, at weights near 0, is left out."""
    oracle = Recorder(problem, options.threads)
    learner.run(problem, oracle, Limits(gap=options.gap, time_limit=options.limit))
    seen = oracle.seen[1:] or oracle.seen
    chosen = np.unique(np.linspace(0, len(seen) - 1, options.moments).round().astype(int))
    return [seen[i] for i in chosen]


def dusty(problem: LearningProblem, weights: FloatArray) -> FloatArray:
    """Zero pairwise weights replaced by 1e-9 of the largest weight."""
    pairwise = np.arange(problem.dim) >= problem.unary_count
    return np.where(pairwise & (weights == 0.0), 1e-9 * np.abs(weights).max(), weights)


def networks(problem: LearningProblem, moments: Sequence[FloatArray], persistency: bool) -> list[Network]:
    """One per graph and moment; graphs that need no cut are left out."""
    oracle = CutOracle(problem, persistency=persistency)
    found = (Network(*oracle.core_network(w, i)) for w in moments for i in range(problem.n_graphs))
    return [network for network in found if len(network.arcs)]


def seconds(code: FlowCode, instances: Sequence[Network]) -> tuple[float, list[int]]:
    """Time for all, and the values of the flows."""
    start = time.process_time()
    values = [code.solve(network) for network in instances]
    return time.process_time() - start, values


def compare(code: FlowCode, instances: Sequence[Network], repeats: int) -> tuple[float, float]:
    """Median seconds of ours and of ``code``, in turns. RuntimeError if the flows differ."""
    if code.bits < OURS.bits:
        instances = [network.in_31_bits() for network in instances]
    ours, theirs = [], []
    for _ in range(repeats):
        time_ours, values = seconds(OURS, instances)
        time_theirs, other_values = seconds(code, instances)
        if values != other_values:
            raise RuntimeError(f"{code.name} and {OURS.name} disagree about the value of a flow")
        ours.append(time_ours)
        theirs.append(time_theirs)
    return statistics.median(ours), statistics.median(theirs)


def cases(problem: LearningProblem, options: argparse.Namespace) -> Iterator[tuple[str, list[FloatArray]]]:
    """Kinds of weights with some moments of each."""
    sparse = moments_of(PrimalDual(n_threads=options.threads), problem, options)
    yield "sparse", sparse
    yield "planes", moments_of(CuttingPlane(), problem, options)
    yield "dense", moments_of(Subgradient(), problem, options)
    yield "dust", [dusty(problem, w) for w in sparse]


def run(
    workload: Workload, C: float, codes: list[FlowCode], options: argparse.Namespace
) -> Iterator[Comparison]:
    problem = workload.problem.with_C(C)
    for weights, moments in cases(problem, options):
        for persistency, network in ((True, "core"), (False, "whole")):
            instances = networks(problem, moments, persistency)
            nodes, arcs = sum(len(n.excess) for n in instances), sum(len(n.arcs) for n in instances)
            if not instances or arcs > options.most_arcs:
                reason = "no cut needed" if not instances else f"{arcs:,} arcs are more than --most-arcs"
                print(f"{workload.name}, C = {C:g}, {weights}, {network}: {reason}", file=sys.stderr)
                continue
            for code in codes:
                ours, theirs = compare(code, instances, options.repeats)
                yield Comparison(
                    workload.name,
                    C,
                    weights,
                    network,
                    len(moments),
                    len(instances),
                    nodes,
                    arcs,
                    code.name,
                    ours,
                    theirs,
                )


def main() -> None:
    options = _options()
    print(describe_machine(), file=sys.stderr)
    codes = []
    for code in OTHERS:
        if note := code.missing():
            print(f"{code.name} left out, {note}", file=sys.stderr)
        else:
            codes.append(code)
    found: list[Comparison] = []
    print(HEADER, flush=True)
    for name in options.data.split(","):
        if name not in NAMES:
            sys.exit(f"--data: {name!r} is none of {', '.join(NAMES)}")
        workload = load(name, options.shared)
        for C in map(float, options.C.split(",")):
            for result in run(workload, C, codes, options):
                print(_line(result), flush=True)
                found.append(result)
    if options.json:
        options.json.write_text(json.dumps([asdict(c) | {"ratio": c.ratio} for c in found], indent=1) + "\n")


def _line(c: Comparison) -> str:
    cells = [
        c.data,
        f"{c.C:g}",
        c.weights,
        c.network,
        c.moments,
        c.graphs,
        f"{c.nodes:,}",
        f"{c.arcs:,}",
        c.code,
    ]
    cells += [f"{c.ours:.4f}", f"{c.theirs:.4f}", f"{c.ratio:.2f}"]
    return f"| {' | '.join(map(str, cells))} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="tables,scenes", help="names, separated by commas")
    parser.add_argument("--C", default="1,10", help="trade-offs, separated by commas")
    parser.add_argument("--moments", type=int, default=3, help="exact passes to take weights from")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--gap", type=float, default=1e-2, help="target of the runs")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of wall clock a run")
    parser.add_argument("--most-arcs", type=int, default=8_000_000, help="leave out cases above this")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of the runs")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder with the data")
    parser.add_argument("--json", type=Path, help="write the same with all digits to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()

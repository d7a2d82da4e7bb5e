"""Proofs of claims: what they cost, how large they are, what 16 bits lose.

    python benchmarks/proofs.py [--data tables/cut,tables/lp,planted/cut,planted/lp] [--C 0.1,1,10] [--planted-nodes 60]

CPU seconds of all threads, medians of five (of training where it is short): training to 1 %; one pass at the model's
weights (cuts; message passing from the multipliers); making the proof and writing it and its graphs. `part`: this less
the pass, in per cent of training. `numbers`: labels and arcs with gain, or messages (of each edge to both ends) and
table entries that are not zero; `raw` the bytes of all arrays of the proof, before compression, for each. `gap` is that
of the certificate, `proven` that of the proof; `lost` what rounding to 16 bits adds to the gap over the same shares and
labels in full precision, in per cent of the target. `check`: CPU seconds of checker/check_proof.py.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from gapcut import GraphSet, datasets
from gapcut.certificates import DualPoint, Proof, dual_bound, gap_percent, primal_bound
from gapcut.learners import LearnResult
from gapcut.machine import Machine
from gapcut.model.proof import prove_result
from gapcut.oracles.base import OracleTotal
from gapcut.problem import LearningProblem

CHECKER = Path(__file__).resolve().parents[1] / "checker" / "check_proof.py"
SHORT = 1.0  # seconds of training, less than which it is done again
HEAD = (
    *("data", "problem", "C", "train s", "pass s", "proof s", "part %", "kB", "numbers", "raw"),
    *("gap %", "proven %", "lost %", "check s"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = os.environ.get("GAPCUT_SHARED", Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument(
        "--data", default="tables/cut,tables/lp,planted/cut,planted/lp", help="data and oracles"
    )
    parser.add_argument("--C", default="0.1,1,10")
    parser.add_argument("--planted-nodes", type=int, default=60)
    parser.add_argument("--shared", type=Path, default=Path(shared))
    given = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    for data, oracle in (each.split("/") for each in given.data.split(",")):
        graphs = load(data, given.shared, given.planted_nodes)
        for C in map(float, given.C.split(",")):
            cells = row(graphs, oracle, C)
            print(f"| {data} | {' | '.join(cells)} |", flush=True)


def load(data: str, shared: Path, nodes: int) -> GraphSet:
    if data == "planted":
        return datasets.make_planted(20, nodes)
    return datasets.load_tables(shared / "data" / data)[0]


def row(graphs: GraphSet, oracle: str, C: float) -> list[str]:
    machine = Machine(C=C, oracle=oracle, gap=0.01, n_jobs=2)
    train, trained = median_seconds(lambda: machine._train(graphs, None), times=1)
    if train < SHORT:
        train, trained = median_seconds(lambda: machine._train(graphs, None))
    _, problem, _, result = trained
    point = result.dual_point
    assert point is not None
    one_pass, total = median_seconds(lambda: point.relaxation.total(result.weights))
    with tempfile.TemporaryDirectory() as folder:

        def write() -> Proof:
            proof = prove_result(*trained, machine.model_)
            proof.save(Path(folder) / "p.npz")
            proof.save_graphs(Path(folder) / "g.npz")
            return proof

        writing, proof = median_seconds(write)
        size = (Path(folder) / "p.npz").stat().st_size
        check = checked(folder)
    lost = (proof.gap - full_gap(problem, result, total)) / proof.upper
    count = numbers(proof, point)
    raw = sum(array.nbytes for array in proof.arrays.values()) / count
    claim = result.certificate
    return [
        claim.problem,
        f"{C:g}",
        *(f"{seconds:.3f}" for seconds in (train, one_pass, writing)),
        f"{100 * (writing - one_pass) / train:.1f}",
        f"{size / 1000:,.0f}",
        f"{count:,}",
        f"{raw:.2f}",
        *(gap_percent(x, "") for x in (claim.relative_gap, proof.relative_gap)),
        f"{100 * lost / 0.01:.3f}",
        f"{check:.1f}",
    ]


def median_seconds(run: Callable[[], Any], times: int = 5) -> tuple[float, Any]:
    """CPU seconds, and what the last run returned."""
    seconds = []
    for _ in range(times):
        start = process_time()
        found = run()
        seconds.append(process_time() - start)
    return median(seconds), found


def numbers(proof: Proof, point: DualPoint) -> int:
    if "shares" in proof.arrays:
        return int(proof.arrays["labels"].size + proof.arrays["shares"].size)
    assert point.labels is not None
    tables = point.relaxation.whole(point.labels)[0].tables
    edges, others, _ = proof.arrays["messages"].shape
    return 2 * edges * (others + 1) + int(np.count_nonzero(tables))


def full_gap(problem: LearningProblem, result: LearnResult, total: OracleTotal) -> float:
    """Of the same weights, labels and tables, in full precision."""
    point = result.dual_point
    assert point is not None
    assert point.labels is not None
    upper = primal_bound(problem, result.weights, total.slack(result.weights, exact=False))[0]
    plane, loss = point.relaxation.plane(point.labels)
    return upper - dual_bound(problem, problem.C * plane, problem.C * loss, problem.n_graphs)[0]


def checked(folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [sys.executable, str(CHECKER), "p.npz", "g.npz"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()

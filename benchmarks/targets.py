"""The headline workloads on every target that the processor has, in one run, and their ratios to the fastest target.

    python benchmarks/targets.py [--targets baseline,v3] [--repeats 3] [--only tables,trws,labelling]

Each target has a process of its own (``GAPCUT_TARGET``) with one thread; figures are CPU seconds, the least of the
repeats (of ten times as many for TRW-S, which is short). Training ends at a certified gap of 1 %; ``TRW-S, K = 5`` is
nanoseconds per table entry and half-sweep; ``labelling`` is all that labels one street scan of Oakland (from points in
memory to labels of points), with a model that was trained on two others before, the same for all targets.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits
from trws_speed import measure, random_energy
from workloads import SHARED, Workload, load

from gapcut.engines import describe_machine, targets
from gapcut.learners import Limits, PrimalDual
from gapcut.oracles import CutOracle
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.datasets import load_oakland
from gapcut.scenes.labelling import SceneModel, TrainingOptions, train_scenes

TRADE_OFFS = {"tables": (1.0, 10.0, 100.0), "scenes": (1.0,), "letters": (1.0,), "snakes": (1.0,)}
GROUPS = (*TRADE_OFFS, "trws", "labelling")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--targets", default=",".join(targets()), help="names, separated by commas")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder with the data")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        _one_target(options)
        return
    names = options.targets.split(",")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.gapcut"
        if "labelling" in options.only.split(","):
            training = _street(options.shared, 0)[:2]
            train_scenes(training, options=TrainingOptions(n_trees=10, n_jobs=1)).model.save(model)
        rows = {name: _in_process(name, [*sys.argv[1:], "--one", str(model)]) for name in names}
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
        [sys.executable, __file__, *arguments],
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
                times[f"{name}, C = {C:g}, s"] = _least(repeats, lambda w=workload, c=C: _train(w, c))
        if "trws" in only:
            for labels in (2, 3, 5, 11):
                energy = random_energy(3_000, labels, True)
                times[f"TRW-S, K = {labels}, ns"] = measure(energy, "index", 10 * repeats)[0]
        if "labelling" in only:
            model, scan = SceneModel.load(options.one), _street(options.shared, 1)[0]
            model.label(scan, 1)  # imports and first calls do not count
            times["labelling, s"] = _least(repeats, lambda: model.label(scan, 1))
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


def _street(shared: Path, part: int) -> list[PointCloud]:
    """The scans of Oakland to train on (part 0) or to test on (1)."""
    return load_oakland(shared / "data" / "oakland")[part]


if __name__ == "__main__":
    main()

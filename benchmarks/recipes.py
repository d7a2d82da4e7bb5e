"""Which feature recipe? Test accuracy and training time of the feature choices on every data set at hand.

    python benchmarks/recipes.py --shared ../shared --data tables snakes --C 1 10

Prints one row a data set, recipe and C: node accuracy (4 folds over scenes on cornell), seconds, proven gap.
The default of ``StructuredSVM`` was chosen from these rows (docs/decisions/0005-feature-recipe.md).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gapcut import Graph, StructuredSVM, datasets
from gapcut.certificates import gap_percent
from gapcut.engines import describe_machine

RECIPES: dict[str, dict[str, object]] = {
    "default": {},
    "sums as they are": {"incidence_scale": "none"},
    "sums centred": {"incidence_scale": "center"},
    "degree-scaled": {"degree_scale": "graph"},
    "degree-scaled, sums as they are": {"degree_scale": "graph", "incidence_scale": "none"},
    "no incidence": {"incidence": False},
    "node stumps": {"node_lift": "stumps"},
    "node stumps, degree-scaled": {"node_lift": "stumps", "degree_scale": "graph"},
    "node stumps, degree-scaled, no incidence": {
        "node_lift": "stumps",
        "degree_scale": "graph",
        "incidence": False,
    },
}


def folds(name: str, shared: Path) -> Iterator[tuple[Sequence[Graph], Sequence[Graph]]]:
    """Pairs of training and test graphs."""
    root = shared / "data"
    if name.startswith("cornell-"):
        _, place, edges = name.split("-")
        scenes = list(datasets.load_cornell(root / "cornell", place, edges=edges))
        for k in range(4):
            yield (
                [g for i, g in enumerate(scenes) if i % 4 != k],
                [g for i, g in enumerate(scenes) if i % 4 == k],
            )
    else:
        load = {
            "tables": datasets.load_tables,
            "snakes": datasets.load_snakes,
            "letters": datasets.load_letters,
        }
        yield load[name](root / name)


def measure(name: str, shared: Path, recipe: dict[str, object], C: float, gap: float, limit: float) -> str:
    """One row of the table."""
    hit = total = 0
    seconds, worst = 0.0, 0.0
    for train, test in folds(name, shared):
        svm = StructuredSVM(
            C=C, gap=gap, time_limit=limit, n_jobs=-1, classes=_classes(train, test), **recipe
        )
        start = time.perf_counter()
        svm.fit(train)
        seconds += time.perf_counter() - start
        worst = max(worst, svm.certificate_.relative_gap)
        for graph, labels in zip(test, svm.predict(test), strict=True):
            hit += int((labels == graph.labels).sum())
            total += graph.n_nodes
    return f"{hit / total:.4f} | {seconds:.1f} | {gap_percent(worst)}"


def _classes(*parts: Sequence[Graph]) -> list[object]:
    return np.unique(np.concatenate([g.labels for part in parts for g in part])).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    names = [
        "tables",
        "snakes",
        "letters",
        "cornell-office-complete",
        "cornell-office-knn",
        "cornell-home-complete",
    ]
    parser.add_argument("--data", nargs="+", default=names)
    parser.add_argument("--recipe", nargs="+", default=list(RECIPES), choices=list(RECIPES))
    parser.add_argument("--C", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--gap", type=float, default=0.02)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of training a fold")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    print("| data | C | recipe | accuracy | seconds | gap |\n|---|---|---|---|---|---|")
    for name in options.data:
        for C in options.C:
            for recipe in options.recipe:
                row = measure(name, options.shared, RECIPES[recipe], C, options.gap, options.limit)
                print(f"| {name} | {C:g} | {recipe} | {row} |", flush=True)


if __name__ == "__main__":
    main()

"""How accurate: gapcut's settings beside what others use on the same node tables.

    python benchmarks/accuracy.py [--data tables,letters,snakes,office,home] [--seeds 1]

Everything is chosen by folds inside the training part; the test part is labelled once. Tables, letters and snakes have
their own test part; of the cornell scenes a quarter is held out at a time, and the labels of all four are scored
together. Accuracy and macro F1 in percent, over nodes, means over seeds (± half their range where there are several);
``behind``: the share of 2,000 bootstrap draws of test graphs in which the row is at least as accurate as the best row
of its set (below 5 %: significantly behind); ECE: expected calibration error; CPU seconds of training and labelling,
one thread. Rows that take long are measured once: ``--kept FOLDER`` holds each, to be deleted when it is to be anew.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from gapcut import Graph, GraphSet, StructuredSVM, datasets
from gapcut.metrics import expected_calibration_error, score_graphs
from gapcut.model.labels import LabelCoder
from gapcut.stacking import fit_base
from gapcut.typing import AnyArray, FloatArray

LOADERS = {"tables": datasets.load_tables, "letters": datasets.load_letters, "snakes": datasets.load_snakes}
SETS = (*LOADERS, "office", "home")
COMMAND: dict[str, Any] = {
    "C": "cv",
    "oracle": "auto",
    "node_lift": "auto",
    "base": "auto",
    "base_features": "auto",
}
"""What ``gapcut train`` does without options."""
_TREES = 100
Labelled = tuple[list[AnyArray], list[FloatArray] | None]
Method = Callable[[GraphSet, GraphSet, AnyArray, int], Labelled]


def gapcut(**settings: Any) -> Method:
    def run(train: GraphSet, test: GraphSet, classes: AnyArray, seed: int) -> Labelled:
        svm = StructuredSVM(**settings, classes=classes.tolist(), random_state=seed).fit(train)
        solutions = svm.solutions(test)
        known = svm.model_.temperature is not None
        return [s.labels for s in solutions], svm.predict_proba(test, solutions) if known else None

    return run


def trees(features: Any, leaf: int) -> Method:
    """Extremely randomised trees on single nodes; with ``context`` two more rounds, out of fold."""

    def run(train: GraphSet, test: GraphSet, classes: AnyArray, seed: int) -> Labelled:
        coder = LabelCoder(classes)
        codes = np.concatenate([coder.encode(g.labels, g.n_nodes, "a graph") for g in train])
        forest = ExtraTreesClassifier(_TREES, min_samples_leaf=leaf, random_state=seed)
        base = fit_base(forest, features, list(train), codes, len(classes), seed)
        said = np.exp(base.by_round(list(test))[-1].astype(np.float64))
        said /= said.sum(axis=1, keepdims=True)
        parts = np.split(said, np.cumsum([g.n_nodes for g in test])[:-1])
        return [classes[p.argmax(axis=1)] for p in parts], parts

    return run


ROWS: dict[str, Method] = {
    "ExtraTrees on nodes and sums of edges": trees("edges", 1),
    "the same, two rounds of auto-context": trees("context", 3),
    "`StructuredSVM()`": gapcut(),
    "`gapcut train --oracle cut --base none`": gapcut(**{**COMMAND, "oracle": "cut", "base": None}),
    "`gapcut train --oracle lp --base trees --C 0.1`": gapcut(
        **{**COMMAND, "oracle": "lp", "base": "trees", "C": 0.1}
    ),
    "`gapcut train`": gapcut(**COMMAND),
}


@dataclass
class Found:
    """Of one row and seed: the weight of each test graph's nodes that are right, scores, CPU seconds."""

    right: FloatArray
    accuracy: float
    f1: float
    error: float | None
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = os.environ.get("GAPCUT_SHARED", Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--data", default=",".join(SETS), help="names, separated by commas")
    parser.add_argument("--rows", help="numbers of rows from 1 on, separated by commas; default: all")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="folder of rows measured before, and of those measured now")
    parser.add_argument("--shared", type=Path, default=Path(shared), help="folder with the data")
    given = parser.parse_args()
    titles = list(ROWS)
    wanted = titles if given.rows is None else [titles[int(i) - 1] for i in given.rows.split(",")]
    warnings.simplefilter("ignore")  # of C = 1 being too small, which is a row here
    print("| data | method | accuracy | macro F1 | behind | ECE | CPU seconds |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in given.data.split(","):
        splits = list(splits_of(name, given.shared / "data"))
        nodes = np.array([g.n_nodes for _, test in splits for g in test], dtype=np.float64)
        rows = {
            title: [found(name, title, splits, seed, given.kept) for seed in range(given.seeds)]
            for title in wanted
        }
        best = max(rows.values(), key=lambda row: np.mean([f.accuracy for f in row]))
        for title, row in rows.items():
            print(f"| {name} | {title} | {line(row, best, nodes)} |", flush=True)
            name = ""


def found(
    name: str, title: str, splits: Sequence[tuple[GraphSet, GraphSet]], seed: int, kept: Path | None
) -> Found:
    """A row of a data set: from the folder ``kept`` or measured, and put there."""
    if kept is None:
        return measure(ROWS[title], splits, seed)
    path = kept / f"{name}-{list(ROWS).index(title) + 1}-{seed}.json"
    if not path.is_file():
        row = measure(ROWS[title], splits, seed)
        kept.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"title": title, **asdict(row), "right": row.right.tolist()}))
    document = json.loads(path.read_text())
    if document.pop("title") != title:
        raise ValueError(f"{path} is of another row: delete it")
    return Found(**{**document, "right": np.array(document["right"])})


def splits_of(name: str, data: Path) -> Iterator[tuple[GraphSet, GraphSet]]:
    """Training and test graphs; of the cornell scenes four pairs."""
    if name in LOADERS:
        yield LOADERS[name](data / name)
        return
    scenes = datasets.load_cornell(data / "cornell", name, edges="knn", k=6)
    for test in np.array_split(np.random.default_rng(0).permutation(len(scenes)), 4):
        yield scenes[np.setdiff1d(np.arange(len(scenes)), test)], scenes[np.sort(test)]


def measure(method: Method, splits: Sequence[tuple[GraphSet, GraphSet]], seed: int) -> Found:
    """All splits of a set, scored together."""
    graphs: list[Graph] = [g for pair in splits for g in pair[1]]
    classes = LabelCoder.found([g.labels for pair in splits for part in pair for g in part]).classes
    labels: list[AnyArray] = []
    chances: list[FloatArray] = []
    seconds = 0.0
    for train, test in splits:
        start = process_time()
        said, sure = method(train, test, classes, seed)
        seconds += process_time() - start
        labels += said
        chances += sure or []
    scores = score_graphs(graphs, labels, classes)
    right = np.array([float((g.labels == y).sum()) for g, y in zip(graphs, labels, strict=True)])
    error = expected_calibration_error(graphs, chances, classes) if len(chances) == len(graphs) else None
    return Found(right, scores.accuracy, scores.macro_f1, error, seconds)


def line(found: Sequence[Found], best: Sequence[Found], nodes: FloatArray) -> str:
    """The cells of a row."""
    errors = [f.error for f in found if f.error is not None]
    cells = [spread([100 * f.accuracy for f in found]), spread([100 * f.f1 for f in found])]
    cells.append("best" if found is best else f"{100 * behind(found, best, nodes):.0f} %")
    cells.append(f"{np.mean(errors):.3f}" if errors else "-")
    return " | ".join([*cells, f"{np.mean([f.seconds for f in found]):.0f}"])


def behind(found: Sequence[Found], best: Sequence[Found], nodes: FloatArray, draws: int = 2000) -> float:
    """Paired bootstrap over test graphs: how often the row is not behind the best."""
    difference = np.mean([f.right for f in found], axis=0) - np.mean([f.right for f in best], axis=0)
    drawn = np.random.default_rng(0).integers(0, len(nodes), (draws, len(nodes)))
    return float((difference[drawn].sum(axis=1) >= 0).mean())


def spread(values: Sequence[float]) -> str:
    more = f" ± {(max(values) - min(values)) / 2:.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{more}"


if __name__ == "__main__":
    main()

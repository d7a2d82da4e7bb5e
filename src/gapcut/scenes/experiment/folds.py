"""One fold: forest, graphs, learning with a proven gap, labels with bounds, scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapcut.certificates import Callback, Certificate
from gapcut.data import GraphSet
from gapcut.engines import thread_count
from gapcut.inference import Solution
from gapcut.machine import Machine
from gapcut.metrics import Scores, confusion_scores, score_graphs
from gapcut.scenes.experiment.scans import BridgeScan
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.scenes.experiment.store import digest, kept
from gapcut.scenes.labelling.forest import grow_forest, held_out_distributions, of_segments
from gapcut.scenes.labelling.training import learn_weights, scan_graphs
from gapcut.typing import AnyArray, FloatArray, IntArray

Say = Callable[[str], None]
_LAYOUT = 1


@dataclass(frozen=True, eq=False)
class FoldGraphs:
    """Graphs to train on and to test on; ``seconds`` that forests and graphs took."""

    train: list[int]
    test: list[int]
    training: GraphSet
    tests: GraphSet
    seconds: float


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A fold: its ``graphs``; scores by node and by point (its own label against that of its node), of the same learner
    on node features alone (``node_only``) and of the likeliest class of the forest (``forest_only``), and the labels
    that these two give to each test graph (``alone``, ``likeliest``); the ``model``; solutions of the test graphs;
    seconds of training and inference, on the clock and (``cpu``) of all threads together."""

    graphs: FoldGraphs
    nodes: Scores
    points: Scores
    node_only: Scores
    forest_only: Scores
    alone: list[AnyArray]
    likeliest: list[AnyArray]
    model: Machine
    solutions: list[Solution[AnyArray]]
    train_seconds: float
    train_cpu_seconds: float
    test_seconds: float
    test_cpu_seconds: float

    @property
    def train(self) -> list[int]:
        """Numbers of the training bridges."""
        return self.graphs.train

    @property
    def test(self) -> list[int]:
        """Numbers of the test bridges."""
        return self.graphs.test

    @property
    def certificate(self) -> Certificate:
        """Of the training."""
        return self.model.certificate_


@dataclass(frozen=True, eq=False)
class _Distributions:
    """Of the segments of all training bridges, then of all test bridges, (S, K)."""

    values: FloatArray


def fold_graphs(
    bridges: Sequence[BridgeScan],
    settings: ExperimentSettings,
    cache: Path | None = None,
    say: Say | None = None,
) -> list[FoldGraphs]:
    """Graphs of all folds; class distributions are kept in the folder ``cache``. No forest has seen the parts it
    describes, nor has the forest behind a training graph seen a test bridge."""
    out = []
    for f, (train, test) in enumerate(settings.folds()):
        start = time.monotonic()
        tell = (lambda line, f=f: say(f"fold {f + 1}: {line}")) if say else (lambda line: None)  # type: ignore[misc]
        held = settings.held_out(train, [bridges[i].scan for i in train])
        known = distributions(bridges, train, held, settings, cache, tell, test)
        training = bridge_graphs([bridges[i] for i in train], known[: len(train)], settings)
        tests = bridge_graphs([bridges[i] for i in test], known[len(train) :], settings)
        out.append(FoldGraphs(train, test, training, tests, time.monotonic() - start))
    return out


def distributions(
    bridges: Sequence[BridgeScan],
    train: Sequence[int],
    folds: Sequence[IntArray],
    settings: ExperimentSettings,
    cache: Path | None = None,
    say: Say | None = None,
    test: Sequence[int] = (),
) -> list[FloatArray]:
    """(S, K) class distributions of the parts of the bridges ``train`` by forests of the other ``folds`` (see
    :func:`gapcut.scenes.labelling.forest.held_out_distributions`), and of the bridges ``test`` by a forest of all of
    ``train``; kept in the folder ``cache``."""
    options, scans = settings.training, [bridges[i].scan for i in train]
    asked, n_classes = [bridges[i].scan for i in test], len(settings.classes)

    def make() -> _Distributions:
        found = held_out_distributions(scans, folds, n_classes, options, say)
        if asked:
            forest = grow_forest(scans, n_classes, options)
            found += [of_segments(forest, scan, thread_count(options.n_jobs)) for scan in asked]
        return _Distributions(np.concatenate(found))

    drawn = (options.rows, options.balance, options.tree_balance)
    kind = (options.trees, options.n_trees, *drawn, options.least_leaf, options.seed)
    keys = [[bridges[i].key for i in some] for some in (train, test)]
    name = digest("forest", _LAYOUT, kind, keys, np.concatenate(folds))
    path = None if cache is None else cache / f"forest-{name}.npz"
    values = kept(path, _Distributions, make).values
    ends = np.cumsum([scan.n_segments for scan in (*scans, *asked)])
    return np.split(values, ends[:-1])


def bridge_graphs(
    bridges: Sequence[BridgeScan], known: Sequence[FloatArray], settings: ExperimentSettings
) -> GraphSet:
    """One graph a bridge with the class distributions ``known``, labels by name; node weights are points."""
    scans, size = [b.scan for b in bridges], settings.scene.scaled(1.0)
    return scan_graphs(scans, known, size, settings.classes, classes=np.array(settings.classes))


def run_experiment(
    bridges: Sequence[BridgeScan],
    settings: ExperimentSettings,
    cache: Path | None = None,
    say: Say | None = None,
    limit: Callable[[], Callback] | None = None,
) -> list[FoldResult]:
    """All folds; ``say`` is told what is going on; ``limit`` makes a callback that may end one fit early."""
    folds = fold_graphs(bridges, settings, cache, say)
    results = []
    for f, fold in enumerate(folds):
        if say is not None:
            say(f"fold {f + 1} of {len(folds)}: learning")
        counts = [bridges[i].scan.label_counts(len(settings.classes)) for i in fold.test]
        results.append(_result(fold, settings, counts, limit))
    return results


def _result(
    fold: FoldGraphs,
    settings: ExperimentSettings,
    counts: Sequence[IntArray],
    limit: Callable[[], Callback] | None,
) -> FoldResult:
    """``counts`` (S, K) of each test graph: the labelled points of its nodes by class."""
    options, classes = settings.training, np.array(settings.classes)
    training = _weighed(fold.training, options.weight_power)

    def learned_on(graphs: GraphSet) -> Machine:
        return learn_weights(graphs, settings.classes, options, None if limit is None else limit())

    start = _now()
    model = learned_on(training)
    learned = _now()
    solutions = model.solutions(fold.tests)
    solved = _now()
    labels = [s.labels for s in solutions]
    equal = _weighed(fold.tests, 0.0)
    alone = list(learned_on(_edgeless(training)).predict(_edgeless(fold.tests)))
    likeliest = [classes[g.node_features[:, : len(classes)].argmax(axis=1)] for g in fold.tests]
    return FoldResult(
        graphs=fold,
        nodes=score_graphs(equal, labels, classes),
        points=_point_scores(counts, labels, settings.classes),
        node_only=score_graphs(equal, alone, classes),
        forest_only=score_graphs(equal, likeliest, classes),
        alone=alone,
        likeliest=likeliest,
        model=model,
        solutions=solutions,
        train_seconds=float(learned[0] - start[0]),
        train_cpu_seconds=float(learned[1] - start[1]),
        test_seconds=float(solved[0] - learned[0]),
        test_cpu_seconds=float(solved[1] - learned[1]),
    )


def _point_scores(counts: Sequence[IntArray], labels: Sequence[AnyArray], classes: tuple[str, ...]) -> Scores:
    """Of points that have the label of their node."""
    confusion = np.zeros((len(classes), len(classes)))
    for count, given in zip(counts, labels, strict=True):
        code = np.array([classes.index(str(label)) for label in given], dtype=np.int64)
        for k, at in enumerate(count.T):
            confusion[k] += np.bincount(code, at, len(classes))
    return confusion_scores(classes, confusion, weighted=True)


def _weighed(graphs: GraphSet, power: float) -> GraphSet:
    """Nodes weigh as their points to a power, all the same at 0."""
    weights = [None if power == 0 else np.asarray(g.node_weights) ** power for g in graphs]
    return graphs.with_node_weights(weights)


def _edgeless(graphs: GraphSet) -> GraphSet:
    return GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)


def _now() -> tuple[float, float]:
    """Clock and processor time."""
    return time.monotonic(), time.process_time()

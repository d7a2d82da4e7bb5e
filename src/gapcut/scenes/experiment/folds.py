"""One fold: forest, graphs, learning with a proven gap, labels with bounds, scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapcut.certificates import Certificate
from gapcut.data import GraphSet
from gapcut.estimator import StructuredSVM
from gapcut.inference import Solution
from gapcut.metrics import Scores, score_labels
from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.experiment.beliefs import Beliefs
from gapcut.scenes.experiment.described import DescribedBridge
from gapcut.scenes.experiment.graphs import bridge_graphs, edgeless, likeliest
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.typing import FloatArray

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class FoldGraphs:
    """Graphs to train on and to test on, and the test bridges' class distributions."""

    train: list[int]
    test: list[int]
    training: GraphSet
    tests: GraphSet
    beliefs: list[FloatArray]
    seconds: float


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A fold: numbers of its ``train`` and ``test`` bridges, its ``graphs``, scores by node and by point, the same
    learner on node features alone (``node_only``), the likeliest class of the forest (``forest_only``), the
    certificate, solutions of the test graphs, and seconds of forests (few where they were kept), training and
    inference, on the clock and (``cpu``) of all threads together."""

    train: list[int]
    test: list[int]
    graphs: FoldGraphs
    nodes: Scores
    points: Scores
    node_only: Scores
    forest_only: Scores
    certificate: Certificate
    solutions: list[Solution]
    model: StructuredSVM
    forest_seconds: float
    train_seconds: float
    train_cpu_seconds: float
    test_seconds: float
    test_cpu_seconds: float


def fold_graphs(
    bridges: Sequence[DescribedBridge],
    settings: ExperimentSettings,
    seed: int = 0,
    jobs: int = 1,
    cache: Path | None = None,
    say: Say | None = None,
) -> list[FoldGraphs]:
    """Graphs of all folds; class distributions are kept in the folder ``cache``. No forest has seen the bridge it
    describes, nor has the forest behind a training graph seen a test bridge."""
    tell = say or (lambda line: None)
    beliefs = Beliefs(bridges, settings, seed, jobs, cache)
    out = []
    for f, (train, test) in enumerate(settings.folds()):
        tell(f"fold {f + 1}: growing forests")
        start = time.monotonic()
        known, unknown = beliefs.of_fold(train, test, settings.groups())
        training = bridge_graphs([bridges[i] for i in train], known, settings)
        tests = bridge_graphs([bridges[i] for i in test], unknown, settings)
        out.append(FoldGraphs(train, test, training, tests, unknown, time.monotonic() - start))
    return out


def run_experiment(
    bridges: Sequence[DescribedBridge],
    settings: ExperimentSettings,
    seed: int = 0,
    jobs: int = 1,
    cache: Path | None = None,
    say: Say | None = None,
) -> list[FoldResult]:
    """All folds; ``say`` is told what is going on."""
    tell = say or (lambda line: None)
    results = []
    folds = fold_graphs(bridges, settings, seed, jobs, cache, say)
    for f, fold in enumerate(folds):
        tell(f"fold {f + 1} of {len(folds)}: learning")
        results.append(_result(fold, settings, seed, jobs))
    return results


def learner(settings: ExperimentSettings, seed: int, jobs: int) -> StructuredSVM:
    """The estimator of the experiment: exact cuts, to a proven gap of 1 %."""
    return StructuredSVM(C=settings.C, gap=1e-2, edge_lift=settings.edge_lift, random_state=seed, n_jobs=jobs)


def _result(fold: FoldGraphs, settings: ExperimentSettings, seed: int, jobs: int) -> FoldResult:
    training = fold.training if settings.by_points else _equal_nodes(fold.training)
    start = _now()
    model = learner(settings, seed, jobs).fit(training)
    learned = _now()
    solutions = model.solutions(fold.tests)
    solved = _now()
    alone = learner(settings, seed, jobs).fit(edgeless(training)).predict(edgeless(fold.tests))
    classes = np.array(CLASSES)
    guesses = [classes[likeliest(p)] for p in fold.beliefs]
    labels = [s.labels for s in solutions]
    truth = [g.labels for g in fold.tests]
    return FoldResult(
        train=fold.train,
        test=fold.test,
        graphs=fold,
        nodes=score_labels(truth, labels, classes),
        points=score_labels(truth, labels, classes, [g.node_weights for g in fold.tests]),
        node_only=score_labels(truth, alone, classes),
        forest_only=score_labels(truth, guesses, classes),
        certificate=model.certificate_,
        solutions=solutions,
        model=model,
        forest_seconds=fold.seconds,
        train_seconds=float(learned[0] - start[0]),
        train_cpu_seconds=float(learned[1] - start[1]),
        test_seconds=float(solved[0] - learned[0]),
        test_cpu_seconds=float(solved[1] - learned[1]),
    )


def _equal_nodes(graphs: GraphSet) -> GraphSet:
    return GraphSet(
        (g.replace(node_weights=None) for g in graphs),
        node_feature_names=graphs.node_feature_names,
        edge_feature_names=graphs.edge_feature_names,
    )


def _now() -> tuple[float, float]:
    """Clock and processor time."""
    return time.monotonic(), time.process_time()

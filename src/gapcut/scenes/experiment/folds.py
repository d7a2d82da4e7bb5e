"""One fold: forest, graphs, learning with a proven gap, labels with bounds, scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.certificates import Certificate
from gapcut.data import Graph, GraphSet
from gapcut.estimator import StructuredSVM
from gapcut.inference import Solution
from gapcut.report.tables import Scores, score_labels
from gapcut.scenes.adjacency import EXTRA_FEATURES, PAPER_FEATURES
from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.experiment.described import DescribedBridge, ExperimentSettings
from gapcut.scenes.forest import PointForest, TrainedForest, segment_means
from gapcut.typing import FloatArray

Say = Callable[[str], None]
_INNER = 5


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A fold: numbers of its ``train`` and ``test`` bridges, scores by node and by point, the same learner on node
    features alone, the certificate, solutions of the test graphs, and seconds of forest, training and inference."""

    train: list[int]
    test: list[int]
    nodes: Scores
    points: Scores
    node_only: Scores
    forest_only: Scores
    certificate: Certificate
    solutions: list[Solution]
    model: StructuredSVM
    train_nodes: int
    train_edges: int
    forest_seconds: float
    train_seconds: float
    test_seconds: float


def run_experiment(
    bridges: Sequence[DescribedBridge],
    settings: ExperimentSettings,
    seed: int = 0,
    jobs: int = 1,
    say: Say | None = None,
) -> list[FoldResult]:
    """All folds; ``say`` is told what is going on."""
    tell = say or (lambda line: None)
    folds = settings.folds()
    results = []
    for f, (train, test) in enumerate(folds):
        tell(f"fold {f + 1} of {len(folds)}")
        results.append(_fold(bridges, train, test, settings, seed, jobs))
    return results


def _fold(
    bridges: Sequence[DescribedBridge],
    train: list[int],
    test: list[int],
    settings: ExperimentSettings,
    seed: int,
    jobs: int,
) -> FoldResult:
    start = time.monotonic()
    known, unknown = [bridges[i] for i in train], [bridges[i] for i in test]
    inner = _held_out(known, settings, seed, jobs)
    forest = _forest(known, settings, seed, jobs)
    training = _graphs(known, inner, settings)
    tests = _graphs(unknown, [_means(forest, b) for b in unknown], settings)
    grown = time.monotonic()
    model = _svm(settings, seed, jobs).fit(training)
    learned = time.monotonic()
    solutions = model.solutions(tests)
    solved = time.monotonic()
    alone = _svm(settings, seed, jobs).fit(_edgeless(training)).predict(_edgeless(tests))
    guesses = [np.array(CLASSES)[np.asarray(g.node_features).argmax(axis=1)] for g in tests]
    labels = [s.labels for s in solutions]
    truth = [g.labels for g in tests]
    classes = np.array(CLASSES)
    return FoldResult(
        train=train,
        test=test,
        nodes=score_labels(truth, labels, classes),
        points=score_labels(truth, labels, classes, [g.node_weights for g in tests]),
        node_only=score_labels(truth, alone, classes),
        forest_only=score_labels(truth, guesses, classes),
        certificate=model.certificate_,
        solutions=solutions,
        model=model,
        train_nodes=sum(g.n_nodes for g in training),
        train_edges=sum(g.n_edges for g in training),
        forest_seconds=grown - start,
        train_seconds=learned - grown,
        test_seconds=solved - learned,
    )


def _svm(settings: ExperimentSettings, seed: int, jobs: int) -> StructuredSVM:
    return StructuredSVM(C=settings.C, gap=1e-2, random_state=seed, n_jobs=jobs)


def _forest(
    bridges: Sequence[DescribedBridge], settings: ExperimentSettings, seed: int, jobs: int
) -> TrainedForest:
    trainer = PointForest(n_trees=settings.n_trees, per_class=settings.per_class, seed=seed, n_jobs=jobs)
    return trainer.train(bridges, [b.label[b.node] for b in bridges], len(CLASSES))


def _held_out(
    bridges: Sequence[DescribedBridge], settings: ExperimentSettings, seed: int, jobs: int
) -> list[FloatArray]:
    """Distributions of each training bridge by a forest that has not seen it.

    A forest is sure about points it was grown on; learned from those, edges would count for little.
    """
    groups = min(_INNER, len(bridges))
    out: list[FloatArray] = [np.empty(0)] * len(bridges)
    for g in range(groups):
        # Neighbours in the list differ in type and share the variant: every group leaves some of each type.
        held = [i for i in range(len(bridges)) if (i + i // groups) % groups == g]
        forest = _forest([b for i, b in enumerate(bridges) if i not in held], settings, seed, jobs)
        for i in held:
            out[i] = _means(forest, bridges[i])
    return out


def _means(forest: TrainedForest, bridge: DescribedBridge) -> FloatArray:
    return segment_means(forest.probabilities(bridge), bridge.node, len(bridge.part))


def _graphs(
    bridges: Sequence[DescribedBridge], node_features: Sequence[FloatArray], settings: ExperimentSettings
) -> GraphSet:
    names = PAPER_FEATURES + EXTRA_FEATURES if settings.extra else PAPER_FEATURES
    classes = np.array(CLASSES)
    return GraphSet(
        (
            Graph(x, b.edges, b.edge_features, classes[b.label], b.weight.astype(np.float64), name=b.name)
            for b, x in zip(bridges, node_features, strict=True)
        ),
        node_feature_names=[f"p({name})" for name in CLASSES],
        edge_feature_names=names,
    )


def _edgeless(graphs: GraphSet) -> GraphSet:
    return GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)

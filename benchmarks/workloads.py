"""The training problems of the comparison: packed once, used by every row."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gapcut import StructuredSVM, datasets
from gapcut.data import Graph
from gapcut.inference import model_energy, solve_many
from gapcut.model.settings import Settings
from gapcut.model.training import TrainingSet, build_problem, training_set
from gapcut.problem import LearningProblem, row_matrix
from gapcut.scenes.datasets import make_scenes
from gapcut.typing import FloatArray

SHARED = Path(os.environ.get("GAPCUT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
"""Folder with the data, unless a command is told another."""

Split = tuple[Sequence[Graph], Sequence[Graph]]


@dataclass(frozen=True, eq=False)
class Workload:
    """A data set after the feature steps. ``problem`` has C = 1, and the signs that ``oracle`` ("cut" or "lp") takes
    by default; ``test`` holds model-ready graphs, or nothing.
    """

    name: str
    oracle: str
    training: TrainingSet
    problem: LearningProblem
    test: tuple[Graph, ...]

    def accuracy(self, weights: FloatArray, threads: int) -> float | None:
        """Share of test nodes labelled right by the default inference; None without test graphs."""
        if not self.test:
            return None
        unary, pairwise = self.problem.expand(weights)
        energies = [
            model_energy(
                row_matrix([g.node_features]), g.edges, row_matrix([g.edge_features]), unary, pairwise
            )
            for g in self.test
        ]
        found = solve_many(energies, n_threads=threads)
        coder = self.training.coder
        right = total = 0
        for i, (graph, solution) in enumerate(zip(self.test, found, strict=True)):
            truth = coder.encode(graph.labels, graph.n_nodes, f"test graph {i}")
            right += int((truth == solution.labels)[truth >= 0].sum())
            total += int((truth >= 0).sum())
        return right / total

    def describe(self) -> str:
        """Sizes, for the head of a report."""
        graphs, problem = self.training.graphs, self.problem
        nodes, edges = sum(g.n_nodes for g in graphs), sum(g.n_edges for g in graphs)
        return (
            f"{self.name}: {len(graphs)} graphs, {nodes:,} nodes, {edges:,} edges, K = {problem.n_labels}, "
            f"{problem.dim:,} weights, of which {problem.dim - problem.unary_count:,} pairwise"
        )


def _cornell(place: str, shared: Path) -> Split:
    return datasets.load_cornell(shared / "data" / "cornell", place, edges="knn"), ()


def _scenes(shared: Path) -> Split:
    return make_scenes(), ()


_AS_GIVEN: dict[str, Any] = {"standardize": False, "incidence": False, "intercept": False}
_ONE_LABEL: dict[str, dict[str, Any]] = {
    "letters": {"standardize": False, "incidence": False},
    "snakes": {"incidence": False},
}
_SOURCES: dict[str, tuple[Callable[[Path], Split], dict[str, Any]]] = {
    "tables": (lambda shared: datasets.load_tables(shared / "data" / "tables"), {}),
    "letters": (lambda shared: datasets.load_letters(shared / "data" / "letters"), {}),
    "snakes": (lambda shared: datasets.load_snakes(shared / "data" / "snakes"), {}),
    "scenes": (_scenes, _AS_GIVEN),
}
NAMES = tuple(_SOURCES)
"""``scenes``: 20 planted scenes of seed 0, features as generated; the others take the estimator's default
features. With one label a node, letters are raw and snakes do without incidence sums.
"""

# not among the names of every benchmark
_SOURCES |= {place: (partial(_cornell, place), {}) for place in ("home", "office")}


def load(name: str, shared: Path, oracle: str = "cut") -> Workload:
    """Raises an OSError naming the file where the data are missing."""
    source, features = _SOURCES[name]
    train, test = source(shared)
    if oracle == "lp":
        features = {**features, **_ONE_LABEL.get(name, {})}
    settings = Settings.checked(StructuredSVM(oracle=oracle, **features).get_params())
    training = training_set(train, settings)
    problem = build_problem(training, settings.settled(training.graphs))
    return Workload(name, oracle, training, problem, tuple(training.pipeline.transform(g) for g in test))


def loss_per_indicator(workload: Workload) -> list[FloatArray]:
    """(V,) ``rho weight_u / (2 sum of weights)`` for each training graph (Eq. 14)."""
    scale = workload.problem.loss_scale
    graphs = workload.training.graphs
    weights = [np.ones(g.n_nodes) if g.node_weights is None else g.node_weights for g in graphs]
    return [0.5 * scale * w / w.sum() for w in weights]

"""A learned model as a value: everything needed to label a graph, and what was proven about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gapcut.certificates import Certificate, Record
from gapcut.data import Graph
from gapcut.engines import each
from gapcut.features import FeaturePipeline
from gapcut.inference import CliqueWeights, Energy, MethodName, Solution, model_energy, solve
from gapcut.model.labels import LabelCoder
from gapcut.problem import row_matrix
from gapcut.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class DataSummary:
    """What a model was trained on: counts of the labelled part, and a fingerprint that tells other data apart."""

    graphs: int
    nodes: int
    edges: int
    fingerprint: str
    cliques: int = 0


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Feature steps, weights and certificate of one training run.

    ``unary`` (K, Dn), ``pairwise`` (K, K, De): rows in the order of ``coder.classes``, columns named by the pipeline;
    ``cliques``: tuples of label codes and weights, one per clique group. ``message``: why training ended, in words.
    ``impossible``, ``eta``, ``xi``: see :class:`gapcut.learners.LearnResult`; files do not keep them.
    """

    coder: LabelCoder
    pipeline: FeaturePipeline
    unary: FloatArray
    pairwise: FloatArray
    certificate: Certificate
    history: tuple[Record, ...]
    data: DataSummary
    message: str
    impossible: int = 0
    eta: float | None = None
    xi: float | None = None
    cliques: tuple[CliqueWeights, ...] = ()

    @property
    def n_features(self) -> int:
        """Raw node feature columns."""
        return len(self.pipeline.raw_columns.node)

    def energy(self, graph: Graph) -> Energy:
        """Tables of ``U(y) = -f(x, y)`` on a raw graph; label k of a node is ``coder.classes[k]``."""
        ready = self.pipeline.transform(graph)
        nodes, edges = row_matrix([ready.node_features]), row_matrix([ready.edge_features])
        cliques = [
            term
            for group, weights in zip(ready.cliques, self.cliques, strict=True)
            for term in weights.terms(group.nodes, group.features, self.coder.n_labels)
        ]
        return model_energy(nodes, ready.edges, edges, self.unary, self.pairwise, cliques)

    def solve(
        self, graph: Graph, method: MethodName = "auto", time_limit: float | None = None
    ) -> Solution[IntArray]:
        """Best labeling found, as codes, with its energy and a proven bound."""
        return solve(self.energy(graph), method=method, time_limit=time_limit)

    def infer(
        self, graph: Graph, method: MethodName = "auto", time_limit: float | None = None
    ) -> Solution[AnyArray]:
        """:meth:`solve` in the labels given at fit."""
        found = self.solve(graph, method, time_limit)
        labels = self.coder.decode(found.labels)
        return Solution(labels, found.energy, found.bound, found.gap, found.status, found.seconds)

    def infer_all(
        self, graphs: Sequence[Graph], method: MethodName = "auto", threads: int = 1
    ) -> list[Solution[AnyArray]]:
        """:meth:`infer` on several graphs; the same for any number of threads."""
        return each(lambda graph: self.infer(graph, method), graphs, threads)

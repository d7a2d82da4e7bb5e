"""A learned model as a value: everything needed to label a graph, and what was proven about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.certificates import Certificate, Record
from gapcut.data import Graph
from gapcut.engines import each
from gapcut.features import FeaturePipeline
from gapcut.inference import CliqueWeights, Energy, MethodName, Solution, model_energy, solve
from gapcut.inference.confidence import flip_energies, label_probabilities
from gapcut.learners import CutOff
from gapcut.model.chosen import Choice
from gapcut.model.labels import LabelCoder
from gapcut.problem import row_matrix
from gapcut.stacking import Base
from gapcut.typing import AnyArray, Float32Array, FloatArray


@dataclass(frozen=True)
class DataSummary:
    """What a model was trained on: counts of the labelled part, and a fingerprint that tells other data apart.

    ``sample``: how many graphs, labelled or not, were chosen at random from others, of which ``left_out`` were not; 0
    where there was no choice.
    """

    graphs: int
    nodes: int
    edges: int
    fingerprint: str
    cliques: int = 0
    sample: int = 0
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Feature steps, weights and certificate of one training run.

    ``unary`` (K, Dn), ``pairwise`` (K, K, De): rows in the order of ``coder.classes``, columns named by ``node_names``
    and the pipeline; where there is a ``base``, its log-probabilities are the last K node columns. ``cliques``: tuples
    of label codes and weights, one per clique group. ``message``: why training ended, in words. ``impossible``,
    ``eta``, ``xi``, ``cut_off``: see :class:`gapcut.learners.LearnResult`; files do not keep them, nor ``advice``, a
    warning about C. ``temperature`` of the probabilities, where it was fitted.
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
    base: Base | None = None
    choice: Choice | None = None
    temperature: float | None = None
    advice: str | None = None
    cut_off: CutOff | None = None

    @property
    def n_features(self) -> int:
        """Raw node feature columns."""
        return len(self.pipeline.raw_columns.node)

    @property
    def node_names(self) -> tuple[str, ...]:
        """(Dn,) names of the node columns that the weights multiply."""
        steps = self.pipeline.node_names
        return steps if self.base is None else self.base.columns_after(steps, self.coder.classes.tolist())

    def base_columns(self, graphs: Sequence[Graph], threads: int = 1) -> list[Float32Array | None]:
        """For each raw graph what the base says of its nodes, (V, K); None without a base."""
        if self.base is None or not graphs:
            return [None] * len(graphs)
        raw = [self.pipeline.with_raw_columns(graph) for graph in graphs]
        ends = np.cumsum([graph.n_nodes for graph in graphs])[:-1]
        return list(np.split(self.base.log_probabilities(raw, threads), ends))

    def energy(self, graph: Graph, said: Float32Array | None = None) -> Energy:
        """Tables of ``U(y) = -f(x, y)`` on a raw graph; label k of a node is ``coder.classes[k]``. ``said``: what the
        base says of it, where that is known.
        """
        ready = self.pipeline.transform(graph)
        if self.base is not None:
            (columns,) = self.base_columns([graph]) if said is None else [said]
            assert columns is not None
            (ready,) = self.base.join([ready], columns)
        return self.energy_of(ready)

    def energy_of(self, ready: Graph) -> Energy:
        """:meth:`energy` of a graph with the columns that the weights multiply."""
        nodes, edges = row_matrix([ready.node_features]), row_matrix([ready.edge_features])
        cliques = [
            term
            for group, weights in zip(ready.cliques, self.cliques, strict=True)
            for term in weights.terms(group.nodes, group.features, self.coder.n_labels)
        ]
        return model_energy(nodes, ready.edges, edges, self.unary, self.pairwise, cliques)

    def infer(
        self,
        graph: Graph,
        method: MethodName = "auto",
        time_limit: float | None = None,
        said: Float32Array | None = None,
    ) -> Solution[AnyArray]:
        """Best labeling found of a raw graph, in the labels given at fit, with its energy and a proven bound."""
        found = solve(self.energy(graph, said), method=method, time_limit=time_limit)
        labels = self.coder.decode(found.labels)
        return Solution(labels, found.energy, found.bound, found.gap, found.status, found.seconds)

    def infer_all(
        self, graphs: Sequence[Graph], method: MethodName = "auto", threads: int = 1
    ) -> list[Solution[AnyArray]]:
        """:meth:`infer` on several graphs; the same for any number of threads."""
        known = list(zip(graphs, self.base_columns(graphs, threads), strict=True))
        return each(lambda pair: self.infer(pair[0], method, said=pair[1]), known, threads)

    def probabilities(
        self, graphs: Sequence[Graph], labels: Sequence[AnyArray], threads: int = 1
    ) -> list[FloatArray]:
        """For each raw graph (V, K): the softmax of minus the energies, over the temperature, of the labeling with one
        node changed and all others kept as in ``labels`` (one array a graph). Raises ValueError without a temperature.
        """
        if self.temperature is None:
            raise ValueError(
                "the model has no temperature for probabilities: fit it with probability=True or C='cv', on two graphs "
                "or more, without cliques"
            )
        temperature = self.temperature

        def one(known: tuple[Graph, Float32Array | None, AnyArray]) -> FloatArray:
            graph, said, own = known
            codes = self.coder.encode(own, graph.n_nodes, graph.name or "graph")
            return label_probabilities(flip_energies(self.energy(graph, said), codes), temperature)

        return each(one, list(zip(graphs, self.base_columns(graphs, threads), labels, strict=True)), threads)

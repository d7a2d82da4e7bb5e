"""From raw labelled graphs to a fitted model: feature steps, packing, learning, certificate."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, overload

import numpy as np

from gapcut.data import Graph, GraphFolder, place
from gapcut.engines.shards import ShardEngine
from gapcut.features import FeaturePipeline
from gapcut.inference import CliqueWeights
from gapcut.learners import Learner, LearnResult, WarmStart
from gapcut.model.chosen import Choice
from gapcut.model.domain import WeightShape, tied_pairs, weight_box
from gapcut.model.fitted import DataSummary, FittedModel
from gapcut.model.labels import UNLABELLED, LabelCoder
from gapcut.model.losses import class_weights, cost_factors
from gapcut.model.pairing import LEARNERS
from gapcut.model.settings import Settings
from gapcut.oracles.base import Oracle
from gapcut.oracles.brute import Labelled
from gapcut.oracles.kinds import KINDS
from gapcut.problem import LearningProblem, indicator_losses, learning_problem
from gapcut.stacking import (
    Base,
    BaseFeatures,
    add_context,
    fit_base,
    seconds_of_trees,
    seconds_with_context,
)
from gapcut.typing import FloatArray, IntArray

FEWEST_NODES = 1000
"""Labelled nodes without which ``base="auto"`` is none."""

BASE_SHARE = 0.25
"""Of a time limit that ``base="auto"`` may spend on fitting the base; folds take half, and the weights what is left."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The labelled part of some graphs after the feature steps, and the label set.

    ``graphs`` are model-ready, every node labelled; ``codes`` one (V,) array per graph; ``tuples`` for each clique
    group the (T, d) label codes that get weights; ``base``: whose held-out columns are the last node features;
    ``folder``: where the graphs can be read again, if they are whole ones of it.
    """

    graphs: Sequence[Graph]
    codes: tuple[IntArray, ...]
    coder: LabelCoder
    pipeline: FeaturePipeline
    tuples: tuple[IntArray, ...] = ()
    base: Base | None = None
    folder: GraphFolder | None = None

    def released(self) -> TrainingSet:
        """The same without the graphs in memory, where they can be read again."""
        return self if self.folder is None else replace(self, graphs=_Again(self.folder, self.pipeline))


class _Again(Sequence[Graph]):
    """Graphs of a folder after the feature steps, made whenever they are asked for."""

    def __init__(self, folder: GraphFolder, pipeline: FeaturePipeline) -> None:
        self._folder, self._pipeline = folder, pipeline

    def __len__(self) -> int:
        return len(self._folder)

    def __iter__(self) -> Iterator[Graph]:
        return (self._pipeline.transform(graph) for graph in self._folder)

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice) -> list[Graph]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._pipeline.transform(graph) for graph in self._folder[index]]
        return self._pipeline.transform(self._folder[index])


@dataclass(frozen=True, eq=False)
class Decided:
    """What a fit starts from: ``settings`` with a number for C, the ``choice`` where one was asked for, and the
    ``temperature`` of the probabilities where there were folds to fit it on.
    """

    data: TrainingSet
    settings: Settings
    choice: Choice | None = None
    temperature: float | None = None


def training_sets(graphs: Sequence[Graph] | GraphFolder, settings: Settings) -> tuple[list[TrainingSet], str]:
    """Fit the feature steps and the base on whole graphs, then cut out the labelled nodes.

    Without a base one set; with one, one that has its columns; with ``base="auto"`` both in this order, or the first
    alone and the reason, where fewer than ``FEWEST_NODES`` nodes have a label or the base would take more than
    ``BASE_SHARE`` of the time limit.
    """
    if settings.classes is None:
        coder = LabelCoder.found([g.labels for g in graphs])
    else:
        coder = LabelCoder.given(settings.classes)
    pipeline = pipeline_of(settings)
    if isinstance(graphs, GraphFolder):  # a part of it is in memory at a time
        pipeline.fit(graphs)
        ready = [pipeline.transform(graph) for graph in graphs]
    else:
        ready = pipeline.fit_transform(graphs)
    tuples = [coder.encode_tuples(group, g) for g, group in enumerate(ready[0].cliques)]
    bases: list[Base | None] = [None] if settings.base is None or settings.base == "auto" else []
    why = ""
    if settings.base is not None:
        assert not isinstance(graphs, GraphFolder)
        codes, _ = _codes(graphs, coder)
        kind = "trees" if settings.base == "auto" else settings.base
        why = _why_no_base(graphs, codes, settings) if settings.base == "auto" else ""
        if not why:
            seed, threads = settings.draw_seed(), settings.threads
            bases.append(
                fit_base(kind, _first_features(settings), graphs, codes, coder.n_labels, seed, threads)
            )
    sets = [labelled_part(ready, coder, pipeline, tuples, base) for base in bases]
    if isinstance(graphs, GraphFolder) and all(map(operator.is_, sets[0].graphs, ready)):
        sets = [replace(sets[0], folder=graphs if len(sets[0].graphs) == len(ready) else None)]
    return sets, why


def _why_no_base(graphs: Sequence[Graph], codes: IntArray, settings: Settings) -> str:
    """Why ``base="auto"`` is none on these graphs, whatever folds might say; else empty."""
    nodes = int((codes >= 0).sum())
    if nodes < FEWEST_NODES:
        return f"no base: {nodes:,} labelled nodes are fewer than {FEWEST_NODES:,}"
    why = _too_long(settings, lambda: _seconds_of_trees(_first_features(settings), graphs, codes, settings))
    return f"no base: {why}" if why else ""


def _first_features(settings: Settings) -> BaseFeatures:
    """What the base sees unless folds say more."""
    return "edges" if settings.base_features == "auto" else settings.base_features


def _too_long(settings: Settings, seconds: Callable[[], float]) -> str:
    """Why the time limit, where there is one, does not allow a base that takes so long; else empty."""
    limit = settings.time_limit
    if limit is None or (taken := seconds()) <= BASE_SHARE * limit:
        return ""
    return f"it would take about {taken:.2g} s, more than a quarter of the time limit"


def _seconds_of_trees(
    features: BaseFeatures, graphs: Sequence[Graph], codes: IntArray, settings: Settings
) -> float:
    return seconds_of_trees(features, graphs, codes, settings.draw_seed(), settings.threads)


def with_context(
    graphs: Sequence[Graph], data: TrainingSet, settings: Settings
) -> tuple[TrainingSet | None, str]:
    """The set whose base sees context too, from one whose base sees edges, or the reason why the time limit forbids it;
    ``graphs``: those that the set was made of."""
    assert data.base is not None
    assert settings.base is not None
    codes, _ = _codes(graphs, data.coder)
    known, kind = data.base, "trees" if settings.base == "auto" else settings.base

    def seconds() -> float:
        if isinstance(kind, str):
            return _seconds_of_trees("context", graphs, codes, settings)
        return seconds_with_context(known, graphs)

    why = _too_long(settings, seconds)
    if why:
        return None, f"no context: {why}"
    base = add_context(known, kind, graphs, codes, settings.draw_seed(), settings.threads)
    return labelled_part(
        data.pipeline.transform_all(graphs), data.coder, data.pipeline, data.tuples, base
    ), ""


def training_set(graphs: Sequence[Graph] | GraphFolder, settings: Settings) -> TrainingSet:
    """The first of :func:`training_sets`."""
    return training_sets(graphs, settings)[0][0]


def as_given(graphs: Sequence[Graph] | GraphFolder, settings: Settings) -> Decided:
    """Where settings leave nothing to be searched."""
    data = training_set(graphs, settings)
    return Decided(data, settings.settled(data.graphs))


def pipeline_of(settings: Settings) -> FeaturePipeline:
    """The feature steps that settings name."""
    assert settings.node_lift != "auto"  # chosen before
    return FeaturePipeline(
        standardize=settings.standardize,
        edge_lift=settings.edge_lift,
        node_lift=settings.node_lift,
        degree_scale=settings.degree_scale,
        incidence_scale=settings.incidence_scale,
        incidence=settings.incidence,
        intercept=settings.intercept,
    )


def _codes(graphs: Sequence[Graph], coder: LabelCoder) -> tuple[IntArray, IntArray]:
    """(V,) code of every node of all graphs, and where each graph begins."""
    offset = np.cumsum([0, *(graph.n_nodes for graph in graphs)], dtype=np.int64)
    return coder.encode_all([g.labels for g in graphs], offset, lambda i: place(i, graphs[i].name)), offset


def labelled_part(
    ready: Sequence[Graph],
    coder: LabelCoder,
    pipeline: FeaturePipeline,
    tuples: Iterable[IntArray] = (),
    base: Base | None = None,
) -> TrainingSet:
    """The labelled nodes of graphs after the feature steps, with the held-out columns of ``base``. Graphs without any
    are left out. Raises ValueError where there are not as many nodes as held-out rows.
    """
    if base is not None:
        ready = base.join(ready, base.held_out)
    whole, offset = _codes(ready, coder)
    known = np.append(0, np.cumsum(whole != UNLABELLED))[offset].tolist()
    parts, codes = [], []
    for graph, (start, end), before, after in zip(
        ready, pairwise(offset.tolist()), known, known[1:], strict=False
    ):
        code = whole[start:end]
        if before < after < before + end - start:
            labelled = code != UNLABELLED
            graph, code = graph.induced(labelled), code[labelled]
        if before < after:
            parts.append(graph)
            codes.append(code)
    if not parts:
        raise ValueError("no node of any graph has a label: give labels to fit")
    return TrainingSet(tuple(parts), tuple(codes), coder, pipeline, tuple(tuples), base)


def build_problem(data: TrainingSet, settings: Settings) -> LearningProblem:
    """Pack the training set with loss, class weights and the box of every weight. Settings must be settled."""
    lower, upper = box(data, settings)
    return learning_problem(
        data.graphs,
        data.codes,
        n_labels=data.coder.n_labels,
        C=settings.trade_off,
        loss_scale=settings.loss_scale,
        class_weight=class_weights(settings.class_weight, data.graphs, data.codes, data.coder),
        costs=cost_factors(settings.costs, data.coder),
        lower=lower,
        upper=upper,
        tuples=data.tuples,
        tied=tied_pairs(settings.pairwise, data.coder.n_labels),
    )


def box(data: TrainingSet, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bound of every weight, ``[unary | pairwise | cliques]`` flat."""
    n_labels = data.coder.n_labels
    shape = WeightShape(n_labels, data.graphs[0].node_dim, data.graphs[0].edge_dim)
    lower, upper = weight_box(
        shape,
        settings.nonnegative,
        settings.frozen,
        settings.pairwise,
        free_pairwise=KINDS[settings.oracle].any_sign,
        oracle=settings.oracle,
    )
    groups = zip(data.tuples, data.graphs[0].cliques, strict=True)
    more = sum(len(tuples) * group.dim for tuples, group in groups)
    return np.append(lower, np.zeros(more)), np.append(upper, np.full(more, np.inf))


def make_oracle(data: TrainingSet, problem: LearningProblem, settings: Settings) -> Oracle:
    """The oracle that ``settings`` name, on this problem."""
    kind = KINDS[settings.oracle]
    return kind.make(problem, _examples(data, problem, settings) if kind.takes_examples else settings.threads)


def _examples(data: TrainingSet, problem: LearningProblem, settings: Settings) -> Iterator[Labelled]:
    """The graphs of the problem with what their wrong indicators cost, for oracles that read them unpacked."""
    weight = class_weights(settings.class_weight, data.graphs, data.codes, data.coder)
    for graph, code in zip(data.graphs, data.codes, strict=True):
        loss = indicator_losses(graph.node_weights, code, settings.loss_scale, weight, problem.costs)
        yield graph, code, loss


def make_learner(
    settings: Settings, chosen: Mapping[str, Any] | None = None, engine: ShardEngine | None = None
) -> Learner:
    """The learner that ``settings`` name, with those of its settings that they hold; ``chosen`` goes into its
    checkpoints; ``engine``: where shards are, by default in this process.
    """
    kind = LEARNERS[settings.learner]
    known = {
        "qp": settings.qp,
        "n_threads": settings.threads,
        "checkpoint": settings.checkpoint,
        "chosen": chosen,
        "engine": engine,
    }
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # learners are dataclasses
    chosen = {name: value for name, value in known.items() if name in names}
    if "seed" in names:
        chosen["seed"] = settings.draw_seed()
    return kind(**chosen)


def learn(
    data: TrainingSet,
    problem: LearningProblem,
    settings: Settings,
    start: WarmStart | None = None,
    chosen: Mapping[str, Any] | None = None,
    engine: ShardEngine | None = None,
) -> LearnResult:
    """Run the learner that ``settings`` name; see :func:`make_learner`."""
    oracle = make_oracle(data, problem, settings)
    learner = make_learner(settings, chosen, engine)
    return learner.run(problem, oracle, settings.limits, settings.callback, start)


def learn_path(
    data: TrainingSet,
    problem: LearningProblem,
    settings: Settings,
    C_values: Sequence[float],
    engine: ShardEngine | None = None,
) -> Iterator[FittedModel]:
    """One model per value of C; learners with iterates carry them along."""
    results = make_learner(settings, engine=engine).path(
        problem, lambda at_C: make_oracle(data, at_C, settings), C_values, settings.limits, settings.callback
    )
    return (fitted(data, problem, result) for result in results)


def fitted(data: TrainingSet, problem: LearningProblem, result: LearnResult) -> FittedModel:
    """The result of a learner in terms of labels and features."""
    unary, pairwise = problem.expand(result.weights)
    cliques = zip(data.tuples, problem.clique_weights(result.weights), strict=True)
    return FittedModel(
        coder=data.coder,
        pipeline=data.pipeline,
        unary=unary,
        pairwise=pairwise,
        cliques=tuple(CliqueWeights(tuples, weights) for tuples, weights in cliques),
        certificate=result.certificate,
        history=result.history,
        data=summary(data, problem),
        message=result.message if data.base is None else f"{result.message}, given the base",
        impossible=result.impossible,
        eta=result.eta,
        xi=result.xi,
        base=data.base,
        cut_off=result.cut_off,
    )


def summary(data: TrainingSet, problem: LearningProblem) -> DataSummary:
    """Counts and fingerprint."""
    counts = (len(data.graphs), sum(g.n_nodes for g in data.graphs), sum(g.n_edges for g in data.graphs))
    return DataSummary(*counts, problem.fingerprint, sum(g.n_cliques for g in data.graphs))

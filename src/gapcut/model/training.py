"""From raw labelled graphs to a fitted model: feature steps, packing, learning, certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gapcut.data import NO_GRAPHS, Graph, GraphFolder, GraphSet, as_graphs
from gapcut.engines.shards import ShardEngine
from gapcut.features import FeaturePipeline
from gapcut.inference import CliqueWeights
from gapcut.learners import Learner, LearnResult, WarmStart
from gapcut.learners.base import NO_MEMORY
from gapcut.model.chosen import Choice
from gapcut.model.domain import WeightShape, tied_pairs, weight_box
from gapcut.model.fitted import DataSummary, FittedModel
from gapcut.model.labels import UNLABELLED, LabelCoder
from gapcut.model.losses import class_weights, cost_factors
from gapcut.model.pairing import LEARNERS
from gapcut.model.ready import Outline, ReadyGraphs
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

NO_LABEL = "no node of any graph has a label: give labels to fit"
FEWEST_NODES = 1000
"""Labelled nodes without which ``base="auto"`` is none."""

BASE_SHARE = 0.25
"""Of a time limit that ``base="auto"`` may spend on fitting the base; folds take half, and the weights what is left."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The labelled part of some graphs after the feature steps, and the label set.

    ``graphs`` are model-ready, every node labelled; ``codes`` one (V,) array per graph; ``tuples`` for each clique
    group the (T, d) label codes that get weights; ``base``: whose held-out columns are the last node features.
    """

    graphs: Sequence[Graph]
    codes: tuple[IntArray, ...]
    coder: LabelCoder
    pipeline: FeaturePipeline
    tuples: tuple[IntArray, ...] = ()
    base: Base | None = None

    def some(self, places: list[int]) -> TrainingSet:
        """The graphs at these places, ascending. Of those of a folder none is read."""
        graphs = self.graphs
        kept = graphs.take(places) if isinstance(graphs, ReadyGraphs) else tuple(graphs[i] for i in places)
        return replace(self, graphs=kept, codes=tuple(self.codes[i] for i in places))

    def node_weights(self, place: int) -> FloatArray:
        """(V,) of a graph's nodes, 1 each where it has none."""
        graphs = self.graphs
        own = graphs.node_weights(place) if isinstance(graphs, ReadyGraphs) else graphs[place].node_weights
        return np.ones(len(self.codes[place])) if own is None else own


@dataclass(frozen=True, eq=False)
class Decided:
    """What a fit starts from: ``settings`` with a number for C, the ``choice`` where one was asked for, and the
    ``temperature`` of the probabilities where there were folds to fit it on.
    """

    data: TrainingSet
    settings: Settings
    choice: Choice | None = None
    temperature: float | None = None


def graphs_of(X: Iterable[Any], y: Sequence[Any] | None) -> GraphSet | GraphFolder:
    """What a fit is given, checked. A folder stays on disk, unless it gets other labels."""
    if y is not None or not isinstance(X, GraphFolder):
        return as_graphs(X, y)
    if not len(X):
        raise ValueError(NO_GRAPHS)
    return X


def training_sets(graphs: Sequence[Graph] | GraphFolder, settings: Settings) -> tuple[list[TrainingSet], str]:
    """Fit the feature steps and the base on whole graphs, then cut out the labelled nodes.

    Without a base one set; with one, one that has its columns; with ``base="auto"`` both in this order, or the first
    alone and the reason, where fewer than ``FEWEST_NODES`` nodes have a label or the base would take more than
    ``BASE_SHARE`` of the time limit.
    """
    outline = Outline.of(graphs)
    given = settings.classes
    coder = LabelCoder.found(outline.labels) if given is None else LabelCoder.given(given)
    pipeline = pipeline_of(settings)
    ready: Sequence[Graph] | None = None
    if isinstance(graphs, GraphFolder):  # a part of it is in memory at a time
        first = pipeline.fit(graphs).transform(graphs[0])
    else:
        first = (ready := pipeline.fit_transform(graphs))[0]
    tuples = tuple(coder.encode_tuples(group, g) for g, group in enumerate(first.cliques))
    codes = outline.codes(coder)
    bases: list[Base | None] = [None] if settings.base is None or settings.base == "auto" else []
    why = ""
    if settings.base is not None:
        kind = "trees" if settings.base == "auto" else settings.base
        why = _why_no_base(graphs, codes, settings) if settings.base == "auto" else ""
        if not why:
            seed, threads = settings.draw_seed(), settings.threads
            bases.append(
                fit_base(kind, _first_features(settings), graphs, codes, coder.n_labels, seed, threads)
            )
    if isinstance(graphs, GraphFolder):
        whole = ReadyGraphs(graphs, pipeline, outline, codes)
        return [_of_folder(whole, coder, pipeline, tuples, base) for base in bases], why
    assert ready is not None
    return [labelled_part(ready, coder, pipeline, tuples, base, codes) for base in bases], why


def _of_folder(
    whole: ReadyGraphs,
    coder: LabelCoder,
    pipeline: FeaturePipeline,
    tuples: tuple[IntArray, ...],
    base: Base | None,
) -> TrainingSet:
    """What :func:`labelled_part` makes of graphs in memory."""
    if not len(whole):
        raise ValueError(NO_LABEL)
    graphs = whole if base is None else whole.beside(base)
    codes = tuple(whole.codes_of(place) for place in range(len(whole)))
    return TrainingSet(graphs, codes, coder, pipeline, tuples, base)


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
    codes = Outline.of(graphs).codes(data.coder)
    known, kind = data.base, "trees" if settings.base == "auto" else settings.base

    def seconds() -> float:
        if isinstance(kind, str):
            return _seconds_of_trees("context", graphs, codes, settings)
        return seconds_with_context(known, graphs)

    why = _too_long(settings, seconds)
    if why:
        return None, f"no context: {why}"
    base = add_context(known, kind, graphs, codes, settings.draw_seed(), settings.threads)
    if isinstance(data.graphs, ReadyGraphs):
        return replace(data, graphs=data.graphs.beside(base), base=base), ""
    ready = data.pipeline.transform_all(graphs)
    return labelled_part(ready, data.coder, data.pipeline, data.tuples, base), ""


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


def labelled_part(
    ready: Sequence[Graph],
    coder: LabelCoder,
    pipeline: FeaturePipeline,
    tuples: Iterable[IntArray] = (),
    base: Base | None = None,
    whole: IntArray | None = None,
) -> TrainingSet:
    """The labelled nodes of graphs after the feature steps, with the held-out columns of ``base``. Graphs without any
    are left out. ``whole``: codes of all nodes, if they are known. Raises ValueError where there are not as many nodes
    as held-out rows.
    """
    if base is not None:
        ready = base.join(ready, base.held_out)
    outline = Outline.of(ready)
    whole, offset = outline.codes(coder) if whole is None else whole, outline.offset
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
        raise ValueError(NO_LABEL)
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
        room=data.graphs.room if isinstance(data.graphs, ReadyGraphs) else None,
    )


def box(data: TrainingSet, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bound of every weight, ``[unary | pairwise | cliques]`` flat."""
    n_labels, first = data.coder.n_labels, data.graphs[0]
    shape = WeightShape(n_labels, first.node_dim, first.edge_dim)
    lower, upper = weight_box(
        shape,
        settings.nonnegative,
        settings.frozen,
        settings.pairwise,
        free_pairwise=KINDS[settings.oracle].any_sign,
        oracle=settings.oracle,
    )
    groups = zip(data.tuples, first.cliques, strict=True)
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
    *,
    whole: bool = True,
) -> Iterator[FittedModel]:
    """One model per value of C; learners with iterates carry them along. Unless it must be ``whole``, a path that has
    begun ends with a warning before the first C for which there is no memory."""
    results = make_learner(settings, engine=engine).path(
        problem, lambda at_C: make_oracle(data, at_C, settings), C_values, settings.limits, settings.callback
    )
    count = 0
    try:
        for result in results:
            yield fitted(data, problem, result)
            count += 1
    except MemoryError as error:
        if whole or not count:
            raise
        why = f"{NO_MEMORY} ({error or 'std::bad_alloc'})"
        warnings.warn(f"{why}: the path ends with C = {C_values[count - 1]:g}", stacklevel=3)


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
        data=summary(problem),
        message=result.message if data.base is None else f"{result.message}, given the base",
        impossible=result.impossible,
        eta=result.eta,
        xi=result.xi,
        base=data.base,
        cut_off=result.cut_off,
    )


def summary(problem: LearningProblem) -> DataSummary:
    """Counts and fingerprint."""
    core = problem.core
    counts = (core.n_graphs, int(core.node_offset[-1]), int(core.edge_offset[-1]))
    return DataSummary(*counts, problem.fingerprint, sum(group.n_cliques for group in core.cliques))

"""The bridges with the features of Li and Huber (2017), what each of ours adds to them, and their competitors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gapcut.comparison.contenders import Contender
from gapcut.comparison.document import comparison_document
from gapcut.comparison.folds import Comparison, Part, Row, compare_parts, cpu_limit
from gapcut.comparison.markdown import rows_table
from gapcut.data import GraphSet
from gapcut.features import FeaturePipeline
from gapcut.machine import Machine
from gapcut.parameters import LearnerName, OracleName
from gapcut.scenes.experiment import ExperimentSettings, FoldGraphs
from gapcut.scenes.experiment.settings import PAPER_EDGES
from gapcut.scenes.experiment.tables import (
    CLAIM_COLUMNS,
    ON_TOP_COLUMNS,
    claim_rows,
    markdown_table,
    on_top_rows,
    on_top_weights,
)
from gapcut.scenes.experiment.triples import TRIPLES

AS_GIVEN = {"standardize": False, "edge_lift": "none", "intercept": False, "incidence": False}
"""Feature steps with the paper's features: none."""

_WALL = 6.0  # wall clock of a fit as a multiple of its CPU seconds: for what hangs within a pass


@dataclass(frozen=True)
class Variant:
    """A row: a pair; whether ``paper``'s features alone are seen; ``edges``: whether nodes have neighbours at all;
    ``pairs``: whether pairwise weights are learned, or stay 0; ``triples``: terms over three parts that are;
    ``options`` of the learner."""

    contender: Contender
    paper: bool = True
    edges: bool = True
    pairs: bool = True
    triples: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


def bridge_variants() -> list[Variant]:
    """Our learner on the paper's features first; then its other learners and oracles; then what features do."""
    return [_ours("paper's features"), *_competitors(), *_additions()]


def _competitors() -> list[Variant]:
    pairs: list[tuple[LearnerName, OracleName]] = [
        ("cutting-plane", "cut"),
        ("cutting-plane", "qpbo"),
        ("cutting-plane", "qpbo-rounded"),
        ("cutting-plane", "qpbo-rounded-energy"),
        ("frank-wolfe", "icm"),
    ]
    return [Variant(Contender(*pair, note="paper's features"), options=AS_GIVEN) for pair in pairs]


def _additions() -> list[Variant]:
    with_sums = {**AS_GIVEN, "incidence": True}
    return [
        _ours("paper's nodes alone", edges=False),
        _ours("paper's, incidence without pairs", pairs=False, options=with_sums),
        _ours("paper's, incidence and pairs", options=with_sums),
        _ours("our nodes alone", paper=False, edges=False, options={}),
        _ours("ours, incidence without pairs", paper=False, pairs=False, options={}),
        _ours("ours, pairs without incidence", paper=False, options={"incidence": False}),
        _ours("ours, incidence and pairs", paper=False, options={}),
    ]


def _ours(note: str, **changes: Any) -> Variant:
    return replace(Variant(Contender("primal-dual", "cut", note=note), options=AS_GIVEN), **changes)


def compare_on_bridges(
    folds: Sequence[FoldGraphs],
    variants: Sequence[Variant],
    settings: ExperimentSettings,
    limit: float,
    say: Callable[[str], None] | None = None,
) -> Comparison:
    """All variants on all folds at one C and gap; ``limit``: CPU seconds a fit. Models are those of the first row.

    ``folds`` of :func:`gapcut.scenes.experiment.fold_graphs`, whose edges have at least the paper's features.
    """
    rows: list[Row] = []
    models: tuple[Machine, ...] = ()
    for variant in variants:
        parts: list[Part] = [
            (str(f + 1), seen(fold.training, variant), seen(fold.tests, variant))
            for f, fold in enumerate(folds)
        ]

        def fit(contender: Contender, graphs: GraphSet, task: str, variant: Variant = variant) -> Machine:
            if say is not None:
                say(task)
            return _machine(variant, graphs, settings, limit).fit(graphs)

        found = compare_parts(parts, [variant.contender], fit)
        rows.extend(found.rows)
        models = models or found.models
    return Comparison(tuple(rows), models)


def seen(graphs: GraphSet, variant: Variant) -> GraphSet:
    """The graphs with the features that a variant sees; every node counts 1.

    The paper's: the mean class distribution of a node and three features of an edge. Graphs of :func:`with_triples` for
    variants with such terms.
    """
    all_nodes, all_edges = graphs.node_feature_names or (), graphs.edge_feature_names or ()
    nodes = tuple(n for n in all_nodes if n.startswith("p(")) if variant.paper else all_nodes
    edges = PAPER_EDGES if variant.paper else all_edges
    at_nodes, at_edges = [all_nodes.index(n) for n in nodes], [all_edges.index(n) for n in edges]
    return GraphSet(
        (
            g.replace(
                node_features=g.node_features[:, at_nodes],
                edges=g.edges if variant.edges else None,
                edge_features=g.edge_features[:, at_edges] if variant.edges else None,
                node_weights=None,
                cliques=[g.cliques[TRIPLES.index(kind)] for kind in variant.triples] or None,
            )
            for g in graphs
        ),
        node_feature_names=nodes,
        edge_feature_names=edges if variant.edges else None,
    )


def bridges_markdown(found: Comparison) -> str:
    """The rows, and what the model of the first one has learned of *on top of*."""
    text = f"# Bridges with the paper's features\n\n{rows_table(found)}\n"
    if not found.models:
        return text
    weights = np.array([on_top_weights(model) for model in found.models])
    return (
        f"{text}\n## Weights of on top of, mean of the folds (least to largest)\n\n"
        f"{markdown_table(ON_TOP_COLUMNS, on_top_rows(weights))}"
        f"\n## What the paper says of on top of\n\n{markdown_table(CLAIM_COLUMNS, claim_rows(weights))}"
    )


def bridges_document(found: Comparison, folds: Sequence[FoldGraphs]) -> dict[str, Any]:
    """The same for programs."""
    graphs = sum(len(fold.tests) for fold in folds)
    return {
        **comparison_document(found, [], graphs, len(folds)),
        "on_top_of": [on_top_weights(model).tolist() for model in found.models],
    }


def _machine(variant: Variant, graphs: GraphSet, settings: ExperimentSettings, limit: float) -> Machine:
    training, k, frozen = settings.training, len(settings.classes), None
    if not variant.pairs:
        features = len(FeaturePipeline(**variant.options).fit(graphs).edge_names)
        frozen = {"pairwise": np.zeros((k, k, features))}
    return Machine(
        C=training.C,
        gap=training.gap,
        classes=list(settings.classes),
        learner=variant.contender.learner,
        oracle=variant.contender.oracle,
        nonnegative=variant.contender.nonnegative,
        frozen=frozen,
        time_limit=_WALL * limit,
        callback=cpu_limit(limit),
        n_jobs=training.n_jobs,
        random_state=training.seed,
        **variant.options,
    )

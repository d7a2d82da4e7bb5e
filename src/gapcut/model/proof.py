"""Proofs of a model's claim that others can check (docs/proofs.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from gapcut.certificates import Callback, Certificate, DualPoint, Proof, Record, packed, prove
from gapcut.certificates.proof import FORMAT
from gapcut.data import Graph
from gapcut.data.archive import Contents, to_arrays
from gapcut.late import is_sparse
from gapcut.learners import LearnResult, Limits, PrimalDual
from gapcut.model.claim import pose, same_claim
from gapcut.model.fitted import FittedModel
from gapcut.model.losses import class_weights
from gapcut.model.settings import Settings
from gapcut.model.training import TrainingSet, box, make_oracle
from gapcut.oracles.base import RelaxedLabels
from gapcut.oracles.kinds import KINDS
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray

DENSE_LIMIT: Final = 2**31
"""Bytes that node features may take in the file of a proof's graphs, which holds them dense."""

_SPARE: Final = 0.1
"""Part of the claimed gap by which a run goes beyond the claimed lower end: what 16 bits may cost."""

_NEARER: Final = 0.5
"""Part of the claimed gap at which a run for the lower end gives up on reaching the claimed one."""

_LEAST: Final = 1e-6
"""A claimed gap below this counts as this."""


def check_provable(settings: Settings, graphs: Sequence[Graph]) -> None:
    """Raises ValueError with the reason where no proof can be written. Settings must be settled."""
    if any(g.cliques for g in graphs):
        raise ValueError("proofs are of unary and pairwise terms, but the graphs have cliques")
    if settings.costs is not None:
        raise ValueError(
            "proofs know one cost of all wrong labels: leave costs=None for a fit that is to be proven"
        )
    if not (KINDS[settings.oracle].relaxation or settings.oracle == "tree"):
        raise ValueError(
            f"oracle={settings.oracle!r} has no proofs: there are such for the relaxed binary problem (oracle='cut'), "
            "the LP-relaxed one-hot problem ('lp') and graphs without cycles ('tree')"
        )


def prove_result(
    data: TrainingSet, problem: LearningProblem, settings: Settings, result: LearnResult, model: FittedModel
) -> Proof:
    """A proof of what was just learned. A learner that has no dual point is followed by a run of one that has."""
    check_provable(settings, data.graphs)
    point = result.dual_point or _reach(data, problem, settings, result.certificate, None, None)
    return _prove(data, problem, settings, result.weights, point, model)


def prove_model(
    model: FittedModel,
    settings: Settings,
    graphs: Sequence[Graph],
    time_limit: float | None,
    callback: Callback | None,
) -> Proof:
    """A proof of ``model.certificate`` from the raw graphs that it was learned from; see :meth:`Machine.prove`."""
    posed = pose(model, settings, graphs)
    if posed is None:
        raise ValueError(
            "the graphs or the settings are not those the model was trained with: there is no claim to prove"
        )
    data, problem, settings = posed.data, posed.problem, posed.settings
    check_provable(settings, data.graphs)
    if posed.outside:
        raise ValueError(f"the model's claim does not hold: {posed.outside}")
    point = _reach(data, problem, settings, model.certificate, time_limit, callback)
    return _prove(data, problem, settings, posed.weights, point, model)


def _reach(
    data: TrainingSet,
    problem: LearningProblem,
    settings: Settings,
    claim: Certificate,
    time_limit: float | None,
    callback: Callback | None,
) -> DualPoint:
    """A dual point that proves the lower end of ``claim``, or what the steps find within limits."""
    gap = max(_LEAST, min(settings.gap, claim.relative_gap))

    def watch(record: Record) -> bool:
        stop = callback(record) if callback is not None else False
        return bool(stop) or same_claim(record.lower, claim.lower * (1.0 + _SPARE * gap))

    provable = settings if KINDS[settings.oracle].relaxation else settings.with_oracle("lp")
    oracle = make_oracle(data, problem, provable)
    learner = PrimalDual(n_threads=settings.threads, seed=settings.draw_seed())
    limits = Limits(gap=_NEARER * gap, time_limit=time_limit)
    point = learner.run(problem, oracle, limits, watch).dual_point
    assert point is not None
    return point


def _prove(
    data: TrainingSet,
    problem: LearningProblem,
    settings: Settings,
    weights: FloatArray,
    point: DualPoint,
    model: FittedModel,
) -> Proof:
    lower, upper, arrays = prove(problem, weights, point, _truth(problem, point.relaxation.one_label))
    unary, pairwise = problem.expand(weights)
    low, high = box(data, settings)
    of_class = class_weights(settings.class_weight, data.graphs, data.codes, data.coder)
    graphs = packed(graph_arrays(data))
    steps, meta = model.pipeline.to_state()
    header: dict[str, Any] = {
        **FORMAT,
        "problem": "LP-relaxed one-hot" if point.relaxation.one_label else "relaxed binary",
        "C": problem.C,
        "loss_scale": problem.loss_scale,
        "lower": lower,
        "upper": upper,
        "certificate": [model.certificate.lower, model.certificate.upper],
        "graphs_sha256": hashlib.sha256(graphs).hexdigest(),
        "classes": model.coder.classes.tolist(),
        "steps": meta["steps"],
    }
    arrays |= {
        "unary": unary,
        "pairwise": pairwise,
        "lower": low,
        "upper": high,
        "class_weight": np.ones(problem.n_labels) if of_class is None else of_class,
        **{f"steps.{name}": values for name, values in steps.items()},
    }
    return Proof(lower, upper, header, arrays, graphs)


def _truth(problem: LearningProblem, tables: bool) -> RelaxedLabels:
    """The true labels as a point of the relaxation: it proves that no objective is below that of no plane."""
    core, K = problem.core, problem.n_labels
    truth = core.labels
    labels = np.zeros((len(truth), K), dtype=np.float32)
    labels[np.arange(len(truth)), truth] = 1.0
    if not tables:
        return RelaxedLabels(labels)
    pairs = truth[core.tail] * K + truth[core.head]
    shares = np.zeros((K * K, len(pairs)), dtype=np.float32)
    shares[pairs, np.arange(len(pairs))] = 1.0
    return RelaxedLabels(labels, shares)


def graph_arrays(data: TrainingSet) -> dict[str, AnyArray]:
    """The graphs as packed, with codes for labels, as a graph file has them; all dense."""
    first, nodes = data.graphs[0], sum(g.n_nodes for g in data.graphs)
    if first.is_sparse and 8 * nodes * first.node_dim > DENSE_LIMIT:
        raise ValueError(
            f"proofs hold dense features, which here take {8 * nodes * first.node_dim / 2**30:.1f} GiB: too large"
        )
    graphs = []
    for graph, code in zip(data.graphs, data.codes, strict=True):
        features = graph.node_features
        dense = features.toarray() if is_sparse(features) else features
        graphs.append(graph.replace(labels=code.astype(np.int64), node_features=dense))
    arrays = to_arrays(Contents(graphs, {}, None, None))
    if "node_weights" in arrays:
        arrays["node_weights"] = np.nan_to_num(arrays["node_weights"], nan=1.0)
    return arrays

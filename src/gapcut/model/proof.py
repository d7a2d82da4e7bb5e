"""Proofs of a model's claim that others can check (docs/proofs.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from gapcut.certificates import Callback, Certificate, DualPoint, Proof, Record, packed, prove
from gapcut.certificates.proof import FORMAT
from gapcut.data import Graph
from gapcut.late import is_sparse
from gapcut.learners import CutOff, LearnResult, Limits, PrimalDual
from gapcut.model.claim import drawn, pose, same_claim
from gapcut.model.fitted import FittedModel
from gapcut.model.losses import class_weights
from gapcut.model.settings import Settings
from gapcut.model.training import TrainingSet, box, make_oracle
from gapcut.oracles.kinds import KINDS
from gapcut.oracles.relaxation import RelaxedLabels
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray, IntArray

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
    if settings.pairwise != "full":
        raise ValueError(
            f"proofs know weights of all label pairs, but pairwise={settings.pairwise!r} has some shared: leave "
            "pairwise='full' for a fit that is to be proven"
        )
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
    """A proof of what was just learned. A learner that has no dual point is followed by a run of one that has, within
    the same time limit once more."""
    check_provable(settings, data.graphs)
    if result.dual_point is None:
        limit, callback = settings.time_limit, settings.callback
        point = _reach(data, problem, settings, result.certificate, limit, callback).dual_point
    else:
        point = result.dual_point
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
            + drawn(model.data)
        )
    data, problem, settings = posed.data, posed.problem, posed.settings
    check_provable(settings, data.graphs)
    if posed.outside:
        raise ValueError(f"the model's claim does not hold: {posed.outside}")
    reached = _reach(data, problem, settings, model.certificate, time_limit, callback)
    if reached.cut_off is CutOff.BY_USER:
        raise KeyboardInterrupt
    return _prove(data, problem, settings, posed.weights, reached.dual_point, model)


def _reach(
    data: TrainingSet,
    problem: LearningProblem,
    settings: Settings,
    claim: Certificate,
    time_limit: float | None,
    callback: Callback | None,
) -> LearnResult:
    """A run whose dual point proves the lower end of ``claim``, or what the steps find within limits."""
    gap = max(_LEAST, min(settings.gap, claim.relative_gap))

    def watch(record: Record) -> bool:
        stop = callback(record) if callback is not None else False
        return bool(stop) or same_claim(record.lower, claim.lower * (1.0 + _SPARE * gap))

    provable = settings if KINDS[settings.oracle].relaxation else settings.with_oracle("lp")
    oracle = make_oracle(data, problem, provable)
    learner = PrimalDual(n_threads=settings.threads, seed=settings.draw_seed())
    limits = Limits(gap=_NEARER * gap, time_limit=time_limit)
    return learner.run(problem, oracle, limits, watch)


def _prove(
    data: TrainingSet,
    problem: LearningProblem,
    settings: Settings,
    weights: FloatArray,
    point: DualPoint | None,
    model: FittedModel,
) -> Proof:
    assert point is not None  # the learner of _reach has one
    lower, upper, arrays = prove(problem, weights, point, _truth(problem, point.relaxation.one_label))
    unary, pairwise = problem.expand(weights)
    intervals, count = _runs(np.stack(box(data, settings), axis=1))
    of_class = class_weights(settings.class_weight, data.graphs, data.codes, data.coder)
    graphs, digest = packed(graph_arrays(data)), hashlib.sha256()
    for piece in graphs:
        digest.update(piece)
    steps, meta = model.pipeline.to_state()
    header: dict[str, Any] = {
        **FORMAT,
        "problem": "LP-relaxed one-hot" if point.relaxation.one_label else "relaxed binary",
        "C": problem.C,
        "loss_scale": problem.loss_scale,
        "lower": lower,
        "upper": upper,
        "certificate": [model.certificate.lower, model.certificate.upper],
        "graphs_sha256": digest.hexdigest(),
        "classes": model.coder.classes.tolist(),
        "steps": meta["steps"],
    }
    arrays |= {
        "unary": unary,
        "pairwise": pairwise,
        "box": intervals,
        "box_repeats": count,
        "class_weight": np.ones(problem.n_labels) if of_class is None else of_class,
        **{f"steps.{name}": values for name, values in steps.items()},
    }
    return Proof(lower, upper, header, arrays, graphs)


def _runs(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Rows that differ from the one before, and how often each is repeated."""
    first = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1))[: len(rows)])
    return rows[first], np.diff(np.append(first, len(rows)))


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
    features = [g.node_features for g in data.graphs]
    size = 8 * sum(x.shape[0] * x.shape[1] for x in features)
    if data.graphs[0].is_sparse and size > DENSE_LIMIT:
        raise ValueError(f"proofs hold dense features, which here take {size / 2**30:.1f} GiB: too large")
    arrays: dict[str, AnyArray] = {
        "node_offset": np.cumsum([0, *(g.n_nodes for g in data.graphs)], dtype=np.int64),
        "edge_offset": np.cumsum([0, *(g.n_edges for g in data.graphs)], dtype=np.int64),
        "node_features": np.concatenate([x.toarray() if is_sparse(x) else x for x in features]),
        "edges": np.concatenate([g.edges for g in data.graphs]),
        "edge_features": np.concatenate([g.edge_features for g in data.graphs]),
        "labels": np.concatenate(data.codes),
    }
    if any(g.node_weights is not None for g in data.graphs):
        weights = [np.ones(g.n_nodes) if g.node_weights is None else g.node_weights for g in data.graphs]
        arrays["node_weights"] = np.concatenate(weights)
    return arrays

"""Constructor parameters of an estimator, checked: one clear error for what is wrong or not available."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gapcut.data import Graph
from gapcut.engines import thread_count
from gapcut.inference import METHODS
from gapcut.learners.base import Limits
from gapcut.model.pairing import (
    AUTO,
    LEARNERS,
    ORACLES,
    check_cliques,
    check_pair,
    learner_for,
    oracle_for,
    sign_rule_for,
)

QP_SOLVERS = ("dual", "clarabel")
_CHECKPOINT = "checkpoint needs learner='primal-dual', not {!r}: leave checkpoint=None"


@dataclass(frozen=True)
class Settings:
    """Checked parameters of one fit; names as in :class:`gapcut.StructuredSVM`. ``threads`` is what
    ``n_jobs`` means.
    """

    C: float
    loss_scale: float
    limits: Limits
    learner: str
    oracle: str
    qp: str
    inference: str
    incidence: Any
    standardize: Any
    intercept: Any
    edge_lift: Any
    node_lift: Any
    degree_scale: Any
    incidence_scale: Any
    classes: Any
    class_weight: Any
    nonnegative: Any
    frozen: Any
    threads: int
    random_state: Any
    callback: Callable[..., Any] | None
    checkpoint: str | os.PathLike[str] | None
    warm_start: bool = False

    @classmethod
    def checked(cls, params: Mapping[str, Any]) -> Settings:
        """Raises ValueError or TypeError naming the parameter, its value and what is allowed."""
        learner = _choice(params, "learner", (*LEARNERS, AUTO), "learner")
        oracle = _choice(params, "oracle", (*ORACLES, AUTO), "oracle")
        nonnegative = params["nonnegative"]
        if oracle != AUTO:
            nonnegative = sign_rule_for(nonnegative, oracle)
            check_pair(learner_for(learner, oracle), oracle, nonnegative)
            _check_extras(learner_for(learner, oracle), params)
        else:
            _check_extras(learner, params)
        callback = params["callback"]
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be callable or None, not {callback!r}")
        return cls(
            C=_number(params, "C", above=0.0),
            loss_scale=_number(params, "loss_scale", above=0.0),
            limits=_limits(params),
            learner=learner,
            oracle=oracle,
            qp=_choice(params, "qp", QP_SOLVERS, "solver of the working-set program"),
            inference=_choice(params, "inference", tuple(METHODS), "inference method"),
            **{name: params[name] for name in ("incidence", "standardize", "intercept", "edge_lift")},
            **{name: params[name] for name in ("node_lift", "degree_scale", "incidence_scale")},
            **{name: params[name] for name in ("classes", "class_weight", "frozen")},
            nonnegative=nonnegative,
            threads=_threads(params["n_jobs"]),
            random_state=_random_state(params["random_state"]),
            callback=callback,
            checkpoint=params["checkpoint"],
            warm_start=bool(params["warm_start"]),
        )

    def settled(self, graphs: Sequence[Graph]) -> Settings:
        """The same with what "auto" stands for on these graphs. Raises ValueError where they have cliques that learner
        or oracle do not take.
        """
        cliques = any(g.cliques for g in graphs)
        oracle = oracle_for(graphs, self.learner) if self.oracle == AUTO else self.oracle
        learner = learner_for(self.learner, oracle, cliques)
        nonnegative = sign_rule_for(self.nonnegative, oracle)
        check_pair(learner, oracle, nonnegative)
        if cliques:
            check_cliques(learner, oracle)
        if self.checkpoint is not None and not LEARNERS[learner].takes_checkpoint:
            raise ValueError(_CHECKPOINT.format(learner))
        return replace(self, oracle=oracle, learner=learner, nonnegative=nonnegative)

    def draw_seed(self) -> int:
        """Seed of one run; a RandomState gives another one every time it is asked."""
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return 0 if self.random_state is None else int(self.random_state)


def _check_extras(learner: str, params: Mapping[str, Any]) -> None:
    """What only one learner understands."""
    checkpoint = params["checkpoint"]
    kind = LEARNERS.get(learner)  # None: not known before there are graphs
    if checkpoint is not None and not (kind and kind.takes_checkpoint):
        raise ValueError(_CHECKPOINT.format(learner))
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint={checkpoint!r} must be a path or None")
    if params["eps"] is not None and not (kind and kind.takes_eps):
        raise ValueError(
            f"eps is the stop of learner='cutting-plane', but learner={learner!r} stops at gap: "
            "leave eps=None"
        )


def _limits(params: Mapping[str, Any]) -> Limits:
    passes = params["max_passes"]
    if passes is not None and (not _is_integer(passes) or passes < 1):
        raise ValueError(f"max_passes={passes!r} must be a whole number >= 1, or None for no limit")
    gap = _number(params, "gap", at_least=0.0)
    eps = None if params["eps"] is None else _number(params, "eps", above=0.0)
    seconds = None if params["time_limit"] is None else _number(params, "time_limit", at_least=0.0)
    return Limits(gap=gap, eps=eps, max_passes=None if passes is None else int(passes), time_limit=seconds)


def _choice(params: Mapping[str, Any], name: str, available: tuple[str, ...], what: str) -> str:
    value = params[name]
    if isinstance(value, str) and value in available:
        return value
    listed = ", ".join(repr(a) for a in available)
    raise ValueError(f"{name}={value!r} is not a {what} of this version: available are {listed}")


def _number(
    params: Mapping[str, Any], name: str, above: float | None = None, at_least: float | None = None
) -> float:
    value = params[name]
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} must be a number")
    number = float(value)
    if above is not None and not (number > above and np.isfinite(number)):
        raise ValueError(f"{name}={value!r} must be a finite number > {above:g}")
    if at_least is not None and not (number >= at_least and np.isfinite(number)):
        raise ValueError(f"{name}={value!r} must be a finite number >= {at_least:g}")
    return number


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def _threads(n_jobs: Any) -> int:
    if n_jobs is not None and not _is_integer(n_jobs):
        raise TypeError(f"n_jobs={n_jobs!r} must be a whole number, or None")
    return thread_count(None if n_jobs is None else int(n_jobs))


def _random_state(random_state: Any) -> Any:
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return random_state
    if _is_integer(random_state) and 0 <= int(random_state) < 2**32:
        return random_state
    raise ValueError(
        f"random_state={random_state!r} must be a whole number in [0, 2**32), a RandomState, or None"
    )

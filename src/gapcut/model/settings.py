"""Parameters of one fit, checked: one clear error for what is wrong or does not go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np

from gapcut.data import Graph
from gapcut.engines import thread_count
from gapcut.learners.base import Limits
from gapcut.model.pairing import (
    AUTO,
    LEARNERS,
    check_cliques,
    check_pair,
    learner_for,
    oracle_for,
)
from gapcut.oracles.kinds import KINDS
from gapcut.parameters import LearnerName, OracleName, Parameters, accepted, sign_rule_for


class Settings(Parameters):
    """Parameters that passed their checks, numbers as float and int; see :class:`Parameters` for their meaning."""

    @classmethod
    def checked(cls, params: Mapping[str, Any]) -> Self:
        """Raises ValueError or TypeError naming the parameter, its value and what is allowed."""
        settings = cls(**{f.name: accepted(cls, f.name, params[f.name]) for f in fields(cls)})
        thread_count(settings.n_jobs)
        if settings.oracle == AUTO:
            settings._check_stops(settings.learner)
        else:
            settings._check_pair(learner_for(settings.learner, settings.oracle))
        return settings

    def settled(self, graphs: Sequence[Graph]) -> Self:
        """The same with what "auto" stands for on these graphs. Raises ValueError where they have cliques that learner
        or oracle do not take.
        """
        cliques = bool(graphs and graphs[0].cliques)  # all of a set have the same groups
        oracle = oracle_for(graphs, self.learner) if self.oracle == AUTO else self.oracle
        learner = learner_for(self.learner, oracle, cliques)
        if cliques:
            check_cliques(learner, oracle)
        nonnegative = sign_rule_for(self.nonnegative, oracle)
        settings = replace(self, oracle=oracle, learner=learner, nonnegative=nonnegative)
        settings._check_pair(learner)
        settings._check_engine()
        return settings

    def with_oracle(self, oracle: OracleName) -> Self:
        """The same with another oracle that takes the same box."""
        return replace(self, oracle=oracle)

    @property
    def limits(self) -> Limits:
        """When the learner stops."""
        return Limits(self.gap, self.eps, self.max_passes, self.time_limit)

    @property
    def searches(self) -> bool:
        """Whether a fit chooses anything by held-out graphs."""
        return "auto" in (self.node_lift, self.base) or self.C == "cv" or self.probability

    @property
    def threads(self) -> int:
        """What ``n_jobs`` means."""
        return thread_count(self.n_jobs)

    @property
    def trade_off(self) -> float:
        """C, once it is a number."""
        assert not isinstance(self.C, str)
        return self.C

    def draw_seed(self) -> int:
        """Seed of one run; a RandomState gives another one every time it is asked."""
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return self.random_state or 0

    def _check_pair(self, learner: LearnerName) -> None:
        """What must go together, where the oracle is known."""
        check_pair(learner, self.oracle, sign_rule_for(self.nonnegative, self.oracle))
        self._check_stops(learner)

    def _check_engine(self) -> None:
        """What shards of graphs can be learned from."""
        if self.engine == "threads":
            return
        if self.engine == "disk" and self.checkpoint is not None:
            raise ValueError("engine='disk' keeps no checkpoint: leave checkpoint=None")
        kind = KINDS[self.oracle]
        if not (self.learner == "primal-dual" or (self.learner == "block" and kind.elsewhere)):
            raise ValueError(
                f"engine={self.engine!r} is for learner='primal-dual', and for 'block' with oracle='cut', 'tree' or "
                "'trws', not for "
                f"learner={self.learner!r} with oracle={self.oracle!r}: leave engine='threads'"
            )

    def _check_stops(self, learner: LearnerName) -> None:
        """What only one learner understands; "auto" may become one with checkpoints."""
        kind = LEARNERS.get(learner)
        if self.checkpoint is not None and kind is not None and not kind.takes_checkpoint:
            raise ValueError(
                f"checkpoint needs learner='primal-dual', not {learner!r}: leave checkpoint=None"
            )
        if self.eps is not None and not (kind and kind.takes_eps):
            raise ValueError(
                f"eps is the stop of learner='cutting-plane', but learner={learner!r} stops at gap: "
                "leave eps=None"
            )

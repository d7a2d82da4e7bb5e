"""What was chosen for a model by its own training graphs, and why: a value that is kept with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gapcut.oracles.kinds import KINDS
from gapcut.parameters import OracleName


@dataclass(frozen=True)
class Trial:
    """Accuracy on the nodes of each held-out fold, or of the first alone, at a ``C``, with the base or without, and
    with an ``oracle``.
    """

    C: float
    base: bool
    oracle: OracleName
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Choice:
    """The ``C`` and the ``oracle`` of a model, whether a base joined, the ``trials`` behind that, and why, in words."""

    C: float
    base: bool
    oracle: OracleName
    trials: tuple[Trial, ...]
    reason: str

    def to_state(self) -> dict[str, Any]:
        """For JSON."""
        trials = [[t.C, t.base, t.oracle, list(t.scores)] for t in self.trials]
        return {
            "C": self.C,
            "base": self.base,
            "oracle": self.oracle,
            "trials": trials,
            "reason": self.reason,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Choice:
        """Back. Raises ValueError and its kin for anything else."""
        trials = tuple(Trial(C, base, name, tuple(scores)) for C, base, name, scores in state["trials"])
        choice = cls(state["C"], state["base"], state["oracle"], trials, state["reason"])
        numbers = [choice.C, *(v for t in trials for v in (t.C, *t.scores))]
        if not all(type(v) is float and math.isfinite(v) for v in numbers) or not choice.C > 0:
            raise ValueError("the choice of C holds something that is no number")
        flags = (choice.base, *(t.base for t in trials))
        named = all(name in KINDS for name in (choice.oracle, *(t.oracle for t in trials)))
        if type(choice.reason) is not str or not named or not all(type(flag) is bool for flag in flags):
            raise ValueError("the choice of C is malformed")
        return choice

"""What was chosen for a model by its own training graphs, and why: a value that is kept with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Trial:
    """Accuracy on the nodes of each held-out fold at a value of ``C``, with the base or without."""

    C: float
    base: bool
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Choice:
    """The ``C`` of a model, whether a base joined, the ``trials`` behind that, and the reason in words."""

    C: float
    base: bool
    trials: tuple[Trial, ...]
    reason: str

    def to_state(self) -> dict[str, Any]:
        """For JSON."""
        trials = [[t.C, t.base, list(t.scores)] for t in self.trials]
        return {"C": self.C, "base": self.base, "trials": trials, "reason": self.reason}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Choice:
        """Back. Raises ValueError and its kin for anything else."""
        trials = tuple(Trial(C, base, tuple(scores)) for C, base, scores in state["trials"])
        choice = cls(state["C"], state["base"], trials, state["reason"])
        numbers = [choice.C, *(v for t in trials for v in (t.C, *t.scores))]
        if not all(type(v) is float and math.isfinite(v) for v in numbers) or not choice.C > 0:
            raise ValueError("the choice of C holds something that is no number")
        if type(choice.reason) is not str or not all(
            type(flag) is bool for flag in (choice.base, *(t.base for t in trials))
        ):
            raise ValueError("the choice of C is malformed")
        return choice

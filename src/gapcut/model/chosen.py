"""What was chosen for a model by its own training graphs, and why: a value that is kept with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gapcut.digits import percent
from gapcut.oracles.kinds import KINDS
from gapcut.parameters import OracleName


def shown_share(share: float) -> str:
    """A share in a reason."""
    return percent(share, unit="%")


@dataclass(frozen=True)
class Trial:
    """Accuracy on the nodes of each held-out fold, or of the first alone, at a ``C``, with the base or without, and
    with an ``oracle``; ``context``: whether the base saw what it takes a node's neighbours for.
    """

    C: float
    base: bool
    oracle: OracleName
    scores: tuple[float, ...]
    context: bool = False


@dataclass(frozen=True)
class Choice:
    """The ``C`` and the ``oracle`` of a model, whether a base joined, and with ``context``, the ``trials`` behind that,
    and why, in words."""

    C: float
    base: bool
    oracle: OracleName
    trials: tuple[Trial, ...]
    reason: str
    context: bool = False

    def noted(self, reason: str, trials: Sequence[Trial] = ()) -> Choice:
        """With one more reason, and what was tried."""
        return replace(self, trials=(*self.trials, *trials), reason=f"{self.reason}; {reason}")

    def to_state(self) -> dict[str, Any]:
        """For JSON."""
        trials = [[t.C, t.base, t.oracle, list(t.scores)] + [True] * t.context for t in self.trials]
        return {
            **({"context": True} if self.context else {}),
            "C": self.C,
            "base": self.base,
            "oracle": self.oracle,
            "trials": trials,
            "reason": self.reason,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Choice:
        """Back. Raises ValueError and its kin for anything else."""
        trials = tuple(
            Trial(C, base, name, tuple(scores), *more) for C, base, name, scores, *more in state["trials"]
        )
        context = state.get("context", False)
        choice = cls(state["C"], state["base"], state["oracle"], trials, state["reason"], context)
        numbers = [choice.C, *(v for t in trials for v in (t.C, *t.scores))]
        if not all(type(v) is float and math.isfinite(v) for v in numbers) or not choice.C > 0:
            raise ValueError("the choice of C holds something that is no number")
        flags = (choice.base, context, *(flag for t in trials for flag in (t.base, t.context)))
        named = all(name in KINDS for name in (choice.oracle, *(t.oracle for t in trials)))
        if type(choice.reason) is not str or not named or not all(type(flag) is bool for flag in flags):
            raise ValueError("the choice of C is malformed")
        return choice

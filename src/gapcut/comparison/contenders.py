"""Pairs of a learner and an oracle, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gapcut.data import Graph, all_forests
from gapcut.parameters import LearnerName, OracleName, Parameters, SignRule, accepted, sign_rule_for

_SIGNS: dict[str, SignRule] = {"signed": "none", "nonnegative": "pairwise"}


@dataclass(frozen=True)
class Contender:
    """``learner``, ``oracle`` and ``nonnegative`` as in :class:`gapcut.StructuredSVM`; ``note`` tells apart what else
    differs, such as features."""

    learner: LearnerName
    oracle: OracleName
    nonnegative: SignRule = "auto"
    note: str = ""

    @property
    def name(self) -> str:
        """``learner/oracle``, with the sign rule where the oracle leaves a choice."""
        rule = sign_rule_for(self.nonnegative, self.oracle)
        sign = "signed" if rule == "none" else "nonnegative"
        plain = self.oracle == "cut" and sign == "nonnegative"
        note = f", {self.note}" if self.note else ""
        return f"{self.learner}/{self.oracle}" + ("" if plain else f"/{sign}") + note


def default_contenders(graphs: Sequence[Graph]) -> list[Contender]:
    """The comparison of the paper: exact min cuts against one-hot, QPBO and local search oracles."""
    pairs = [
        Contender("primal-dual", "cut"),
        Contender("cutting-plane", "cut"),
        Contender("block", "trws", "none"),
        Contender("block", "trws", "pairwise"),
        Contender("block", "qpbo"),
        Contender("block", "qpbo-rounded"),
        Contender("block", "qpbo-rounded-energy"),
        Contender("frank-wolfe", "icm"),
    ]
    return [*pairs, Contender("block", "tree")] if all_forests(graphs) else pairs


def parse_contenders(text: str) -> list[Contender]:
    """``learner/oracle[/signed or /nonnegative]``, separated by commas. ValueError for unknown or repeated names;
    whether a pair goes together is for its fit to say."""
    contenders = [_parse(part.strip()) for part in text.split(",") if part.strip()]
    if not contenders:
        raise ValueError("no pair to compare: name some, as in primal-dual/cut,block/trws/signed")
    names = [c.name for c in contenders]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is named twice: leave one out")
    return contenders


def _parse(text: str) -> Contender:
    parts = text.split("/")
    if not 2 <= len(parts) <= 3:
        raise ValueError(
            f"{text!r} is no pair: write learner/oracle, as in block/trws or block/trws/nonnegative"
        )
    learner, oracle = accepted(Parameters, "learner", parts[0]), accepted(Parameters, "oracle", parts[1])
    if oracle == "auto":
        raise ValueError(f"{text!r}: name the oracle")
    if len(parts) == 2:
        return Contender(learner, oracle)
    if parts[2] not in _SIGNS:
        raise ValueError(f"{text!r}: the third part is signed or nonnegative, not {parts[2]!r}")
    return Contender(learner, oracle, _SIGNS[parts[2]])

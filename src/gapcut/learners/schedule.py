"""When the primal-dual learner makes certificates and repairs, and whether it gets on: by counted iterations only."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

FIRST = 20
"""Iterations before the first certificate."""

FIRST_WIDE = 5, 1024
"""Where there are more node columns than the second number, an iteration is dear, and the first certificate comes after
so many."""

GROWTH = 1.4
"""From one certificate to the next where nothing is predicted."""

FIRST_REPAIR = 160
"""Iterations after which the first repair is tried, however far the target seems."""

FIRST_MIXTURE = 60
"""Iterations before dual points are mixed graph by graph."""

EMPTY = 0.5, 5.0
"""Where the first certificate leaves a gap above the first number and points are mixed, the next comes after as many
times its iterations as the second says: those before would prove as little."""

PASS_COST = 10
"""Iterations in the time of one pass over all graphs for planes and their masses, about (measured 3 to 20)."""

CERTIFICATE_COST = 15
"""Iterations in the time of a certificate with a mixture, about (measured 8 to 20)."""

AGAIN = 50
"""Iterations from passes of labelings that missed the target to the next such."""

SLOWER = 0.5
"""Of the rate since the start: what is left of it later."""

FIRST_FACTOR = 1.05
"""Of the weights, that the first search along their ray tries."""

SLOWING = 0.7
"""Of the time until the target, what a steady rate predicts: the rate falls on the way."""

LONGEST = 400
"""Iterations between two certificates, at most."""

PATIENCE = 6
"""Certificates without progress after which the steps are taken to be as slow as can be."""

MORE_PATIENCE = 4
"""Times as many, after which they are taken to have met their precision."""

SLOW_AFTER = 1000
"""Iterations before steps can count as slow; the problems of the benchmarks end by then, or are about to."""


@dataclass
class CertificateSchedule:
    """When the next certificate is due, in iterations since C was set. Plain numbers, so that it can be saved.

    The gap of the labels as they are (``unrepaired``) falls at a rate that is easy to predict; a repair is made when
    waiting would cost more. ``unrepaired`` and ``repaired`` are the last (iteration, relative gap) of either kind,
    ``repair_excess`` what the last repair cost over what was expected of it, ``factor`` the multiple of the weights to
    be tried next, from the iteration ``longer_due`` on; ``passes_due``: the same for passes of labelings; ``gaps`` the
    (iteration, absolute gap) of all certificates so far, ``target`` the absolute gap wanted at the last.
    """

    start: int = 0
    due: int = FIRST
    last_upper: float = math.inf
    unrepaired: Sequence[float] | None = None
    repaired: Sequence[float] | None = None
    repair_due: int = FIRST_REPAIR
    repair_excess: float = 1.0
    factor: float = FIRST_FACTOR
    longer_due: int = 0
    passes_due: int = 0
    gaps: list[tuple[int, float]] = field(default_factory=list)
    target: float = 0.0

    def __post_init__(self) -> None:
        self.gaps = [(int(at), float(gap)) for at, gap in self.gaps]  # from a file they come as anything

    @classmethod
    def begin(cls, start: int, node_dim: int) -> Self:
        """For a problem with so many node columns, from the iteration ``start``."""
        first, wide = FIRST_WIDE
        return cls(start=start, due=first if node_dim > wide else FIRST)

    def predict(self, now: int, gap: float, target: float, before: Sequence[float] | None) -> float:
        """Iterations until the target is met, at the rate since ``before`` (iteration, gap)."""
        if before is None or not before[1] > gap > target > 0.0 or now <= before[0]:
            return math.inf
        return math.log(gap / target) * (now - before[0]) / math.log(before[1] / gap)

    def rate(self, now: int, gap: float) -> float:
        """By how much an iteration lowers the logarithm of the ``gap`` of labels as they are, certificates included."""
        gap = max(gap, sys.float_info.min)
        at, before = self.unrepaired or (0, 1.0)
        if before > EMPTY[0]:  # the first labels prove nothing
            return SLOWER * max(0.0, -math.log(gap)) / (now + CERTIFICATE_COST)
        # before may be 0 or less, where only rounding is between the ends
        return math.log(before / gap) / (now - at + CERTIFICATE_COST) if before > gap else 0.0

    def note(self, now: int, gap: float, target: float) -> None:
        """A certificate with this absolute gap, where ``target`` is wanted."""
        self.gaps.append((now, gap))
        self.target = target

    def next(self, now: int, predicted: float, empty: bool = False) -> None:
        """Geometric steps, shorter where the target is predicted to be met before; ``empty``: a first certificate is as
        good as none."""
        growth = EMPTY[1] if empty and len(self.gaps) == 1 else GROWTH
        self.due = min(now + LONGEST, max(FIRST, math.ceil(growth * now)))
        if predicted < math.inf:
            self.due = now + max(FIRST // 4, math.ceil(0.1 * now), min(80, math.ceil(1.05 * predicted)))

    @property
    def slow(self) -> bool:
        """Whether a gap that goes on falling as it fell since half of the iterations, by the same factor each time that
        they double, would still miss the target after four times as many.
        """
        if not self.gaps or self.gaps[-1][0] < SLOW_AFTER:
            return False
        now, gap = self.gaps[-1]
        before = next((g for at, g in reversed(self.gaps) if 2 * at <= now), math.inf)
        return gap * min(1.0, gap / before) ** 2 > self.target

    @property
    def stalled(self) -> bool:
        """Whether the ends have not come nearer to each other by a tenth over the last certificates."""
        return self._stands_still(PATIENCE)

    @property
    def settled(self) -> bool:
        """The same over many more, so that nothing is to be hoped for from another iteration."""
        return self._stands_still(MORE_PATIENCE * PATIENCE)

    def _stands_still(self, certificates: int) -> bool:
        if len(self.gaps) <= certificates or self.gaps[-1][0] < LONGEST:
            return False
        return self.gaps[-1][1] > 0.9 * self.gaps[-1 - certificates][1]

"""When first-order steps are interrupted for a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

FIRST = 20
"""Iterations before the first certificate."""

GROWTH = 1.4
"""From one certificate to the next where nothing is predicted."""

REPAIR_COST = 40
"""Iterations in the time of one repair (measured 35 to 45 on tables and planted scenes, 90 on a huge graph)."""

LONGEST = 400
"""Iterations between two certificates, at most."""

PATIENCE = 6
"""Certificates without progress after which the steps are taken to have met their precision."""


@dataclass
class CertificateSchedule:
    """When the next certificate is due, in iterations since C was set. Plain numbers, so that it can be saved.

    The gap of the labels as they are (``unrepaired``) falls at a rate that is easy to predict; a repair costs as much
    as ``REPAIR_COST`` iterations, so it is made when waiting would cost more. ``unrepaired`` and ``repaired`` are the
    last (iteration, gap) of either kind, ``gaps`` the gaps so far.
    """

    start: int = 0
    due: int = FIRST
    last_upper: float = math.inf
    unrepaired: Sequence[float] | None = None
    repaired: Sequence[float] | None = None
    repair_due: int = 4 * REPAIR_COST
    gaps: list[float] = field(default_factory=list)

    def predict(self, now: int, gap: float, target: float, before: Sequence[float] | None) -> float:
        """Iterations until the target is met, at the rate since ``before`` (iteration, gap)."""
        if before is None or not before[1] > gap > target > 0.0 or now <= before[0]:
            return math.inf
        return math.log(gap / target) * (now - before[0]) / math.log(before[1] / gap)

    def next(self, now: int, predicted: float) -> None:
        """Geometric steps, shorter where the target is predicted to be met before."""
        self.due = min(now + LONGEST, max(FIRST, math.ceil(GROWTH * now)))
        if predicted < math.inf:
            self.due = now + max(FIRST // 4, math.ceil(0.15 * now), min(80, math.ceil(1.05 * predicted)))

    @property
    def stalled(self) -> bool:
        """Whether the ends have not come nearer to each other by a tenth over the last certificates."""
        if len(self.gaps) <= PATIENCE or self.unrepaired is None or self.unrepaired[0] < LONGEST:
            return False
        return self.gaps[-1] > 0.9 * self.gaps[-1 - PATIENCE]

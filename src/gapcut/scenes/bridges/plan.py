"""What a type's builder is given: a name, a seeded generator, which variant is wanted, and what comes around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gapcut.scenes.bridges.kit import Site
    from gapcut.scenes.bridges.model import Bridge


@dataclass(frozen=True)
class Plan:
    """One bridge to build. ``variant`` counts through the kinds of a type; equal plans give equal bridges.

    ``other_railing``: a kind of railing in place of the one drawn; ``dress`` puts things around the finished bridge.
    Neither draws from ``rng``, so that the bridge itself stays the same.
    """

    name: str
    rng: np.random.Generator
    variant: int
    other_railing: str | None = None
    dress: Callable[[Site, Bridge], Bridge] | None = None

    def kind(self, kinds: tuple[str, ...]) -> str:
        """The kind that this variant stands for."""
        return kinds[self.variant % len(kinds)]

    def railing(self, kinds: tuple[str, ...]) -> str:
        """A kind of railing."""
        drawn = str(self.rng.choice(kinds))
        return drawn if self.other_railing is None else self.other_railing

    def skew(self, most: float) -> float:
        """A skew in degrees: none for every second bridge, else up to ``most`` to either side."""
        wanted = self.rng.random() < 0.5
        angle = float(self.rng.uniform(5.0, most) * self.rng.choice([-1, 1]))
        return angle if wanted else 0.0

"""What a type's builder is given: a name, a seeded generator, and which variant is wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Plan:
    """One bridge to build. ``variant`` counts through the kinds of a type; equal plans give equal bridges."""

    name: str
    rng: np.random.Generator
    variant: int

    def kind(self, kinds: tuple[str, ...]) -> str:
        """The kind that this variant stands for."""
        return kinds[self.variant % len(kinds)]

    def skew(self, most: float) -> float:
        """A skew in degrees: none for every second bridge, else up to ``most`` to either side."""
        wanted = self.rng.random() < 0.5
        angle = float(self.rng.uniform(5.0, most) * self.rng.choice([-1, 1]))
        return angle if wanted else 0.0

"""How much a bridge has around it, and hides: settings by name."""

from __future__ import annotations

from dataclasses import dataclass

Range = tuple[float, float]


@dataclass(frozen=True)
class Difficulty:
    """Everything in metres; ranges are drawn from evenly, chances lie in [0, 1].

    Railings are of any of the kinds in ``RAILINGS``, not of the three plain ones.

    Soil
        mounds of a height of ``soil`` over footings, each with a chance of ``buried``, of ``slope`` at abutments, or
        of ``slip`` with a chance of ``slipped``.
    Road
        ``surfacing`` is the thickness of what lies on the decks; ``lamps`` apart stand lamp posts, with chances of
        ``guarded`` and ``works`` a guard rail runs along the road and concrete barriers stand on it; ``signs`` in all.
    Plants
        ``trees`` and ``shrubs`` for every metre of bridge; climbers at columns, each with a chance of ``climbers``.
    Place
        ``east``, ``north`` and ``height`` of the zero of the bridge's coordinates.
    """

    buried: float = 0.6
    soil: Range = (0.5, 1.6)
    slope: Range = (0.6, 1.6)
    slipped: float = 0.3
    slip: Range = (2.2, 3.2)
    surfacing: Range = (0.06, 0.1)
    lamps: Range = (22.0, 35.0)
    guarded: float = 0.4
    works: float = 0.5
    signs: tuple[int, int] = (2, 5)
    trees: float = 0.18
    shrubs: float = 0.4
    climbers: float = 0.25
    east: Range = (400_000.0, 600_000.0)
    north: Range = (5_000_000.0, 5_500_000.0)
    height: Range = (50.0, 600.0)


DIFFICULTIES: dict[str, Difficulty | None] = {"plain": None, "field": Difficulty()}
"""``plain``: a bridge on bare ground, near zero. ``field``: as one finds it."""


def difficulty(name: str) -> Difficulty | None:
    """One of ``DIFFICULTIES``; ValueError where there is none of that name."""
    if name not in DIFFICULTIES:
        raise ValueError(f"no difficulty {name!r}: choose one of {', '.join(DIFFICULTIES)}")
    return DIFFICULTIES[name]

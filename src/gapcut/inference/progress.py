"""What a long search tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gapcut.engines import Deadline
from gapcut.typing import Int32Array, IntArray


@dataclass(frozen=True)
class Progress:
    """The least energy found so far, the best proven bound, and seconds since the start."""

    energy: float
    bound: float
    seconds: float


Listener: TypeAlias = Callable[[Progress], object]

Tell: TypeAlias = Callable[[IntArray | Int32Array, float], None]


class Watched(Deadline):
    """A clock with somebody who wants to know: ``tell(labels, bound)``, of the energy that methods see."""

    def __init__(self, limit: float | None, tell: Tell) -> None:
        super().__init__(limit)
        self.tell = tell


def turn_of(clock: Deadline, limit: float | None) -> Deadline:
    """A clock of its own for a part of the work on the whole energy; who watches goes on watching."""
    return Watched(limit, clock.tell) if isinstance(clock, Watched) else Deadline(limit)


def teller(clock: Deadline) -> Tell | None:
    """Whom to tell, if anybody."""
    return clock.tell if isinstance(clock, Watched) else None


def report(clock: Deadline, labels: IntArray | Int32Array, bound: float) -> None:
    """Tell a labeling and a valid bound to who watches."""
    if isinstance(clock, Watched):
        clock.tell(labels, bound)

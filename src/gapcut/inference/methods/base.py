"""What a method is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from gapcut.inference.solution import Found


class Clock(Protocol):
    """Wall clock of one solve."""

    @property
    def left(self) -> float | None:
        """Seconds left, None without a limit, never negative."""
        ...


Method: TypeAlias = Callable[..., Found]
"""``method(energy: Energy, clock: Clock, *, setting=default, ...) -> Found``; settings are keyword-only."""

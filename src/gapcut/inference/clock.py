"""Wall clock of one solve."""

from __future__ import annotations

import time


class Deadline:
    """Counts from its creation; ``limit`` in seconds, None for none."""

    def __init__(self, limit: float | None) -> None:
        self._start = time.monotonic()
        self._limit = limit

    @property
    def seconds(self) -> float:
        """Since creation."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left, None without a limit, never negative."""
        return None if self._limit is None else max(0.0, self._limit - self.seconds)

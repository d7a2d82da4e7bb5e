"""Wall clock less the time in which the machine let other work go first, for tests of time limits."""

from __future__ import annotations

import time
from pathlib import Path


def kept_waiting() -> float:
    """Seconds in which this thread could have run but the processor was given to others (Linux; else 0)."""
    path = Path("/proc/thread-self/schedstat")
    return int(path.read_text().split()[1]) * 1e-9 if path.exists() else 0.0


class OwnTime:
    """``seconds`` of wall clock since creation, without waiting for the processor."""

    def __init__(self) -> None:
        self._waited, self._start = kept_waiting(), time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start - (kept_waiting() - self._waited)

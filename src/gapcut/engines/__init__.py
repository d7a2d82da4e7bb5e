"""Where per-graph work runs: threads of this process."""

from __future__ import annotations

import os
import sys

from gapcut import _core
from gapcut.engines.target import describe_machine, processor, target, targets

OutOfTime = _core.Interrupted
"""Raised by work that was given ``time_left`` seconds and did not end within them."""


def thread_count(n_jobs: int | None) -> int:
    """Threads meant by scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: give a number of threads, or -1 for all cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def peak_memory_mb() -> float:
    """Largest resident memory of this process so far, in MiB; NaN where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


__all__ = [
    "OutOfTime",
    "describe_machine",
    "peak_memory_mb",
    "processor",
    "target",
    "targets",
    "thread_count",
]

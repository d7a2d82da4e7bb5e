"""Where work runs: graphs on threads of this process, files on what :func:`open_engine` names; and how long it may."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from gapcut import _core
from gapcut.engines.target import describe_machine, processor, target, targets
from gapcut.engines.work import Engine, EngineName, Outcome, open_engine

Item = TypeVar("Item")
Result = TypeVar("Result")

OutOfTime = _core.Interrupted
"""Raised by work that was given ``time_left`` seconds and did not end within them."""


class Deadline:
    """Wall clock that starts when it is made; ``limit`` in seconds, None for none."""

    def __init__(self, limit: float | None = None) -> None:
        self._start, self._limit = time.monotonic(), limit

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left, None without a limit, never negative."""
        return None if self._limit is None else max(0.0, self._limit - self.seconds)


MOST_THREADS = 1024


def thread_count(n_jobs: int | None) -> int:
    """Threads meant by scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one. ValueError for 0 and for
    more than ``MOST_THREADS``.
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: give a number of threads, or -1 for all cores")
    if n_jobs > MOST_THREADS:
        raise ValueError(f"n_jobs={n_jobs} must be at most {MOST_THREADS} threads: -1 takes all cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def each(work: Callable[[Item], Result], items: Sequence[Item], n_threads: int) -> list[Result]:
    """``work`` done on every item, in threads; results in the order of the items, the same for any number of threads.

    After an error or Ctrl-C no further item is begun.
    """
    if n_threads <= 1 or len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(n_threads, len(items))) as pool:
        try:
            return list(pool.map(work, items))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def peak_memory_mb() -> float:
    """Largest resident memory of this process so far, in MiB; NaN where the system does not tell."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux: of the program; what getrusage says is also of the one that started it
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


SHARE = 0.5
"""Of the free memory that a command may plan with: what it needs is known roughly."""


def free_bytes() -> float:
    """Memory that other programs leave and limits of this process, or its container, allow; infinite where the system
    does not tell."""
    return max(0.0, min(_available(), _below_limit(), _in_container()))


def _available() -> float:
    return 1024.0 * _number("/proc/meminfo", "MemAvailable:")


def _below_limit() -> float:
    """Of address space (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    used = 1024.0 * _number("/proc/self/status", "VmSize:")
    return float("inf") if used == float("inf") else limit - used


def _in_container() -> float:
    """Of a control group, version 2, without what it holds of files and nobody uses."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit, used = ((folder / name).read_text().strip() for name in ("memory.max", "memory.current"))
        if limit == "max":
            return float("inf")
        files = _number(folder / "memory.stat", "inactive_file")
        return float(limit) - float(used) + (0.0 if files == float("inf") else files)
    except (OSError, ValueError):
        return float("inf")


def _number(path: str | Path, name: str) -> float:
    """That behind a name in a file of the system, infinite if it is not there."""
    try:
        lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith(name)))
    except (OSError, StopIteration):
        return float("inf")


__all__ = [
    "SHARE",
    "Deadline",
    "Engine",
    "EngineName",
    "OutOfTime",
    "Outcome",
    "describe_machine",
    "each",
    "free_bytes",
    "open_engine",
    "peak_memory_mb",
    "processor",
    "target",
    "targets",
    "thread_count",
]

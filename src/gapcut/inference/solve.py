"""Solve one energy, or many at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gapcut.engines import thread_count
from gapcut.inference.clock import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods import find_method
from gapcut.inference.solution import Solution, solution


def solve(energy: Energy, method: str = "auto", time_limit: float | None = None, **settings: Any) -> Solution:
    """Minimise an energy.

    ``method``: ``"auto"`` (what to use unless you know better), ``"trws"`` (message passing: bound and labeling),
    ``"bp"`` (belief propagation), ``"icm"`` (local search from ``start``) and ``"expansion"`` (moves by roof
    duality) for labelings, ``"qpbo"`` (roof duality, at most two labels per node), ``"lp"`` (linear program: bound
    and labeling), ``"ilp"`` and ``"exact"`` (integer program, toulbar2: exact, given time), ``"brute"``
    (enumeration, up to two million labelings). ``time_limit`` in seconds of wall clock: when it is reached, the best
    labeling and bound so far are returned; the tables are read and copied in any case. ``settings`` are the
    method's own, see its docstring. ``ValueError`` for an unknown method or setting.
    """
    run = find_method(method, settings)
    clock = Deadline(_check_limit(time_limit))
    found = run(_check_energy(energy), clock, **settings)
    return solution(energy, found, clock.seconds)


def solve_many(
    energies: Sequence[Energy],
    method: str = "auto",
    n_threads: int | None = 1,
    time_limit: float | None = None,
    **settings: Any,
) -> list[Solution]:
    """Minimise every energy, in threads; solutions in the order given, the same for any number of threads.

    ``n_threads`` as scikit-learn's ``n_jobs`` (-1: all cores). ``time_limit`` is for all together: energies
    whose turn comes later get what is left of it, at the least the labeling and bound a method makes at once.
    """
    run = find_method(method, settings)
    whole = Deadline(_check_limit(time_limit))
    energies = [_check_energy(energy) for energy in energies]

    def one(energy: Energy) -> Solution:
        clock = Deadline(whole.left)
        return solution(energy, run(energy, clock, **settings), clock.seconds)

    workers = min(thread_count(n_threads), max(1, len(energies)))
    if workers == 1:
        return [one(energy) for energy in energies]
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(one, energies))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # those that run end, the others never start
            raise


def _check_energy(energy: Energy) -> Energy:
    if not isinstance(energy, Energy):
        raise TypeError(f"expected a gapcut.Energy, got {type(energy).__name__}")
    return energy


def _check_limit(time_limit: float | None) -> float | None:
    if time_limit is not None and not (time_limit >= 0 and not math.isnan(time_limit)):
        raise ValueError(f"time_limit must be a number of seconds >= 0, or None, got {time_limit}")
    return time_limit

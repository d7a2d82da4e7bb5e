"""Solve one energy, or many at once."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from gapcut.engines import Deadline, each, thread_count
from gapcut.inference.energy import Energy
from gapcut.inference.methods import METHODS, Method, MethodName
from gapcut.inference.normal import TOO_WIDE, Normal, is_closed
from gapcut.inference.solution import Solution
from gapcut.typing import IntArray

LONGEST = 1e6
"""Seconds: a longer time limit is this one, eleven days, since clocks of the system take no number of seconds."""


def solve(
    energy: Energy, method: MethodName = "auto", time_limit: float | None = None, **settings: Any
) -> Solution[IntArray]:
    """Minimise an energy.

    ``method``: ``"auto"`` (what to use unless you know better), ``"trws"`` (message passing: bound and labeling),
    ``"bp"`` (belief propagation), ``"icm"`` (local search from ``start``) and ``"expansion"`` (moves by roof
    duality) for labelings, ``"qpbo"`` (roof duality, at most two labels per node), ``"lp"`` (linear program: bound
    and labeling), ``"ilp"`` and ``"exact"`` (integer program, toulbar2: exact, given time), ``"brute"``
    (enumeration, up to two million labelings). ``time_limit`` in seconds of wall clock: when it is reached, the best
    labeling and bound so far are returned; the tables are read and copied in any case. ``settings`` are the
    method's own, see its docstring. ``ValueError`` for an unknown method or setting.
    """
    run = _find_method(method, settings)
    clock = Deadline(_check_limit(time_limit))
    return _minimise(_check_energy(energy), run, clock, settings)


def solve_many(
    energies: Sequence[Energy],
    method: MethodName = "auto",
    n_threads: int | None = 1,
    time_limit: float | None = None,
    **settings: Any,
) -> list[Solution[IntArray]]:
    """Minimise every energy, in threads; solutions in the order given, the same for any number of threads.

    ``n_threads`` as scikit-learn's ``n_jobs`` (-1: all cores). ``time_limit`` is for all together: energies
    whose turn comes later get what is left of it, at the least the labeling and bound a method makes at once.
    """
    run = _find_method(method, settings)
    whole = Deadline(_check_limit(time_limit))
    energies = [_check_energy(energy) for energy in energies]

    def one(energy: Energy) -> Solution[IntArray]:
        return _minimise(energy, run, Deadline(whole.left), settings)

    return each(one, energies, thread_count(n_threads))


def _find_method(name: str, settings: Iterable[str]) -> Method:
    """The named method; ``ValueError`` if it does not exist or does not know one of the settings."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}: use one of {', '.join(METHODS)}")
    run = METHODS[name]
    known = [p.name for p in inspect.signature(run).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for setting in settings:
        if setting not in known:
            raise ValueError(
                f"method {name!r} has no setting {setting!r}: it has {', '.join(known) or 'none'}"
            )
    return run


def _check_energy(energy: Energy) -> Energy:
    if not isinstance(energy, Energy):
        raise TypeError(f"expected a gapcut.Energy, got {type(energy).__name__}")
    return energy


def _check_limit(time_limit: float | None) -> float | None:
    if time_limit is not None and not (time_limit >= 0 and not math.isnan(time_limit)):
        raise ValueError(f"time_limit must be a number of seconds >= 0, or None, got {time_limit}")
    return None if time_limit is None else min(time_limit, LONGEST)


def _minimise(energy: Energy, run: Method, clock: Deadline, settings: dict[str, Any]) -> Solution[IntArray]:
    """Solve the normal form. If a term is very much wider than the excess of the labeling found, then once more without
    the entries above that excess: no better labeling uses them, and they cost digits."""
    normal = Normal.of(energy)
    found = run(normal.energy, clock, **settings)
    labels, proven, stopped = found.labels, normal.proven(found.bound), found.out_of_time
    excess = normal.excess(labels)
    while TOO_WIDE * excess < normal.widest and proven is not None and not is_closed(excess, proven):
        if clock.left == 0.0:
            break
        normal = Normal.of(energy, excess)
        found = run(normal.energy, clock, **settings)
        stopped |= found.out_of_time
        more, again = normal.proven(found.bound), normal.excess(found.labels)
        proven = max(proven, Fraction(excess) if more is None else min(more, Fraction(excess)))
        if again >= excess:
            break
        labels, excess = found.labels, again
    return normal.judged(labels, proven, stopped, clock.seconds)

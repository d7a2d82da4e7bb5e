"""Solve one energy, or many at once."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapcut.engines import Deadline, each, thread_count
from gapcut.inference.energy import Energy
from gapcut.inference.methods import METHODS, Method, MethodName
from gapcut.inference.normal import TOO_WIDE, Normal, is_closed
from gapcut.inference.progress import Listener, Progress, Tell, Watched
from gapcut.inference.solution import Solution
from gapcut.typing import Int32Array, IntArray

KINDS: Mapping[str, tuple[str, Any]] = MappingProxyType(
    {
        "int": ("a whole number", int | np.integer),
        "float": ("a number", int | float | np.integer | np.floating),
        "bool": ("True or False", bool | np.bool_),
        "str": ("a text", str),
    }
)
"""What annotations of settings say, in words and as types."""

LARGEST_COUNT = 2**31 - 1
"""What the core counts to."""

LONGEST = 1e6
"""Seconds: a longer time limit is this one, eleven days, since clocks of the system take no number of seconds."""

JUDGING_SECONDS = 2e-8
"""Of a term, roughly: its entry, sums of energy, excess and bound, and what a method does with its last labeling."""


def solve(
    energy: Energy,
    method: MethodName = "auto",
    time_limit: float | None = None,
    *,
    fixed: Mapping[int, int] | None = None,
    soft: Mapping[int, ArrayLike] | None = None,
    progress: Listener | None = None,
    **settings: Any,
) -> Solution[IntArray]:
    """Minimise an energy.

    ``method``: ``"auto"`` (what to use unless you know better), ``"trws"`` (message passing: bound and
    labeling), ``"cycles"`` (the same, then short cycles: a tighter bound), ``"bp"`` (belief propagation),
    ``"icm"`` (local search from ``start``), ``"trees"`` (local search by forests) and ``"expansion"``
    (moves by roof duality) for labelings, ``"qpbo"`` (roof duality, at most two labels per node), ``"lp"``
    (linear program: bound and labeling), ``"ilp"`` and ``"exact"`` (integer program, toulbar2: exact, given
    time), ``"brute"`` (enumeration, up to two million labelings). ``time_limit`` in seconds of wall clock:
    when it is reached, the best labeling and bound so far are returned; the tables are read and copied in
    any case. ``settings`` are the method's own, see its docstring.

    ``fixed`` {node: label} and ``soft`` {node: (K_u,) entries added to its unary} are evidence, as in
    :meth:`Energy.with_evidence`: energy and bound are then those of the labelings that agree with it, with the soft
    entries. ``progress(Progress(energy, bound, seconds))`` is called when ``auto`` or ``trws`` has found or proved
    more, at most about ten times a second; an exception in it ends the search and is passed on.

    ``ValueError`` for an unknown method or setting, and for a setting of the wrong kind.
    """
    run = _find_method(method, settings)
    limit = check_limit(time_limit)
    check_energy(energy)
    if fixed or soft:
        energy = energy.with_evidence(fixed, soft)
    return minimise(energy, run, limit, settings, progress)


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
    whole = Deadline(check_limit(time_limit))
    energies = [check_energy(energy) for energy in energies]

    def one(energy: Energy) -> Solution[IntArray]:
        return minimise(energy, run, whole.left, settings)

    return each(one, energies, thread_count(n_threads))


def _find_method(name: str, settings: Mapping[str, Any]) -> Method:
    """The named method; ``ValueError`` if it does not exist, does not know one of the settings, or not of this kind."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}: use one of {', '.join(METHODS)}")
    run = METHODS[name]
    known = {
        p.name: p.annotation for p in inspect.signature(run).parameters.values() if p.kind is p.KEYWORD_ONLY
    }
    for setting, value in settings.items():
        if setting not in known:
            raise ValueError(
                f"method {name!r} has no setting {setting!r}: it has {', '.join(known) or 'none'}"
            )
        kind, types = KINDS.get(known[setting], ("", object))
        if not isinstance(value, types) or (isinstance(value, bool) and known[setting] != "bool"):
            raise ValueError(f"{setting} of method {name!r} must be {kind}, got {value!r}")
        if known[setting] == "int" and value > LARGEST_COUNT:
            raise ValueError(f"{setting} of method {name!r} must be at most {LARGEST_COUNT}, got {value}")
    return run


def check_energy(energy: Energy) -> Energy:
    if not isinstance(energy, Energy):
        raise TypeError(f"expected a gapcut.Energy, got {type(energy).__name__}")
    return energy


def check_limit(time_limit: float | None) -> float | None:
    if time_limit is not None and not (time_limit >= 0 and not math.isnan(time_limit)):
        raise ValueError(f"time_limit must be a number of seconds >= 0, or None, got {time_limit}")
    return None if time_limit is None else min(time_limit, LONGEST)


def minimise(
    energy: Energy,
    run: Method,
    limit: float | None,
    settings: Mapping[str, Any],
    progress: Listener | None = None,
) -> Solution[IntArray]:
    """Solve the normal form. If a term is very much wider than the excess of the labeling found, then once more without
    the entries above that excess: no better labeling uses them, and they cost digits."""
    start = Deadline(limit)
    normal = Normal.of(energy)
    left = _time_for_methods(normal, start)
    clock = Deadline(left) if progress is None else Watched(left, _teller(normal, start, progress))
    found = run(normal.energy, clock, **settings)
    best, proven, stopped = normal.weighed(found.labels), normal.proven(found.bound), found.out_of_time
    while (
        TOO_WIDE * best.excess < normal.widest and proven is not None and not is_closed(best.excess, proven)
    ):
        left = _time_for_methods(normal, start)
        if left == 0.0:
            break
        normal = Normal.of(energy, best.excess)
        found = run(normal.energy, Deadline(left), **settings)
        stopped |= found.out_of_time
        more, again = normal.proven(found.bound), normal.weighed(found.labels)
        least = Fraction(best.excess)
        proven = max(proven, least if more is None else min(more, least))
        if again.excess >= best.excess:
            break
        best = again
    return normal.judged(best, proven, stopped, start.seconds)


def _time_for_methods(normal: Normal, clock: Deadline) -> float | None:
    """Seconds left, less what judging their labeling takes."""
    return None if clock.left is None else max(clock.left - JUDGING_SECONDS * len(normal.least), 0.0)


def _teller(normal: Normal, clock: Deadline, progress: Listener) -> Tell:
    """Tells of the given energy what methods tell of its normal form, each time that is better."""
    value, bound = math.inf, -math.inf

    def tell(labels: IntArray | Int32Array, proven: float) -> None:
        nonlocal value, bound
        known = normal.judged(normal.weighed(labels), normal.proven(proven), False, clock.seconds)
        if known.energy < value or known.bound > bound:
            value, bound = min(value, known.energy), max(bound, known.bound)
            progress(Progress(value, bound, clock.seconds))

    return tell

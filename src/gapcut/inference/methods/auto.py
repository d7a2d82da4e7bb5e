"""The default method: message passing, better labelings, reductions, then exact search of what is open."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.external import SolverDied
from gapcut.inference.grids import Grid
from gapcut.inference.methods.bp import bp
from gapcut.inference.methods.brute import brute
from gapcut.inference.methods.cycles import can_be_tightened, tightened
from gapcut.inference.methods.exact import has_toulbar2, toulbar2
from gapcut.inference.methods.expansion import move
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.linear_program import MOST_ENTRIES, integer_program
from gapcut.inference.methods.parts import Known, is_closed, polished, refine
from gapcut.inference.methods.qpbo import qpbo
from gapcut.inference.methods.shares import LISTING_SECONDS, enough_time, share_of
from gapcut.inference.methods.trees import Forests
from gapcut.inference.methods.trws import trws
from gapcut.inference.methods.windows import improve_windows
from gapcut.inference.progress import report, turn_of
from gapcut.inference.solution import TOLERANCE, Found
from gapcut.typing import Int32Array

log = logging.getLogger(__name__)

ENUMERATE = 1e5
"""Parts with at most this many labelings are enumerated."""

BACKTRACKS, NODES = 2_000, 50
"""Without a time limit: of toulbar2, and of the integer program's tree, in each part. Counts, not seconds, so that
solutions stay the same on any machine and for any number of threads."""

SEARCHED_ENTRIES = 500_000
"""Without a time limit, parts with more table entries are not searched: a count does not bound the time there."""

TOULBAR2_SHARE = 0.5
"""Of the time left for one part; the integer program gets the rest."""

MESSAGE_SHARE, LABELING_SHARE, SEARCH_SHARE = 0.5, 0.5, 0.5
"""Of the time left: what message passing may take at most, then each method that only seeks labelings, then the exact
search, after which forests have what is left."""

BEFORE_CYCLES_SHARE, CYCLE_SHARE, CYCLE_SECONDS = 0.3, 0.4, 3.0
"""Of the time left: message passing at most where short cycles can raise its bound, and then that; in proportion less
of fewer than so many seconds, of which labelings need more."""

HARD_LABELING_SHARE, HARD_SHARE = 0.1, 0.8
"""Of the time left where message passing and ICM found nothing that is allowed: for forests, then for the exact search
if they found nothing either."""

EARLY_SECONDS, EARLY_SHARE = 2.0, 0.05
"""For the exact search before anything that seeks labelings only, seconds at most, and of the time left: what it proves
at once needs no more of the limit. Where that is less than a quarter of a second it is left out."""

PATIENCE, GRID_PATIENCE, GRID_SHARE = 10, 30, 0.8
"""Of TRW-S; on grids, sweeps are cheap beside all that may follow, and end sooner where they no longer help."""

WIDE_GAP = 1e-4
"""Of the energy of a grid: where the gap is wider after TRW-S and windows, the other methods go on, which need a list
of edges."""

LISTED = 2**27
"""Entries of tables up to which the list is made; each takes about as long as an edge."""

CLIQUE_SHARE = 0.85
"""In place of ``LABELING_SHARE`` for energies with cliques, where fewer methods seek labelings."""

CHILD_START = 0.5
"""Seconds: with less, a solver in a child process would hardly begin."""

MOST_EXPANSIONS = 100
"""Rounds of expanding every label."""

CYCLE_EFFORT = 0.1
"""Without a time limit: of the work that the method ``cycles`` does by itself."""

FOREST_SHARE = 0.3
"""Without a time limit: of the work that the method ``trees`` does by itself."""


def auto(
    energy: Energy,
    clock: Deadline,
    *,
    tolerance: float = TOLERANCE,
    effort: float = 1.0,
    start: Any = None,
) -> Found:
    """Stops as soon as the gap is closed; the best labeling and the best bound of all that ran.

    1. TRW-S on every component, ICM from its labeling (forests and isolated nodes end exactly here). Then triangles
       and short cycles of pairwise energies, as method ``cycles`` (without a time limit only at the end of all).
    2. Better labelings: ICM from the unary minima, belief propagation, each followed by ICM; for pairwise energies
       fusion of these and alpha-expansion, and local search by forests (``trees``); with at most two labels a node
       improving QPBO.
    3. Exact reductions; components that stay open are enumerated if small, else solved by toulbar2 if pytoulbar2 is
       installed (for half of the time left), else, or after it, by the integer program. With a time limit this is
       tried for at most two seconds before 2. as well; where nothing allowed is known, after a tenth of the time for
       forests, first and longest.
    4. With a time limit, forests again, with the labelings they had made, until it is reached.

    Large grids (``Energy.grid``) keep no list of edges here: TRW-S, then windows of the image are solved one by one
    given the labels around them, twice, or with a time limit again and again. Where the gap stays wider than 1e-4 of
    the energy, for half of the time left, they get one, and all of the above.

    Without a time limit, the searches end after ``effort`` times 0.3 of the work of ``trees``, 0.1 of that of
    ``cycles``, 2,000 backtracks or 50 tree nodes per component, and components of more than 500,000 table entries are
    not searched exactly; ``effort=0`` leaves searches out. With one, they take what is left. ``tolerance`` as in
    ``trws``. ``start``: (V,) labels that are known; the result is never worse.
    """
    if not 0 <= effort < math.inf:
        raise ValueError(f"effort must be a finite number >= 0, got {effort}")
    given = None if start is None else energy.check_labels(start)
    share, patience = (GRID_SHARE, GRID_PATIENCE) if energy.pixels is not None else (MESSAGE_SHARE, PATIENCE)
    if can_be_tightened(energy):
        share = BEFORE_CYCLES_SHARE
    if not enough_time(energy, clock, share):
        return _hurried(energy, given, clock)
    turn = turn_of(clock, share_of(clock, share))
    found = trws(energy, turn, tolerance=tolerance, patience=patience)
    known = Known.of(energy, found.labels, found.bound).better(energy, given, -np.inf)
    if energy.pixels is not None:
        return _on_grid(energy, energy.pixels, known, clock, effort, found.out_of_time)
    return beyond_messages(energy, known, clock, turn, effort)


def beyond_messages(energy: Energy, known: Known, clock: Deadline, turn: Deadline, effort: float) -> Found:
    """All that follows message passing; ``turn``: the clock of what is left of that."""
    if not is_closed(energy, known):
        known, _ = polished(energy, known, known.labels, turn)
    if is_closed(energy, known):
        return Found(known.labels, known.bound)
    forests = Forests(energy)
    if known.value == np.inf and clock.left is not None and not energy.n_cliques:
        turn = Deadline(share_of(clock, HARD_LABELING_SHARE))
        labels, _ = forests.improve(energy.check_labels(known.labels), turn, effort)
        known = known.better(energy, labels, -np.inf)
        report(clock, known.labels, known.bound)
    if known.value == np.inf and clock.left is not None:  # hard constraints, at which local search is bad
        found = _exact(energy, known, Deadline(share_of(clock, HARD_SHARE)))
        known = known.better(energy, found.labels, found.bound)
        report(clock, known.labels, known.bound)
        if is_closed(energy, known) or not found.out_of_time:
            return Found(known.labels, known.bound)
    if energy.log_labelings() > math.log(ENUMERATE):
        known = _early(energy, known, clock)
        if clock.left is not None and known.value < np.inf and not is_closed(energy, known):
            share = CYCLE_SHARE * min(clock.left / CYCLE_SECONDS, 1.0)
            known, _ = tightened(energy, known, turn_of(clock, share_of(clock, share)), effort)
        known = _seek_labelings(energy, known, clock, forests, effort)
    if is_closed(energy, known):
        return Found(known.labels, known.bound)
    if clock.left is None:
        return _unhurried(energy, known, clock, effort)
    found = _exact(energy, known, Deadline(share_of(clock, 1.0 if energy.n_cliques else SEARCH_SHARE)))
    report(clock, found.labels, found.bound)
    known = Known.of(energy, found.labels, found.bound)
    if is_closed(energy, known) or not found.out_of_time or energy.n_cliques:
        return found
    labels, _ = forests.improve(energy.check_labels(known.labels), clock, effort)
    report(clock, labels, known.bound)
    return Found(known.better(energy, labels, -np.inf).labels, known.bound, True)


def _unhurried(energy: Energy, known: Known, clock: Deadline, effort: float) -> Found:
    """The exact search without a time limit; a bound of short cycles where it leaves the gap open."""
    found = _exact(energy, known, clock, _Limits(effort))
    report(clock, found.labels, found.bound)
    known = known.better(energy, found.labels, found.bound)
    if known.value < np.inf and not is_closed(energy, known):
        known, _ = tightened(energy, known, clock, CYCLE_EFFORT * effort)
    return Found(known.labels, known.bound, found.out_of_time)


def _exact(energy: Energy, known: Known, turn: Deadline, limits: _Limits | None = None) -> Found:
    """Exact reductions, and the exact search of what they leave open."""
    return refine(energy, known, turn, lambda part, of_part, left: _search(part, of_part, left, limits))


def _early(energy: Energy, known: Known, clock: Deadline) -> Known:
    """With what the exact search finds at once, where there is a time limit and nobody has searched before."""
    seconds = min(EARLY_SECONDS, EARLY_SHARE * (clock.left or 0.0))
    if seconds < EARLY_SECONDS / 8 or known.value == np.inf or is_closed(energy, known):
        return known
    found = _exact(energy, known, Deadline(seconds))
    report(clock, found.labels, found.bound)
    return known.better(energy, found.labels, found.bound)


def _on_grid(
    energy: Energy, grid: Grid, known: Known, clock: Deadline, effort: float, out_of_time: bool
) -> Found:
    """After TRW-S on a grid without a list of edges, which may have run ``out_of_time``. A list is made where the gap
    is wide after all and there is room and time for it."""
    if effort > 0.0 and not is_closed(energy, known):
        passes = 2 if clock.left is None else None
        known = improve_windows(
            energy, known, turn_of(clock, share_of(clock, LABELING_SHARE)), effort, passes
        )
    if effort > 0.0 and not is_closed(energy, known):
        if known.value - known.bound > WIDE_GAP * known.value and _can_be_listed(grid, clock):
            listed = energy.with_entries(energy.unaries(), energy.tables(), energy.cliques.tables)
            turn = turn_of(clock, share_of(clock, MESSAGE_SHARE))
            found = trws(listed, turn)
            known = known.better(energy, found.labels, found.bound)
            return beyond_messages(listed, known, clock, turn, effort)
        if clock.left is not None:
            known = improve_windows(energy, known, clock, effort, None)
    report(clock, known.labels, known.bound)
    ended = (out_of_time or clock.left == 0.0) and not is_closed(energy, known)
    return Found(known.labels, known.bound, ended)


def _can_be_listed(grid: Grid, clock: Deadline) -> bool:
    entries, left = grid.listed_entries, clock.left
    return entries <= LISTED and (left is None or LISTING_SECONDS * (entries + grid.n_edges) < 0.1 * left)


def _hurried(energy: Energy, given: Int32Array | None, clock: Deadline) -> Found:
    """Where message passing would take the time of all else: a labeling first, then what is left for it."""
    labels = energy.unary_labels() if given is None else given
    if energy.pixels is None:
        labels, _ = improve(energy, clock, labels)
    known = Known.of(energy, labels, energy.independent_bound())
    found = trws(energy, clock, start=labels)
    known = known.better(energy, found.labels, found.bound)
    return Found(known.labels, known.bound, not is_closed(energy, known))


@dataclass(frozen=True)
class _Limits:
    """Of the search where no time limit is given."""

    effort: float

    @property
    def backtracks(self) -> int:
        return int(self.effort * BACKTRACKS)

    @property
    def nodes(self) -> int:
        return int(self.effort * NODES)


def _seek_labelings(energy: Energy, known: Known, clock: Deadline, forests: Forests, effort: float) -> Known:
    """What seeks labelings only, each for a share of the time left."""

    def message(turn: Deadline) -> Known:
        settings = {"max_sweeps": 50, "patience": 5} if pairs and known.value < np.inf else {}
        return polished(energy, known, bp(energy, turn, **settings).labels, turn)[0]

    def local(turn: Deadline) -> Known:
        return polished(energy, known, energy.unary_labels(), turn)[0]

    def fused(turn: Deadline) -> Known:
        proposal, _ = improve(energy, turn, energy.unary_labels())
        labels, _ = move(energy, turn, energy.check_labels(known.labels), [proposal], MOST_EXPANSIONS)
        return known.better(energy, labels, -np.inf)

    def improving(turn: Deadline) -> Known:
        found = qpbo(energy, turn, start=known.labels)
        return known.better(energy, found.labels, found.bound)

    def grown(turn: Deadline) -> Known:
        labels, _ = forests.improve(energy.check_labels(known.labels), turn, FOREST_SHARE * effort)
        return known.better(energy, labels, -np.inf)

    pairs = not energy.n_cliques
    binary = pairs and energy.n_labels.max() <= 2
    for step, fits in ((local, True), (grown, pairs), (fused, pairs), (message, True), (improving, binary)):
        if clock.left == 0.0 or is_closed(energy, known):
            break
        if fits:
            known = step(Deadline(share_of(clock, LABELING_SHARE if pairs else CLIQUE_SHARE)))
            report(clock, known.labels, known.bound)
    return known


def _search(energy: Energy, known: Known, clock: Deadline, limits: _Limits | None) -> tuple[Known, bool]:
    """One part, by the fittest exact method there is; whether time ended the search."""
    if energy.log_labelings() <= math.log(ENUMERATE):
        found = brute(energy, clock)
        return known.better(energy, found.labels, found.bound), found.out_of_time
    entries = energy.n_entries()
    if limits is not None and (limits.nodes < 1 or entries > SEARCHED_ENTRIES):
        return known, False
    stopped, hard = False, known.value == np.inf
    if clock.left is not None and clock.left < CHILD_START:
        return known, True
    if has_toulbar2():
        share = TOULBAR2_SHARE if entries <= MOST_ENTRIES else 1.0
        turn = Deadline(share_of(clock, share))
        try:
            known, stopped = toulbar2(energy, known, turn, limits.backtracks if limits else None)
        except SolverDied as error:
            log.warning("%s; going on without it", error)
            stopped = True
        if limits or not stopped or is_closed(energy, known):
            return known, stopped and limits is None
        if hard and known.value < np.inf and not energy.n_cliques:
            return known, True  # from its first labeling local search goes further than the integer program
    if entries <= MOST_ENTRIES and clock.left != 0.0:
        known, stopped = integer_program(energy, known, clock, limits.nodes if limits else None)
    return known, stopped and limits is None

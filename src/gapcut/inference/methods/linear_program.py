"""The local polytope with HiGHS: as a linear program (``lp``) and as an integer program (``ilp``)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.external import run_child
from gapcut.inference.methods.parts import Known, polished, solve_parts
from gapcut.inference.packing import lower_sum
from gapcut.inference.reduction import reduce_energy
from gapcut.inference.shifted import Shifted, shifted
from gapcut.inference.solution import Found
from gapcut.typing import FloatArray, IntArray

MOST_ENTRIES = 4_000_000
"""Table entries, each a column of the program; more are refused."""

IN_PROCESS = 2_000
"""Programs up to this many columns are solved here, larger ones in a child process that can be killed."""

LARGEST_COST = 2.0**14
"""Costs are scaled to at most this, so that the solver's absolute tolerances are small against them."""

GAP_TOLERANCE, COST_TOLERANCE = 1e-6, 1e-7
"""HiGHS's: absolute gap at which an integer program counts as solved, and of reduced costs. The bound pays for both:
every node, edge and clique has marginals that sum to one, so reduced costs can hide this much each."""


def lp(energy: Energy, clock: Deadline) -> Found:
    """The linear program over the local polytope (factor marginals that agree on every node).

    The bound is recomputed in float64 from the solver's dual solution, as a reparametrisation, so the solver is
    not trusted; labels are rounded from its node marginals and from its duals, then improved by ICM. Forests and
    one-label nodes are taken out before.
    """
    refuse_large(energy, "lp", "trws', whose bound comes close")
    if clock.left == 0.0:
        return Found(energy.unary_labels(), energy.independent_bound(), True)
    reduced = reduce_energy(energy, clock, dead_ends=False)
    if reduced.constant == np.inf:
        return Found(np.zeros(energy.n_nodes, dtype=np.int64), np.inf)
    labels, bounds, out_of_time = [], [], False
    for part in reduced.parts:
        known, stopped = _relaxation(part.energy, clock)
        labels.append(known.labels)
        bounds.append(known.bound)
        out_of_time |= stopped
    return Found(reduced.labels(labels), reduced.bound(bounds), out_of_time)


def ilp(energy: Energy, clock: Deadline, *, reduce: bool = True) -> Found:
    """TRW-S and ICM, then the integer program on what is open (cliques by clique indicators), as in Li and Huber 2017.

    The bound is the solver's dual bound, less what its tolerances may hide. ``reduce=False`` leaves out dead-end
    elimination.
    """

    def heavy(part: Energy, known: Known, left: Deadline) -> tuple[Known, bool]:
        refuse_large(part, "ilp", "auto")
        return integer_program(part, known, left)

    return solve_parts(energy, clock, heavy, reduce)


def refuse_large(energy: Energy, method: str, other: str) -> None:
    """``ValueError`` if the program would be too large to build."""
    if energy.n_entries() > MOST_ENTRIES:
        raise ValueError(
            f"method {method!r} would build a program of {energy.n_entries():,} columns, more than "
            f"{MOST_ENTRIES:,}: use method='{other}'"
        )


def integer_program(
    energy: Energy, known: Known, clock: Deadline, nodes: int | None = None
) -> tuple[Known, bool]:
    """Solve one component; whether time or ``nodes`` of the search tree ended the search."""
    terms = shifted(energy, known.value)
    if terms is None:
        return known.better(energy, None, np.inf), False
    answer, scale = _run(energy, terms, clock, True, nodes)
    if answer is None:
        return known, True
    if (
        answer["status"] == "infeasible"
    ):  # entries above the known energy were forbidden, its labeling was not
        return known.better(energy, None, np.inf if known.value == np.inf else -np.inf), False
    bound = -np.inf
    if answer["bound"] is not None and np.isfinite(answer["bound"]):
        n_terms = energy.n_nodes + energy.n_edges + energy.n_cliques
        slack = GAP_TOLERANCE + COST_TOLERANCE * n_terms
        bound = lower_sum(np.array([terms.offset, answer["bound"] / scale, -slack / scale]))
        bound = min(bound, known.value)  # labelings above it were forbidden
    labels = None if answer["x"] is None else _round(energy, answer["x"])
    return known.better(energy, labels, bound), answer["status"] == "stopped"


def _relaxation(energy: Energy, clock: Deadline) -> tuple[Known, bool]:
    known = Known.of(energy, energy.unary_labels(), energy.independent_bound())
    terms = shifted(energy, np.inf)
    if terms is None:
        return known.better(energy, None, np.inf), False
    # Before the solver, which may take all of the time.
    known, _ = polished(energy, known, known.labels, clock)
    answer, scale = _run(energy, terms, clock, False)
    if answer is None or answer["status"] == "stopped":
        return known, True
    if answer["status"] == "infeasible":
        return known.better(energy, None, np.inf), False
    judged = _core.srmp(energy.factors(), None, 0, 0.0, 1, 0.0, "breadth-first", -answer["duals"] / scale)
    known = known.better(energy, judged.labels, judged.bound)
    for start in (judged.labels, _round(energy, answer["x"])):
        known, _ = polished(energy, known, start, clock)
    return known, False


def _round(energy: Energy, x: FloatArray) -> IntArray:
    """Every node's label of largest marginal, the first of equal ones."""
    starts, _, _ = energy.segments()
    most = np.repeat(np.maximum.reduceat(x, starts[:-1]), energy.n_labels)
    first = np.where(x == most, np.arange(len(x)), len(x))
    return np.asarray(np.minimum.reduceat(first, starts[:-1]) - starts[:-1])


def _run(
    energy: Energy, terms: Shifted, clock: Deadline, integer: bool, nodes: int | None = None
) -> tuple[dict[str, Any] | None, float]:
    """The solver's answer (None: killed), and what its costs were multiplied with."""
    costs = terms.entries
    largest = float(costs[costs < np.inf].max(initial=0.0))
    scale = 2.0 ** np.floor(np.log2(LARGEST_COST) - np.log2(largest)) if largest > 0 else 1.0
    factor_at, member, _, _ = energy.factor_arrays()
    payload = {
        "integer": integer,
        "nodes": nodes,
        "deadline": None
        if clock.left is None
        else time.time() + clock.left - min(0.1 + 0.1 * clock.left, 2.0),
        "costs": costs * scale,
        "labels": energy.n_labels,
        "factor_at": factor_at,
        "member": member,
    }
    if len(costs) <= IN_PROCESS:
        from gapcut.inference.external import linear  # scipy.optimize is slow to import, and few need it

        return linear.run(payload), float(scale)
    return run_child("linear", payload, clock.left).answer, float(scale)

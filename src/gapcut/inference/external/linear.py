"""The local polytope of a factor graph as a linear or an integer program, by HiGHS. Imports nothing of this package.

Columns: mu_u(k) for every node and label, then mu_f(x) for every cell of every factor, all in [0, 1]. Rows: for every
node sum_k mu_u(k) = 1; for every member u of every factor f and every label k: sum over cells with x_u = k of
mu_f(x) = mu_u(k). In the integer program the mu_u are integers; the mu_f follow.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array

solve_linear: Any = linprog  # their stubs know neither sparse matrices nor all options
solve_integer: Any = milp

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Program:
    """min costs . x so that matrix x = right, 0 <= x <= upper; the first ``n_unary`` columns are the mu_u, the first
    ``n_nodes`` rows their sums."""

    costs: Floats
    matrix: csc_array
    right: Floats
    upper: Floats
    n_unary: int
    n_nodes: int


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """``payload``: ``integer`` (bool), ``costs`` (columns,) finite or +inf, and ``labels``, ``factor_at``,
    ``member`` of the factor graph; ``deadline`` (as of ``time.time``) and ``nodes`` (of the search tree at most)
    may be None or left out.

    Returns ``status`` ("optimal", "stopped", "infeasible"), ``x`` (the mu_u of all nodes) or None, ``bound`` (of the
    integer program, else None), ``duals`` (of the consistency rows; of the linear program, else None).
    """
    labels = payload["labels"].astype(np.int64)
    matrix, right = constraints(labels, payload["factor_at"], payload["member"].astype(np.int64))
    allowed = payload["costs"] < np.inf
    costs = np.where(allowed, payload["costs"], 0.0)
    program = Program(costs, matrix, right, allowed.astype(np.float64), int(labels.sum()), len(labels))
    options: dict[str, Any] = {}
    if payload.get("deadline") is not None:
        options["time_limit"] = max(payload["deadline"] - time.time(), 1e-3)
    if payload.get("nodes") is not None:
        options["node_limit"] = payload["nodes"]
    return (_integer if payload["integer"] else _linear)(program, options)


def constraints(labels: Ints, factor_at: Ints, member: Ints) -> tuple[csc_array, Floats]:
    """The equality rows described above, and their right sides."""
    n_unary = int(labels.sum())
    message_at = np.concatenate([[0], np.cumsum(labels[member])])
    sizes = (
        np.multiply.reduceat(labels[member], factor_at[:-1]) if len(factor_at) > 1 else np.zeros(0, np.int64)
    )
    cell_at = n_unary + np.cumsum(sizes) - sizes
    unary_at = np.cumsum(labels) - labels
    rows = [np.repeat(np.arange(len(labels)), labels)]
    columns = [np.arange(n_unary)]
    places = np.repeat(unary_at[member], labels[member]) + _within(labels[member])
    rows.append(len(labels) + np.arange(len(places)))
    columns.append(places)
    values = [np.ones(n_unary), -np.ones(len(places))]
    orders = np.diff(factor_at)
    for order in np.unique(orders):
        chosen = np.flatnonzero(orders == order)
        at = factor_at[chosen][:, None] + np.arange(order)
        shapes, which = np.unique(labels[member[at]], axis=0, return_inverse=True)
        for s, shape in enumerate(shapes):
            group = np.flatnonzero(which.ravel() == s)
            cells = np.arange(int(np.prod(shape)))
            label_of = np.unravel_index(cells, tuple(shape))
            for axis in range(int(order)):
                row = message_at[at[group, axis]][:, None] + label_of[axis]
                rows.append(len(labels) + row.ravel())
                columns.append((cell_at[chosen[group]][:, None] + cells).ravel())
                values.append(np.ones(row.size))
    shape_of = (len(labels) + int(message_at[-1]), n_unary + int(sizes.sum()))
    matrix = csc_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape_of
    )
    right = np.zeros(shape_of[0])
    right[: len(labels)] = 1.0
    return matrix, right


def _within(counts: Ints) -> Ints:
    """0..c-1 for every count c, one after the other."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _linear(program: Program, options: dict[str, Any]) -> dict[str, Any]:
    got = solve_linear(
        program.costs,
        A_eq=program.matrix,
        b_eq=program.right,
        bounds=np.stack([np.zeros(len(program.costs)), program.upper], axis=1),
        method="highs",
        options=options,
    )
    if got.status == 2:
        return _answer("infeasible")
    if got.status != 0 or got.x is None:
        return _answer("stopped")
    duals = np.asarray(got.eqlin.marginals, dtype=np.float64)
    return _answer("optimal", x=got.x[: program.n_unary], duals=duals[program.n_nodes :])


def _integer(program: Program, options: dict[str, Any]) -> dict[str, Any]:
    got = solve_integer(
        program.costs,
        integrality=(np.arange(len(program.costs)) < program.n_unary).astype(np.int64),
        bounds=Bounds(0.0, program.upper),
        constraints=LinearConstraint(program.matrix, program.right, program.right),
        options={"mip_rel_gap": 0.0, **options},
    )
    if got.status == 2:
        return _answer("infeasible")
    x = None if got.x is None else np.asarray(got.x[: program.n_unary])
    bound = None if got.mip_dual_bound is None else float(got.mip_dual_bound)
    return _answer("optimal" if got.status == 0 else "stopped", x=x, bound=bound)


def _answer(
    status: str, x: Floats | None = None, bound: float | None = None, duals: Floats | None = None
) -> dict[str, Any]:
    return {"status": status, "x": x, "bound": bound, "duals": duals}

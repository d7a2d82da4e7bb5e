"""Roof duality for binary energies (Kolmogorov and Rother 2007): bound, persistent labels, and a full labeling."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.expansion import move
from gapcut.inference.methods.icm import improve
from gapcut.inference.persistency import RoofDual, persistency, refuse_cliques
from gapcut.inference.solution import Found, closed
from gapcut.typing import Int32Array


def qpbo(
    energy: Energy, clock: Deadline, *, start: Any = None, improve_rounds: int = 20, random_state: int = 0
) -> Found:
    """Bound and persistent labels by roof duality; exact where every node gets a label, as in submodular energies.

    Nodes that get none keep the label of ``start`` ((V,) labels; by default the unary minima) after ICM; then
    ``improve_rounds`` times a random half of them is optimised anew, the others kept (the idea of QPBO-I, Rother et
    al. 2007). At most two labels per node, ``ValueError`` otherwise. See ``gapcut.inference.persistency`` for the
    labels that are proven.
    """
    refuse_cliques(energy, "method 'qpbo'")
    _refuse_many_labels(energy)
    if improve_rounds < 0:
        raise ValueError(f"improve_rounds must be at least 0, got {improve_rounds}")
    labels, stopped = improve(energy, clock, energy.unary_labels() if start is None else start)
    dual = persistency(energy, start=labels, time_left=clock.left)
    bound = max(dual.bound, energy.native.independent_bound())
    proven = np.where(dual.labelled, dual.values, labels).astype(np.int32)
    labels = proven if energy.energy(proven) <= energy.energy(labels) else labels
    stopped = stopped or dual.stopped
    if bound < np.inf and not dual.labelled.all() and not stopped:
        labels, stopped = _let_loose(energy, clock, labels, dual, bound, improve_rounds, random_state)
    return Found(labels, bound, stopped)


def _refuse_many_labels(energy: Energy) -> None:
    many = np.flatnonzero(energy.n_labels > 2)
    if len(many):
        u = int(many[0])
        raise ValueError(
            f"method 'qpbo' takes at most two labels a node, but node {u} has {energy.n_labels[u]}: "
            "use method='expansion'"
        )


def _let_loose(
    energy: Energy, clock: Deadline, labels: Int32Array, dual: RoofDual, bound: float, rounds: int, seed: int
) -> tuple[Int32Array, bool]:
    """Fusion with random flips of unlabelled nodes; the energy never rises."""
    labels, stopped = improve(energy, clock, labels)
    rng = np.random.default_rng(seed)
    loose = np.flatnonzero(~dual.labelled)
    for _ in range(rounds):
        if stopped or closed(energy, labels, energy.energy(labels), bound):
            break
        proposal = labels.copy()
        flipped = loose[rng.random(len(loose)) < 0.5]
        proposal[flipped] = 1 - proposal[flipped]
        labels, stopped = move(energy, clock, labels, [proposal], 0)
    return labels, stopped

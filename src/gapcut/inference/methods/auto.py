"""The method for everybody: message passing, a local polish, enumeration of what is small and open."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from gapcut import _core
from gapcut.inference.energy import Energy
from gapcut.inference.methods.base import Clock
from gapcut.inference.methods.brute import brute
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.trws import run_trws
from gapcut.inference.packing import lower_sum
from gapcut.inference.solution import TOLERANCE, Found, closed
from gapcut.typing import FloatArray, Int32Array, IntArray

ENUMERATE = 1e5
"""Components with at most this many labelings are enumerated if their gap stays open."""


def auto(energy: Energy, clock: Clock, *, tolerance: float = TOLERANCE) -> Found:
    """TRW-S on every component (forests and isolated nodes end exactly), ICM from its labeling, the better
    one kept; then enumeration of the components that are open and small. ``tolerance`` as in ``trws``."""
    result = run_trws(energy, clock, tolerance=tolerance)
    found = Found(np.asarray(result.labels, dtype=np.int64), result.bound, result.stopped)
    if result.bound == np.inf or closed(energy, found.labels, energy.energy(found.labels), result.bound):
        return found
    found = _polish(energy, clock, found)
    if found.out_of_time:
        return found
    return _enumerate_small(energy, clock, found, result)


def _polish(energy: Energy, clock: Clock, found: Found) -> Found:
    labels, stopped = improve(energy, clock, found.labels)
    if energy.energy(labels) < energy.energy(found.labels):
        found = dataclasses.replace(found, labels=np.asarray(labels, dtype=np.int64))
    return dataclasses.replace(found, out_of_time=found.out_of_time or stopped)


def _enumerate_small(energy: Energy, clock: Clock, found: Found, result: _core.TrwsResult) -> Found:
    """Close what enumeration can close; the total bound is the sum over components, rounded down."""
    labels: IntArray = np.array(found.labels, dtype=np.int64)
    bounds: FloatArray = np.array(result.component_bound, dtype=np.float64)
    out_of_time = False
    node_parts, edge_parts = _split(result.component, len(bounds), energy.edges)
    size = np.bincount(result.component, weights=np.log(energy.n_labels), minlength=len(bounds))
    value = _component_energy(energy, labels, result.component, len(bounds))
    for c in np.flatnonzero((size <= math.log(ENUMERATE)) & (value > bounds)):
        nodes = node_parts[c]
        part = energy.part(nodes, edge_parts[c])
        value_c = part.energy(labels[nodes])
        if closed(part, labels[nodes], value_c, float(bounds[c])):
            continue
        if clock.left == 0.0:
            out_of_time = True
            break
        best = brute(part, clock)
        bounds[c] = max(float(bounds[c]), best.bound)
        if part.energy(best.labels) < value_c:
            labels[nodes] = best.labels
    return Found(labels, max(found.bound, lower_sum(bounds)), out_of_time)


def _split(component: Int32Array, count: int, edges: IntArray) -> tuple[list[IntArray], list[IntArray]]:
    """Nodes and edges of each component, ascending."""

    def group(of: Int32Array) -> list[IntArray]:
        ends = np.cumsum(np.bincount(of, minlength=count))
        return np.split(np.argsort(of, kind="stable"), ends[:-1])

    return group(component), group(component[edges[:, 0]])


def _component_energy(energy: Energy, labels: IntArray, component: Int32Array, count: int) -> FloatArray:
    of_term = np.concatenate([component, component[energy.edges[:, 0]]])
    return np.bincount(of_term, weights=energy.terms(labels), minlength=count).astype(np.float64)

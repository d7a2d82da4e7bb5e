"""Proofs: both ends of a claim in numbers that anyone can add up, and the graphs they are about (docs/proofs.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np

from gapcut.certificates.bounds import dual_bound, no_plane_bound, primal_bound
from gapcut.certificates.certificate import Bracket
from gapcut.certificates.rounding import gamma
from gapcut.files import write_arrays, write_atomically
from gapcut.oracles.relaxation import Point, Relaxation
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray

Piece = bytes | memoryview

_NOISE: Final = ("messages",)
"""Arrays that compression does not make smaller."""

_SMALL: Final = 1 << 18
"""Bytes of all arrays up to which none is compressed: it would be a seventh of the work, and the graphs beside it are
larger."""

FORMAT: Final = {"format": "gapcut proof", "version": 3}


@dataclass(frozen=True)
class DualPoint:
    """What a run can prove its ends with: the ``relaxation`` with its iterates, what finds the ``labels`` behind the
    best lower end (None: the true ones), and whether bounds at the weights may be made ``closely``, by a pass of cuts
    or messages."""

    relaxation: Relaxation
    labels: Callable[[], Point | None]
    closely: bool


@dataclass(frozen=True, eq=False)
class Proof(Bracket):
    """``lower <= optimum <= objective of the weights <= upper`` with all that shows it: a ``header`` of plain values
    and ``arrays``, about ``graphs`` after the feature steps (a graph file, in pieces)."""

    lower: float
    upper: float
    header: Mapping[str, Any]
    arrays: Mapping[str, AnyArray]
    graphs: Sequence[Piece]

    def about(self, **more: Any) -> Proof:
        """The same with more in its header."""
        return replace(self, header={**self.header, **more})

    def save(self, path: str | os.PathLike[str]) -> None:
        """The proof file, whole or not at all. NumPy alone reads it."""
        header = np.array(json.dumps(dict(self.header)))
        arrays: dict[str, Any] = {"header": header, **self.arrays}
        stored = arrays if sum(array.nbytes for array in arrays.values()) <= _SMALL else _NOISE
        write_atomically(Path(path), lambda file: write_arrays(file, _by_row(arrays), level=1, stored=stored))

    def save_graphs(self, path: str | os.PathLike[str]) -> None:
        """The graph file that it is about."""
        write_atomically(Path(path), lambda file: file.writelines(self.graphs))


def prove(
    problem: LearningProblem, weights: FloatArray, point: DualPoint, truth: Point
) -> tuple[float, float, dict[str, AnyArray]]:
    """Both ends of the objective's optimum that numbers of 16 bits prove, and the arrays that hold them.

    The ends are bounds of exactly these numbers, rounding included. Packing rounds each loss weight, a quotient of sums
    over the nodes of a graph, by at most ``gamma(V + 8)`` of itself; the losses of a graph are at most ``rho K / 2``,
    so that is what the rounding changes in a mean slack or a mean loss.
    """
    relaxation = point.relaxation
    above = relaxation.prove_slack(weights, point.closely)
    lower, below = _lower(problem, relaxation, point.labels() or truth)
    if lower <= no_plane_bound(problem):  # nothing that the labels prove, but what the true ones do
        lower, below = _lower(problem, relaxation, truth)
    nodes = np.diff(problem.core.node_offset).max(initial=0)
    slip = 2.0 * problem.C * problem.max_loss * gamma(float(nodes) + 8.0)
    upper = primal_bound(problem, weights, above.slack)[0]
    ends = lower - slip - gamma(4) * abs(lower), upper + slip + gamma(4) * upper
    return max(0.0, ends[0]), ends[1], {**above.arrays, **below}


def _lower(
    problem: LearningProblem, relaxation: Relaxation, labels: Point
) -> tuple[float, dict[str, AnyArray]]:
    near, arrays = relaxation.whole(labels)
    plane, loss = relaxation.plane(near)
    terms = problem.n_graphs + relaxation.roundings
    return dual_bound(problem, problem.C * plane, problem.C * loss, terms)[0], arrays


def packed(arrays: Mapping[str, AnyArray]) -> list[Piece]:
    """A graph file of these arrays, equal for equal ones, in pieces that share their memory. Not compressed: that would
    take longer than all the rest."""
    pieces = _Pieces()
    write_arrays(cast("IO[bytes]", pieces), _by_row(arrays), compressed=False)
    return pieces.found


class _Pieces:
    """A file that keeps what is written, without a copy of arrays."""

    def __init__(self) -> None:
        self.found: list[Piece] = []

    def write(self, piece: Piece) -> int:
        self.found.append(piece)
        return memoryview(piece).nbytes

    def flush(self) -> None:
        """Nothing is held back."""


def _by_row(arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Without a copy of those that are."""
    return {name: np.asarray(array, order="C") for name, array in arrays.items()}

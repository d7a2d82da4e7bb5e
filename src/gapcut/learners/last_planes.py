"""The cutting plane where first-order steps end, kept in a checkpoint as labelings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapcut.certificates.rounding import gamma
from gapcut.learners.base import Session
from gapcut.learners.cutting_plane import WorkingSet, one_pass
from gapcut.learners.qp import qp_solver
from gapcut.oracles.base import OracleTotal, Relaxation
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray


@dataclass
class LastPlanes:
    """Algorithm 1, from the plane of the best relaxed labels on.

    A plane from a file would be believed. So a checkpoint holds the labeling behind each, one bit a node and label, and
    the planes are made again from those. ``best_alpha``: masses (t,) of the planes that proved the lower end.
    """

    problem: LearningProblem
    relaxation: Relaxation
    labelings: list[NDArray[np.uint8]] = field(default_factory=list)
    best_alpha: FloatArray = field(default_factory=lambda: np.zeros(0))
    begun: bool = False

    def __post_init__(self) -> None:
        self._set = WorkingSet(self.problem, qp_solver("dual"), 1e-9)

    def begin(self, plane: FloatArray, loss: float) -> None:
        """The first plane, that of the best relaxed labels."""
        self._set.add(plane, loss)
        self.begun = True

    def one_pass(self, session: Session) -> None:
        """A pass of the cutting plane, at the oracle's labelings."""
        bits: list[NDArray[np.uint8]] = []

        def ask(w: FloatArray, time_left: float | None) -> OracleTotal:
            total, labels = self.relaxation.labelled_total(w, time_left)
            bits.append(np.packbits(labels))
            return total

        before = session.bounds.lower
        count = self._set.count
        one_pass(session, self._set, ask)
        if self._set.count > count:
            self.labelings += bits
        if session.bounds.lower > before:
            self.best_alpha = self._set.alpha

    def snapshot(self) -> tuple[dict[str, AnyArray], dict[str, Any]]:
        """Arrays and numbers for :meth:`resume`, of a whole pass. They do not change any more."""
        labelings = self.labelings[:]
        arrays = {"alpha": self._set.alpha, "best_alpha": self.best_alpha}
        if labelings:
            arrays["labelings"] = np.stack(labelings)
        return arrays, {"begun": self.begun, "tolerance": self._set.tolerance}

    def resume(self, session: Session, arrays: dict[str, AnyArray], numbers: dict[str, Any]) -> None:
        """Planes and their lower end, made again; after :meth:`begin` if the run had got there. Raises ValueError and
        its kin for anything but a snapshot of this problem."""
        core = self.problem.core
        size = int(core.node_offset[-1]) * core.n_labels
        for row in arrays.get("labelings", np.zeros((0, 0), dtype=np.uint8)):
            if row.dtype != np.uint8 or row.shape != ((size + 7) // 8,):
                raise ValueError("labelings of another problem")
            self._set.add(*self.relaxation.plane_of(np.unpackbits(row, count=size), session.clock.left))
            self.labelings.append(row)
        self._set.tolerance = float(numbers["tolerance"])
        if not 0.0 < self._set.tolerance <= 1e-9:
            raise ValueError("tolerance out of range")
        for name in ("best_alpha", "alpha"):
            self._set.alpha = self._masses(arrays[name])
            self._set.offer(session.bounds)
        self.best_alpha = arrays["best_alpha"]

    def _masses(self, alpha: AnyArray) -> FloatArray:
        most = self.problem.C * (1.0 + gamma(self._set.count + 2))
        fits = alpha.dtype == np.float64 and alpha.ndim == 1 and len(alpha) <= self._set.count
        if not fits or not (alpha >= 0.0).all() or not math.fsum(alpha) <= most:
            raise ValueError("masses out of range")
        return alpha

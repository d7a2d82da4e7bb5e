"""Solving again after small changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.auto import auto, beyond_messages
from gapcut.inference.methods.parts import Known
from gapcut.inference.methods.trws import continued
from gapcut.inference.progress import Listener, turn_of
from gapcut.inference.solution import Found, Solution
from gapcut.inference.solve import check_energy, check_limit, minimise
from gapcut.typing import IntArray

SIMILAR = 1e3
"""Messages are used again unless the entries have grown or shrunk by more than this."""


class Solver:
    """Solves one energy again and again with other evidence, each time from where the last time ended.

    It keeps the messages of TRW-S and the last labeling; nothing is kept outside of it. Solutions are as good and as
    proven as those of :func:`solve` with method ``"auto"``, but depend on what was solved before. Energies with
    forbidden entries in tables, or with cliques, keep the labeling only. Not for several threads at once.
    """

    def __init__(self, energy: Energy) -> None:
        self._energy = check_energy(energy)
        self._messages = _core.Messages()
        self._size = 0.0
        self._labels: IntArray | None = None
        self._warm = not energy.n_cliques and bool(np.isfinite(energy.tables()).all())

    def solve(
        self,
        time_limit: float | None = None,
        *,
        fixed: Mapping[int, int] | None = None,
        soft: Mapping[int, ArrayLike] | None = None,
        effort: float = 1.0,
        progress: Listener | None = None,
    ) -> Solution[IntArray]:
        """Minimise the energy with this evidence added to it (not to that of the last time), as :func:`solve` does."""
        limit = check_limit(time_limit)
        energy = self._energy.with_evidence(fixed, soft) if fixed or soft else self._energy
        found = minimise(energy, self._run, limit, {"effort": effort}, progress)
        self._labels = found.labels
        return found

    def _run(self, energy: Energy, clock: Deadline, *, effort: float) -> Found:
        if not self._warm or not np.isfinite(energy.tables()).all():
            return auto(energy, clock, effort=effort, start=self._labels)
        size = _size(energy)
        if not self._size / SIMILAR <= size <= self._size * SIMILAR:
            self._messages = _core.Messages()
        self._size = size
        turn = turn_of(clock, None if clock.left is None else clock.left / 2)
        found = continued(energy, turn, self._messages)
        known = Known.of(energy, found.labels, found.bound).better(energy, self._labels, -np.inf)
        return beyond_messages(energy, known, clock, turn, effort)


def _size(energy: Energy) -> float:
    """The largest finite entry."""
    entries: list[Any] = [energy.unaries(), energy.tables()]
    return max(float(x[np.isfinite(x)].max(initial=0.0)) for x in entries)

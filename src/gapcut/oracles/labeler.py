"""One-hot oracles that run in the core: dynamic programming on forests, message passing on any graph."""

from __future__ import annotations

from functools import partial

import numpy as np

from gapcut import _core
from gapcut.oracles.native import NativeOracle
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray, IntArray


class _Labeler(NativeOracle):
    """What both share: one label per node, pairwise weights of any sign, the loss ``rho/|V|`` per wrong node."""

    def labelings(self, w: FloatArray) -> list[IntArray]:
        """The labels found at ``w``, one (V,) array per graph."""
        return [z.astype(np.int64) for z in self._labelings(w)]


class TreeOracle(_Labeler):
    """``max_z Delta(y, z) - w'(Psi(x, y) - Psi(x, z))`` over one-hot ``z``, exactly, on graphs without cycles.

    Max-sum dynamic programming. Several edges between two nodes count as one; isolated nodes are fine. Raises
    ValueError naming the first graph with a cycle.
    """

    exact = True

    def __init__(self, problem: LearningProblem, n_threads: int = 1) -> None:
        super().__init__(problem, _tree, n_threads)


class TrwsOracle(_Labeler):
    """The same on any graph by TRW-S (Kolmogorov 2006): a labeling, and a bound that is proven whatever the gap.

    ``max_sweeps``, ``tolerance``, ``patience`` and ``least_progress`` as in ``gapcut.solve(method="trws")``;
    ``warm``: message passing on a graph goes on from the messages of its last call, which costs fewer sweeps while
    the weights move little; answers then depend on the calls before, but not on the number of threads, and every
    bound is proven all the same. False: it starts anew at every call. Forests are solved exactly.
    """

    exact = False

    def __init__(
        self,
        problem: LearningProblem,
        n_threads: int = 1,
        *,
        max_sweeps: int = 8,
        tolerance: float = 1e-6,
        patience: int = 4,
        least_progress: float = 1e-2,
        warm: bool = True,
    ) -> None:
        self.warm = warm
        settings = (max_sweeps, tolerance, patience, least_progress, warm)
        super().__init__(problem, partial(_messages, settings=settings), n_threads)


def _tree(core: _core.Problem, n_threads: int) -> _core.Labeler:
    return _core.tree_labeler(core, n_threads)


def _messages(
    core: _core.Problem, n_threads: int, settings: tuple[int, float, int, float, bool]
) -> _core.Labeler:
    return _core.message_labeler(core, n_threads, *settings)

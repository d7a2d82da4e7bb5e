"""What the primal-dual learner can be told."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from gapcut import _core

_NATIVE = _core.PrimalDualSettings()


@dataclass(frozen=True)
class StepSettings:
    """What :class:`~gapcut.learners.steps.Steps` can be told.

    ``theta`` splits the primal step between weights and multipliers, ``over_relaxation`` is in (0, 2); label steps are
    divided by ``damping`` times the number of active pairs of the label (1 is provably safe; a monitor falls back to
    it), at first by ``kappa0``. ``primal_weight`` is the first ratio of dual to primal steps, which then follows the
    ratio of the distances covered times ``rebalance`` (0: never); inactive label pairs are screened every
    ``screening_interval`` iterations. For comparison: ``metric="diagonal"`` moves every weight alone,
    ``repair=False`` leaves the relaxed labels as they are, ``always_cut=True`` asks the oracle for each certificate.
    ``seed`` orders the repair.
    """

    theta: float = _NATIVE.theta
    over_relaxation: float = _NATIVE.over_relaxation
    damping: float = _NATIVE.damping
    kappa0: float = _NATIVE.kappa0
    primal_weight: float = _NATIVE.primal_weight
    rebalance: float = _NATIVE.rebalance
    screening_interval: int = _NATIVE.screening_interval
    metric: Literal["gram", "diagonal"] = "gram"
    repair: bool = True
    always_cut: bool = False
    repair_sweeps: int = 10
    n_threads: int = 1
    seed: int = 0

    def native(self) -> _core.PrimalDualSettings:
        """The settings of the core's iteration."""
        settings = _core.PrimalDualSettings()
        for setting in fields(StepSettings):
            if hasattr(settings, setting.name):
                setattr(settings, setting.name, getattr(self, setting.name))
        settings.diagonal = self.metric == "diagonal"
        return settings


del _NATIVE  # what lives until the interpreter ends is told as a leak

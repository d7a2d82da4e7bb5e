"""A finished search, kept in the checkpoint of the run that came after it, so that a resumed run does not search again.

Only what was chosen is kept: feature steps and the base are made again, the same as before, and the learner refuses a
checkpoint whose problem is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any

from gapcut.data import Graph
from gapcut.learners.checkpoint import DamagedCheckpoint, chosen_before, of_another_run
from gapcut.model.chosen import Choice
from gapcut.model.settings import Settings
from gapcut.model.training import Decided, training_set

_ASKED = ("C", "oracle", "node_lift", "standardize", "base", "base_features", "probability")
"""What a search answers, or depends on beside the learning problem."""


def to_keep(asked: Settings, found: Decided) -> dict[str, Any]:
    """For JSON: what was ``asked`` and what was found."""
    taken = found.settings
    return {
        "asked": _asked(asked),
        "C": taken.trade_off,
        "node_lift": taken.node_lift,
        "standardize": taken.standardize,
        "oracle": taken.oracle,
        "base": found.data.base is not None,
        "base_features": taken.base_features,
        "choice": None if found.choice is None else found.choice.to_state(),
        "temperature": found.temperature,
    }


def found_before(graphs: Sequence[Graph], settings: Settings) -> Decided | None:
    """What the run of the checkpoint was begun with; None where there is no checkpoint.

    Raises ValueError where something else was asked for then, DamagedCheckpoint if the file is not whole.
    """
    path = None if settings.checkpoint is None else Path(settings.checkpoint)
    if path is None or not path.exists():
        return None
    kept = chosen_before(path)
    if not isinstance(kept, dict) or kept.get("asked") != _asked(settings):
        raise of_another_run(path)
    try:
        values = {name: kept[name] for name in ("node_lift", "standardize", "oracle")}
        base = None if not kept["base"] else "trees" if settings.base == "auto" else settings.base
        features = kept.get("base_features", settings.base_features)
        values |= {"C": kept["C"], "base": base, "base_features": features, "probability": False}
        taken = Settings.checked({f.name: getattr(settings, f.name) for f in fields(settings)} | values)
        if type(taken.C) is not float or "auto" in (taken.node_lift, taken.oracle):
            raise ValueError("it was not chosen to the end")
        choice = None if kept["choice"] is None else Choice.from_state(kept["choice"])
        temperature = kept["temperature"]
        if temperature is not None and not (
            type(temperature) is float and temperature > 0 and isfinite(temperature)
        ):
            raise ValueError("the temperature is no number")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedCheckpoint.because(path, error) from None
    data = training_set(graphs, taken)
    return Decided(data, taken.settled(data.graphs), choice, temperature)


def _asked(settings: Settings) -> dict[str, str]:
    return {name: str(getattr(settings, name)) for name in _ASKED}

"""A run on disk: killed at any moment, it goes on from its last checkpoint.

The file holds the state of the steps, the best weights and the relaxed labels of the best dual point. Nothing in it is
believed: on resuming, both ends of the certificate are proven again from the weights and the labels.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.data.npz import one_line, read_arrays
from gapcut.files import write_atomically
from gapcut.learners.base import Record
from gapcut.learners.session import Session
from gapcut.learners.steps import Steps

_FORMAT = 1


class DamagedCheckpoint(ValueError):
    """The file is not a whole checkpoint: delete it to start anew."""


class Checkpoint:
    """The checkpoint file of one run."""

    def __init__(self, path: str | os.PathLike[str], every: float) -> None:
        self.path = Path(path)
        self.every = every
        self._written = time.monotonic()

    def renew(self, session: Session, steps: Steps) -> None:
        """Write it if that is due."""
        if time.monotonic() - self._written >= self.every:
            self.write(session, steps)

    def conclude(self, session: Session, steps: Steps) -> None:
        """The end of a run: no file where the target is met, a last one where it is not."""
        if session.target_met:
            self.path.unlink(missing_ok=True)
        elif steps.state.iterations:
            self.write(session, steps)

    def write(self, session: Session, steps: Steps) -> None:
        """Whole or not at all: a kill while writing leaves the file before."""
        arrays, schedule = steps.snapshot()
        arrays["best_weights"] = session.bounds.weights
        meta = {
            "format": _FORMAT,
            "problem": _identity(steps),
            "schedule": schedule,
            "passes": session.passes,
            "calls": session.calls,
            "seconds": session.seconds,
            "history": [asdict(record) for record in session.history],
        }
        text = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
        write_atomically(self.path, lambda file: np.savez(file, meta=text, **arrays))
        self._written = time.monotonic()

    def resume(self, session: Session, steps: Steps) -> bool:
        """Go on from the file, if there is one.

        Raises ValueError if it is of another run, DamagedCheckpoint if it is not whole.
        """
        if not self.path.exists():
            return False
        arrays, meta = self._read()
        if meta.get("problem") != _identity(steps):
            raise ValueError(
                f"{self.path}: the checkpoint belongs to other data, another C or other settings: "
                "delete it to start anew"
            )
        try:
            weights, labels = arrays.pop("best_weights"), arrays.pop("best_labels", None)
            steps.restore(arrays, meta["schedule"])
            session.passes, session.calls = int(meta["passes"]), int(meta["calls"])
            session.before = float(meta["seconds"])
            session.history = [Record(**record) for record in meta["history"]]
            if weights.shape != (steps.problem.dim,) or not np.isfinite(weights).all():
                raise ValueError("weights out of range")
            steps.prove_upper(session, steps.problem.clamp(weights), steps.state)
            session.calls = int(meta["calls"])
            if labels is not None:
                steps.prove_lower(session, labels)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DamagedCheckpoint(
                f"{self.path}: damaged checkpoint ({error}): delete it to start anew"
            ) from None
        return True

    def _read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        try:
            arrays = read_arrays(self.path)
            meta = json.loads(arrays.pop("meta").tobytes().decode())
            if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
                raise ValueError("unknown format")
        except (OSError, KeyError, ValueError, RecursionError) as error:
            reason = one_line(error).removeprefix(f"{self.path}: ")
            raise DamagedCheckpoint(
                f"{self.path}: not a checkpoint ({reason}): delete it to start anew"
            ) from None
        return arrays, meta


def _identity(steps: Steps) -> dict[str, Any]:
    """What a run must share with its checkpoint; the number of threads is free."""
    settings = asdict(steps.settings)
    shared = {
        name: settings[name]
        for name in ("theta", "relax", "gamma", "kappa", "step", "balance", "lag", "repair", "seed")
    }
    return {"fingerprint": steps.problem.fingerprint, "C": steps.problem.C, **shared}

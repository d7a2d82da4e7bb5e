"""A run on disk: killed at any moment, it goes on from its last checkpoint.

The file holds the iterates, the best weights, the relaxed labels of the best dual point and the labelings of planes.
Nothing in it is believed: on resuming, both ends of the certificate are proven again from the weights and the labels.
The ends as they were are taken in their place only where they claim no more, so that the run goes on to the same bits.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from gapcut.certificates import Record
from gapcut.data.npz import one_line, read_arrays
from gapcut.engines import Deadline
from gapcut.files import write_arrays, write_atomically
from gapcut.learners.base import NO_MEMORY, Progress, Session

_FORMAT = 5


class DamagedCheckpoint(ValueError):
    """The file is not a whole checkpoint: delete it to start anew."""

    @classmethod
    def because(cls, path: Path, error: object) -> Self:
        """One line with the file and what is wrong with it."""
        return cls(f"{path}: damaged checkpoint ({error}): delete it to start anew")


class Checkpoint:
    """The checkpoint file of one run, due every ``seconds``; ``identity``: what the run must share with it, as JSON has
    it; ``chosen``: what led to the run, to be found again by :func:`chosen_before`: then the file is due at once.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: Mapping[str, Any],
        seconds: float,
        chosen: Mapping[str, Any] | None = None,
    ) -> None:
        self.path, self._identity, self._seconds = Path(path), dict(identity), seconds
        self._chosen = chosen
        self._clock = Deadline(seconds if chosen is None else 0.0)

    @property
    def left(self) -> float:
        """Seconds until it is due."""
        return self._clock.left or 0.0

    def write(
        self, progress: Progress, session: Session, arrays: dict[str, Any], numbers: dict[str, Any]
    ) -> None:
        """Whole or not at all: a kill while writing leaves the file before. Where that fails, a warning says so."""
        bounds = progress.bounds
        meta = {
            "format": _FORMAT,
            "problem": self._identity,
            "chosen": self._chosen,
            "numbers": numbers,
            "passes": progress.passes,
            "calls": progress.calls,
            "seconds": session.seconds,
            "history": [asdict(record) for record in session.history[: progress.records]],
            "ends": [bounds.upper, bounds.upper_rounding, bounds.lower, bounds.lower_rounding],
        }
        text = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
        arrays = {"meta": text, **arrays, "best_weights": bounds.weights}
        try:
            write_atomically(self.path, lambda file: write_arrays(file, arrays, compressed=False))
        except OSError as error:
            self.skip(error.strerror or str(error))
        except MemoryError:
            self.skip(NO_MEMORY)
        else:
            self._clock = Deadline(self._seconds)

    def skip(self, reason: str) -> None:
        """The file stays as it is until it is due again; a warning says why."""
        warnings.warn(f"{self.path}: {reason}: the run goes on without this checkpoint", stacklevel=2)
        self._clock = Deadline(self._seconds)

    def read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays of :meth:`write`, ``best_weights`` among them, and the document beside them.

        Raises ValueError if the file is of another run, DamagedCheckpoint if it is not whole.
        """
        arrays, meta = _contents(self.path)
        if meta.get("problem") != self._identity:
            raise of_another_run(self.path)
        return arrays, meta


def chosen_before(path: Path) -> Any:
    """What led to the run of a checkpoint, as it was given to :class:`Checkpoint`. Raises DamagedCheckpoint."""
    return _contents(path)[1].get("chosen")


def of_another_run(path: Path) -> ValueError:
    """The error for a checkpoint that does not belong to what is asked for."""
    return ValueError(
        f"{path}: the checkpoint belongs to other data, another C or other settings: delete it to start anew"
    )


def _contents(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        arrays = read_arrays(path)
        meta = json.loads(arrays.pop("meta").tobytes().decode())
        if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
            raise ValueError("unknown format")
    except (OSError, KeyError, ValueError, RecursionError) as error:
        reason = one_line(error).removeprefix(f"{path}: ")
        raise DamagedCheckpoint.because(path, reason) from None
    return arrays, meta


def go_on(session: Session, meta: dict[str, Any]) -> None:
    """Counts, history and ends of the run that ended, after its ends were proven again. Raises KeyError, TypeError,
    ValueError or OverflowError for what :meth:`Checkpoint.write` does not write."""
    session.bounds.recall(*(float(end) for end in meta["ends"]))
    session.passes, session.calls = int(meta["passes"]), int(meta["calls"])
    session.seconds_before = float(meta["seconds"])
    session.history = [Record(**record) for record in meta["history"]]

"""Exit codes, and Ctrl-C during work that keeps what it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

DONE, NOT_CERTIFIED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Interrupted(Exception):
    """Ctrl-C ended a command; the message says what was kept."""


@dataclass
class InterruptWatch:
    """Whether Ctrl-C was pressed; learners turn it into an early end, and then only this knows."""

    pressed: bool = False


@contextmanager
def watch_interrupt() -> Iterator[InterruptWatch]:
    """Note a Ctrl-C while letting it do what it always does."""
    watch = InterruptWatch()
    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        watch.pressed = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, before)

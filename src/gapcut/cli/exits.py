"""Exit codes, and Ctrl-C or SIGTERM during work that keeps what it has."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

DONE, NOT_CERTIFIED, USAGE, INTERRUPTED = 0, 1, 2, 130
SOME_FAILED = 1
"""Of many files."""


class Interrupted(Exception):
    """Ctrl-C or SIGTERM ended a command; the message says what was kept."""


class Rescued(Exception):
    """A result could not be written to its place; the message says where it was saved instead."""


@dataclass
class InterruptWatch:
    """Whether Ctrl-C was pressed, or SIGTERM came; learners turn it into an early end, and then only this knows.

    Once ``saving`` is set, it is noted only: what was learned is written first.
    """

    pressed: bool = False
    saving: bool = False


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """SIGTERM ends every command as Ctrl-C does: what is written stays whole, and nothing is left over."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:  # a forked worker
            os._exit(128 + number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def to_the_end() -> Iterator[None]:
    """Work of which half a result is of no use: Ctrl-C and SIGTERM end the command."""
    with watch_interrupt() as watch:
        yield
    if watch.pressed:
        raise KeyboardInterrupt


@contextmanager
def watch_interrupt() -> Iterator[InterruptWatch]:
    """Note Ctrl-C and SIGTERM, and let both do what Ctrl-C always does."""
    watch = InterruptWatch()
    if threading.current_thread() is not threading.main_thread():
        yield watch
        return

    def note(number: int, frame: FrameType | None) -> None:
        watch.pressed = True
        if not watch.saving:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield watch
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

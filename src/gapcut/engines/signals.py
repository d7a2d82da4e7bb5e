"""Ctrl-C and SIGTERM that wait until what is at work is whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class HeldSignals:
    """Signals that come while they are held are raised again by :meth:`breathe`."""

    def __init__(self) -> None:
        self._waiting: int | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Work that is done or not done; outside the main thread there are no signals to hold."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def wait(number: int, frame: object) -> None:
            self._waiting = number

        before = {number: signal.signal(number, wait) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def breathe(self) -> None:
        """To whoever handles it."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            signal.raise_signal(waiting)

"""Where a command is: a line that changes on a terminal, now and then one elsewhere if asked for; all on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from gapcut.cli.counts import counted

if TYPE_CHECKING:
    from gapcut.certificates import Callback, Record

SECONDS_BETWEEN_LINES = 5.0
WRITING = "writing the report ..."
_SPEAKS = ContextVar("_SPEAKS", default=False)


@contextmanager
def speak(aloud: bool = True) -> Iterator[None]:
    """Inside, progress is shown off a terminal too, if ``aloud``."""
    before = _SPEAKS.set(_SPEAKS.get() or aloud)
    try:
        yield
    finally:
        _SPEAKS.reset(before)


@contextmanager
def working(line: str) -> Iterator[Callable[[str], None]]:
    """Show a line while something runs, and let it change."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.status import Status

        with Status(line, console=Console(stderr=True, markup=False, highlight=False)) as status:
            yield status.update
    elif _SPEAKS.get():
        print(line, file=sys.stderr, flush=True)
        yield _now_and_then(lambda line: print(line, file=sys.stderr, flush=True))
    else:
        yield lambda line: None


def _now_and_then(say: Callable[[str], None]) -> Callable[[str], None]:
    """``say``, but not sooner than ``SECONDS_BETWEEN_LINES`` after the last time."""
    last = time.monotonic()

    def heard(line: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            say(line)

    return heard


@contextmanager
def progress(task: str, target: float | None = None, before: str = "") -> Iterator[Callback]:
    """A callback of learners that shows their bounds. ``target``: the gap aimed at; ``before``: what comes first."""
    from gapcut.certificates import gap_percent

    aim = "" if target is None else f" to a gap of {gap_percent(target)}"
    with working(f"{before}{task}{aim} ...") as status:
        before_that: list[Record] = []

        def show(record: Record) -> None:
            lower, upper = record.shown(5)
            status(
                f"{task}: pass {record.passes}, {record.seconds:.1f} s, {lower} <= optimum <= "
                f"{upper}, gap {record.shown_gap()}{_at_work(record, before_that)}"
            )
            before_that[:] = [record]

        yield show


def _at_work(record: Record, before: list[Record]) -> str:
    """Actors and their speed since the record before, where there are such."""
    actors, now = getattr(record, "actors", 0), getattr(record, "iterations", 0)
    if not actors:
        return ""
    done = now - (getattr(before[0], "iterations", 0) if before else 0)
    seconds = record.seconds - (before[0].seconds if before else 0.0)
    at_work = f", {counted(actor=actors)}"
    return f"{at_work}, {done / seconds:.3g} iterations/s" if seconds > 0.0 else at_work

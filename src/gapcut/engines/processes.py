"""Processes of this machine behind a queue."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeAlias

from gapcut.engines.work import DIED, Item, Outcome, Outcomes, Result, attempt

Numbered: TypeAlias = tuple[int, Any]

_TRIES = 2
"""Of an item that was at work when a process died."""

_work: list[Callable[[Any], Any]] = []
"""Of a worker: it is sent once, not with every item."""


class Processes:
    """So many processes, each with one item and one thread."""

    threads, elsewhere = 1, False

    def __init__(self, processes: int) -> None:
        self.at_once = processes

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Outcomes[Result]:
        """See :class:`gapcut.engines.work.Engine`.

        A pool does not say whose process died: all items at work then are done again one by one.
        """
        rest = enumerate(items)
        lost = yield from self._run(work, rest, self.at_once)
        while lost:
            for suspect in lost:
                for _ in range(_TRIES):
                    if not (yield from self._run(work, iter([suspect]), 1)):
                        break
                else:
                    yield Outcome(suspect[0], None, DIED)
            lost = yield from self._run(work, rest, self.at_once)

    def close(self) -> None:
        """Pools end with their items."""

    def _run(
        self, work: Callable[[Any], Any], items: Iterator[Numbered], processes: int
    ) -> Generator[Outcome[Any], None, list[Numbered]]:
        """Outcomes from one pool, until there are no items left or it breaks; returns those at work then."""
        pool = ProcessPoolExecutor(processes, get_context("spawn"), _adopt, (work,))
        busy: dict[Future[tuple[Any, str | None]], Numbered] = {}
        lost: list[Numbered] = []
        try:
            while True:
                while not lost and len(busy) < processes and (item := next(items, None)) is not None:
                    try:
                        busy[pool.submit(_do, item[1])] = item
                    except BrokenProcessPool:
                        lost.append(item)
                if not busy:
                    return lost
                for done in wait(busy, return_when=FIRST_COMPLETED).done:
                    item = busy.pop(done)
                    if isinstance(done.exception(), BrokenProcessPool):
                        lost.append(item)
                    else:
                        yield Outcome(item[0], *done.result())
        finally:
            pool.shutdown(cancel_futures=True)


def _adopt(work: Callable[[Any], Any]) -> None:
    _work.append(work)


def _do(item: Any) -> tuple[Any, str | None]:
    return attempt(_work[0], item)

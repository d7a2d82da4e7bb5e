"""Work on tiles in several processes. Everything about processes is here, so that another queue can take its place."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager

from gapcut.scenes.tiles.grid import Tile

Work = Callable[[Tile], float]
Run = Callable[[Work, Sequence[Tile], Callable[[], None]], float]


@contextmanager
def processes(jobs: int) -> Iterator[Run]:
    """How to do a piece of work on many tiles: ``run(work, tiles, done)`` calls ``done`` after each and adds up
    what ``work`` returns; no further tile is begun after an error. New processes (spawned, so ``work`` is pickled) live
    until the end; one job is this process."""
    if jobs <= 1:
        yield _one_by_one
        return
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))

    def run(work: Work, tiles: Sequence[Tile], done: Callable[[], None]) -> float:
        total = 0.0
        for future in as_completed([pool.submit(work, tile) for tile in tiles]):
            total += future.result()
            done()
        return total

    try:
        yield run
    finally:
        pool.shutdown(cancel_futures=True)


def _one_by_one(work: Work, tiles: Sequence[Tile], done: Callable[[], None]) -> float:
    total = 0.0
    for tile in tiles:
        total += work(tile)
        done()
    return total

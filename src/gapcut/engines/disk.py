"""Shards of one process whose states are on disk: memory holds that of the one at work."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gapcut.engines.shards import ClusterLost, MakeShard, Pool
from gapcut.engines.signals import HeldSignals

NO_ROOM = "has no room for the state"


class DiskShards:
    """Shards that have ``move_to(folder)``, ``wake()`` and ``rest()`` too. The folder, by default that for temporary
    files, must be on a disk that holds all states; nothing is left in it."""

    elsewhere = False

    def __init__(self, folder: str | None = None) -> None:
        self._folder = tempfile.gettempdir() if folder is None else folder
        if not Path(self._folder).is_dir():
            raise FileNotFoundError(f"{self._folder}: no such folder for the state on disk")

    def spread(self, make: MakeShard, parts: Sequence[tuple[Any, ...]], threads: int) -> Pool:
        """See :class:`gapcut.engines.shards.ShardEngine`."""
        shards = []
        for part in parts:
            shards.append(make(*part, threads))
            shards[-1].move_to(self._folder)  # before the next one is made
            shards[-1].rest()
        return DiskPool(shards, self._folder)

    def close(self) -> None:
        """The files are gone with the shards."""


class DiskPool:
    """See :class:`gapcut.engines.shards.Pool`."""

    here, workers = None, 0

    def __init__(self, shards: Sequence[Any], folder: str) -> None:
        self._shards, self._folder, self._signals = shards, folder, HeldSignals()

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        return self.call_each(name, [arguments] * len(self._shards))

    def call_each(self, name: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        answers: list[Any] = []
        for shard, own in zip(self._shards, arguments, strict=True):
            if own is None:
                answers.append(None)
                continue
            try:
                with _awake(shard):
                    answers.append(getattr(shard, name)(*own))
            except OSError as error:
                raise ClusterLost(f"{self._folder} {NO_ROOM} ({error})") from None
        return answers

    def change(self, name: str, *arguments: Any) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        with self._signals.held():
            return self.call(name, *arguments)

    def change_each(self, name: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        with self._signals.held():
            return self.call_each(name, arguments)

    def load(self, states: Sequence[Any]) -> None:
        """See :class:`gapcut.engines.shards.Pool`."""
        self.change_each("load", [(state,) for state in states])

    def breathe(self) -> None:
        """See :class:`gapcut.engines.shards.Pool`."""
        self._signals.breathe()


@contextmanager
def _awake(shard: Any) -> Iterator[None]:
    shard.wake()
    try:
        yield
    finally:
        shard.rest()

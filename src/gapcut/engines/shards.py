"""Work that stays where its data are: shards of a data set, asked the same again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

ShardEngineName: TypeAlias = Literal["threads", "disk", "ray"]

MakeShard: TypeAlias = Callable[..., Any]
"""``make(*part, threads)``: a shard, which has ``save()`` and ``load(state)`` and any other calls. Where ``save`` gives
None, all that :meth:`Pool.change` asked is kept in its place. It and the parts are pickled where there are other
processes."""


class ClusterLost(ConnectionError):
    """No process is left that could go on, or no room for the shards: what was proven before holds."""


class Pool(Protocol):
    """Shards in their order. What one answers must depend on its part, the state loaded last and what was asked by
    :meth:`change` since, on nothing else: so one that is lost can be built again."""

    @property
    def here(self) -> Sequence[Any] | None:
        """The shards themselves, if they are in this process."""

    @property
    def workers(self) -> int:
        """Other processes at work."""

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """The answers of all shards to a call that changes none."""

    def call_each(self, name: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """The same, each shard with arguments of its own; None: it is not asked, and answers None."""

    def change(self, name: str, *arguments: Any) -> list[Any]:
        """The answers to a call that changes their states; it is whole for all shards or for none: Ctrl-C waits until
        :meth:`breathe`."""

    def change_each(self, name: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """The same, each shard with arguments of its own."""

    def load(self, states: Sequence[Any]) -> None:
        """What ``save`` gave, one a shard."""

    def breathe(self) -> None:
        """Lets the signal through that has waited, if any; Ctrl-C raises KeyboardInterrupt."""


class ShardEngine(Protocol):
    """Where shards are."""

    elsewhere: bool
    """Whether in other processes, which are there for shards alone."""

    def spread(self, make: MakeShard, parts: Sequence[tuple[Any, ...]], threads: int) -> Pool:
        """A shard of each part; ``threads``: for those of this process."""

    def close(self) -> None:
        """Let processes go."""


class Here:
    """All shards in this process, one after the other, each on all threads."""

    workers = 0

    def __init__(self, shards: Sequence[Any]) -> None:
        self.here = shards

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """See :class:`Pool`."""
        return [getattr(shard, name)(*arguments) for shard in self.here]

    def call_each(self, name: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """See :class:`Pool`."""
        pairs = zip(self.here, arguments, strict=True)
        return [None if own is None else getattr(shard, name)(*own) for shard, own in pairs]

    change, change_each = call, call_each

    def load(self, states: Sequence[Any]) -> None:
        """See :class:`Pool`."""
        self.call_each("load", [(state,) for state in states])

    def breathe(self) -> None:
        """Nothing waits."""


class ThreadShards:
    """The engine of one process."""

    elsewhere = False

    def spread(self, make: MakeShard, parts: Sequence[tuple[Any, ...]], threads: int) -> Pool:
        """See :class:`ShardEngine`."""
        return Here([make(*part, threads) for part in parts])

    def close(self) -> None:
        """Nothing was begun."""


def open_shards(name: ShardEngineName, address: str | None = None) -> ShardEngine:
    """``"threads"``: this process; ``"disk"``: the same, states in files of the folder ``address``
    (:class:`gapcut.engines.disk.DiskShards`); ``"ray"``: a Ray cluster (:class:`gapcut.engines.actors.RayShards`)."""
    if name == "disk":
        from gapcut.engines.disk import DiskShards

        return DiskShards(address)
    if name == "threads":
        if address is not None:
            raise ValueError(f"address {address!r} is of a Ray cluster, but the engine is 'threads'")
        return ThreadShards()
    from gapcut.engines.actors import RayShards

    return RayShards(address)

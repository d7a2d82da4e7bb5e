"""Shards on actors of a Ray cluster. An actor that dies loses nothing: its shards are built again, from their part of
the data, the states kept last and what they were asked since."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from gapcut import _core
from gapcut.engines.cluster import RayCluster
from gapcut.engines.shards import ClusterLost, MakeShard, Pool
from gapcut.engines.signals import HeldSignals
from gapcut.engines.target import target
from gapcut.engines.work import attempt
from gapcut.version import __version__

KEEP_AFTER: Final = 1000
"""Changes after which states are kept: to make so many again is what a lost actor costs at most. States are large, and
kept ones go through the driver."""

PATIENCE: Final = 5.0
"""Seconds until the shards of a lost actor go to those that are left, if the cluster has no place for a new one."""

TRIES: Final = 4
"""Actors that may be lost over one call of a shard: one more means that no node can hold it."""

INLINE: Final = 100_000
"""Bytes of arguments above which they are sent once for all actors."""

Asked: TypeAlias = dict[int, Any]
"""Arguments, or answers, by shard."""

Call: TypeAlias = tuple[str, tuple[Any, ...] | Asked]
"""A name, and the arguments of all shards, or by shard."""


class RayShards:
    """Shards on the free CPUs of a cluster at ``address`` (:class:`gapcut.engines.cluster.RayCluster`), one actor each
    with one thread, at most as many as there are shards. It has one pool at a time: a new one ends the one before."""

    elsewhere = True

    def __init__(self, address: str | None = None) -> None:
        self._cluster = RayCluster(address)
        self.pool: RayPool | None = None

    def spread(self, make: MakeShard, parts: Sequence[tuple[Any, ...]], threads: int) -> Pool:
        """See :class:`gapcut.engines.shards.ShardEngine`; the threads are of another process."""
        self._end()
        self.pool = RayPool(self._cluster.ray, make, parts)
        return self.pool

    def close(self) -> None:
        """End the actors and leave the cluster."""
        self._end()
        self._cluster.close()

    def _end(self) -> None:
        if self.pool is not None:
            self.pool.close()


class RayPool:
    """See :class:`gapcut.engines.shards.Pool`."""

    here = None

    def __init__(self, ray: Any, make: MakeShard, parts: Sequence[tuple[Any, ...]]) -> None:
        self._ray, self._make = ray, ray.put(make)
        self._parts = [ray.put(part) for part in parts]
        self._states: list[Any] = [None] * len(parts)
        self._log: list[Call] = []
        self._saves = True
        self._signals = HeldSignals()
        self.actors: list[Any] = []
        self._of: dict[int, Any] = {}
        wanted = min(len(parts), int(ray.cluster_resources().get("CPU", 1)))
        self._has_places(wanted)
        count = max(1, min(wanted, self._places()))
        for i in range(count):
            self._place(range(i * len(parts) // count, (i + 1) * len(parts) // count), self._begin())
        self.call("check")

    @property
    def workers(self) -> int:
        """See :class:`gapcut.engines.shards.Pool`."""
        return len(self.actors)

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        return self._in_order(self._everywhere(name, lambda _: arguments, self._shared(arguments)))

    def call_each(self, name: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        return self._some(name, _given(arguments))

    def change(self, name: str, *arguments: Any) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        with self._changing((name, arguments)):
            return self.call(name, *arguments)

    def change_each(self, name: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """See :class:`gapcut.engines.shards.Pool`."""
        given = _given(arguments)
        with self._changing((name, given)):
            return self._some(name, given)

    def _some(self, name: str, given: Asked) -> list[Any]:
        found = self._everywhere(name, given.__getitem__, None, list(given))
        return [found.get(shard) for shard in range(len(self._parts))]

    @contextmanager
    def _changing(self, call: Call) -> Iterator[None]:
        """Keeps states where it is time, and notes the call once it is whole."""
        with self._signals.held():
            if self._saves and len(self._log) >= KEEP_AFTER:
                self._keep()
            yield
            self._log.append(call)

    def load(self, states: Sequence[Any]) -> None:
        """See :class:`gapcut.engines.shards.Pool`."""
        with self._signals.held():
            self._everywhere("load", lambda shard: (states[shard],), None)
            self._states, self._log = [self._ray.put(state) for state in states], []

    def breathe(self) -> None:
        """See :class:`gapcut.engines.shards.Pool`."""
        self._signals.breathe()

    def close(self) -> None:
        """End the actors."""
        for actor in self.actors:
            self._ray.kill(actor)
        self.actors.clear()

    def _keep(self) -> None:
        """States of all shards, in the driver's object store, which outlives the nodes of the actors."""
        saved = self._everywhere("save", lambda _: (), None)
        self._saves = not any(state is None for state in saved.values())
        if self._saves:
            self._states, self._log = [self._ray.put(state) for state in self._in_order(saved)], []

    def _shared(self, arguments: tuple[Any, ...]) -> Any:
        size = sum(getattr(argument, "nbytes", 0) for argument in arguments)
        return self._ray.put(arguments) if size > INLINE and len(self.actors) > 1 else None

    def _everywhere(
        self,
        name: str,
        arguments: Callable[[int], tuple[Any, ...]],
        shared: Any,
        asked: Sequence[int] | None = None,
    ) -> Asked:
        """Answers of all shards, or of those ``asked``; of those whose actor is lost, after they were built again."""
        wanted, found = set(range(len(self._parts)) if asked is None else asked), Asked()
        open_, lost_by = set(wanted), Counter[int]()
        while open_:
            for lost in {self._of[shard] for shard in open_} - set(self.actors):
                open_ |= self._replace(lost) & wanted  # which was cut off before
            sent = {}
            for actor in self.actors:
                own = sorted(shard for shard in open_ if self._of[shard] is actor)
                if own:
                    given = shared if shared is not None else {shard: arguments(shard) for shard in own}
                    sent[actor] = actor.do.remote(name, own, given)
            for actor, reference in sent.items():
                try:
                    answers = self._answers(reference)
                except _ActorLost as error:
                    again = (
                        self._replace(actor) & wanted
                    )  # those that had answered too: they are as before the call
                    open_ |= again
                    lost_by.update(again)
                    if max(lost_by.values(), default=0) >= TRIES:
                        raise ClusterLost(
                            f"{TRIES} actors in a row were lost with the same graphs ({error}): has every node this "
                            "package, and the memory?"
                        ) from None
                else:
                    found.update(answers)
                    open_ -= answers.keys()
        return found

    def _answers(self, reference: Any) -> Asked:
        """Raises _ActorLost where there are none."""
        try:
            answers: Asked = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise _ActorLost(" ".join(str(error).split())[:200]) from None
        return answers

    def _in_order(self, answers: Asked) -> list[Any]:
        return [answers[shard] for shard in range(len(self._parts))]

    def _begin(self) -> Any:
        actor = self._ray.remote(num_cpus=1, max_restarts=0)(Holder).remote(target(), __version__, self._make)
        self.actors.append(actor)
        return actor

    def _place(self, shards: Sequence[int], actor: Any) -> None:
        """Sent in order, so before anything else that the actor is asked."""
        log = self._ray.put([(name, None if isinstance(given, dict) else given) for name, given in self._log])
        each = [(i, given) for i, (_, given) in enumerate(self._log) if isinstance(given, dict)]
        for shard in shards:
            own = {i: given[shard] for i, given in each if shard in given}
            actor.hold.remote(shard, self._parts[shard], self._states[shard], log, own)
            self._of[shard] = actor

    def _replace(self, lost: Any) -> set[int]:
        """A new actor takes the shards of one that was lost; where there is no place for one, those that are left.
        These shards: they are as after the last call that is noted."""
        if lost in self.actors:
            self.actors.remove(lost)
            self._ray.kill(lost)
        shards = [shard for shard, actor in self._of.items() if actor is lost]
        if self._has_places(1):
            self._place(shards, self._begin())
            return set(shards)
        if not self.actors:
            raise ClusterLost("no node of the cluster is left for the shards")
        for i, shard in enumerate(shards):
            self._place([shard], self.actors[i % len(self.actors)])
        return set(shards)

    def _places(self) -> int:
        return int(self._ray.available_resources().get("CPU", 0.0))

    def _has_places(self, wanted: int) -> bool:
        """Whether so many CPUs are free; those of an actor that has ended are a moment later."""
        end = time.monotonic() + PATIENCE
        while self._places() < wanted:
            if time.monotonic() >= end:
                return False
            time.sleep(0.1)
        return True


def _given(arguments: Sequence[tuple[Any, ...] | None]) -> Asked:
    """By shard, of those that are asked."""
    return {shard: own for shard, own in enumerate(arguments) if own is not None}


class _ActorLost(Exception):
    """It gave no answer."""


class Holder:
    """An actor: some shards, each with one thread."""

    def __init__(self, kernels: str, version: str, make: MakeShard) -> None:
        self._make, self._shards = make, Asked()
        self._wrong: str | None = None
        if version != __version__:
            self._wrong = f"a worker has gapcut {__version__}, the driver {version}: install the same"
        else:
            self._wrong = attempt(_core.use_target, kernels)[1]

    def hold(
        self, shard: int, part: tuple[Any, ...], state: Any, log: Sequence[tuple[str, Any]], own: Asked
    ) -> None:
        """A shard as it is after all that the log has; ``own``: its arguments by their place there, where each shard
        had others. What is wrong is said when it is asked."""
        try:
            made = self._make(*part, 1)
            if state is not None:
                made.load(state)
            for i, (name, given) in enumerate(log):
                arguments = own.get(i) if given is None else given
                if arguments is not None:
                    getattr(made, name)(*arguments)
        except Exception as error:
            self._wrong = f"{type(error).__name__}: {error}"
            return
        self._shards[shard] = made

    def do(self, name: str, shards: Sequence[int], given: Any) -> Asked:
        """Answers of some shards; ``given``: the arguments of all, or by shard."""
        if self._wrong is not None:
            raise ClusterLost(self._wrong)
        if name == "check":
            return dict.fromkeys(shards)
        own = given if isinstance(given, dict) else dict.fromkeys(shards, given)
        return {shard: getattr(self._shards[shard], name)(*own[shard]) for shard in shards}

"""A Ray that works in this process: actors are objects, arguments are pickled, and a test decides who dies."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Reference:
    def __init__(self, value: Any, error: RayError | None = None) -> None:
        self.value, self.error = value, error


class LocalRay:
    """``dies(actor, call, shards)``: whether it dies instead of answering; ``stillborn``: every actor does."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, cpus: int) -> None:
        self.cpus = cpus
        self.alive: list[Actor] = []
        self.made = 0
        self.stillborn = False
        self.dies: Callable[[Actor, str, Sequence[int]], bool] = lambda *_: False

    def remote(self, **_: Any) -> Any:
        return lambda cls: SimpleNamespace(remote=lambda *arguments: Actor(self, cls, arguments))

    def put(self, value: Any) -> Reference:
        return Reference(pickle.loads(pickle.dumps(value)))

    def get(self, reference: Any) -> Any:
        if isinstance(reference, list):
            return [self.get(one) for one in reference]
        if reference.error is not None:
            raise reference.error
        return reference.value

    def kill(self, actor: Actor) -> None:
        if actor in self.alive:
            self.alive.remove(actor)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus}

    def available_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus - len(self.alive)}


class Actor:
    def __init__(self, ray: LocalRay, cls: Any, arguments: Sequence[Any]) -> None:
        self._ray = ray
        self._held = cls(*(one.value if isinstance(one, Reference) else one for one in arguments))
        ray.made += 1
        if not ray.stillborn:
            ray.alive.append(self)

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *arguments: self._call(name, arguments))

    def _call(self, name: str, arguments: Sequence[Any]) -> Reference:
        given = [
            one.value if isinstance(one, Reference) else pickle.loads(pickle.dumps(one)) for one in arguments
        ]
        if self in self._ray.alive and name == "do" and self._ray.dies(self, given[0], given[1]):
            self._ray.kill(self)
        if self not in self._ray.alive:
            return Reference(None, RayError("it is dead"))
        try:
            return Reference(getattr(self._held, name)(*given))
        except Exception as error:
            return Reference(None, RayTaskError(error))

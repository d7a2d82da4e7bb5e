"""Queues of independent items, such as files: results come as they are there, an error spoils one item only."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

EngineName: TypeAlias = Literal["threads", "processes", "ray"]

Item = TypeVar("Item")
Result = TypeVar("Result")

DIED = "the process that worked on it died whenever it was tried"

_PLAIN = (ValueError, OSError, ImportError, MemoryError)
"""Errors whose text says what is wrong; others are named with their kind."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """How item ``index`` ended: with a ``result``, or with an ``error`` in one line (then ``result`` is None)."""

    index: int
    result: Result | None
    error: str | None = None


Outcomes: TypeAlias = Generator[Outcome[Result], None, None]


class Engine(Protocol):
    """Does items of work that know nothing of each other."""

    @property
    def threads(self) -> int:
        """How many the work on one item may use."""

    @property
    def at_once(self) -> int:
        """How many items may be at work at the same time."""

    @property
    def elsewhere(self) -> bool:
        """Whether workers have another working folder, so that paths must be absolute."""

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Outcomes[Result]:
        """``work`` done on every item, in any order; outcomes as they come.

        An error is the outcome of its item. A worker that dies is replaced and its item done again, so ``work`` must
        be able to find what it wrote before; an item whose worker dies whenever it is tried ends as an error. Ctrl-C,
        and closing the iterator, end the rest. ``work`` and items are pickled where there are other processes.
        """

    def close(self) -> None:
        """Let workers go."""


def attempt(work: Callable[[Any], Any], item: Any) -> tuple[Any, str | None]:
    """Result and None, or None and what went wrong."""
    try:
        return work(item), None
    except Exception as error:
        text = " ".join(str(error).split())
        plain = isinstance(error, _PLAIN) and text
        return None, text if plain else f"{type(error).__name__}: {text}".removesuffix(": ")


class Threads:
    """This process: items in turn, each on all threads."""

    elsewhere, at_once = False, 1

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Outcomes[Result]:
        """See :class:`Engine`."""
        return (Outcome(index, *attempt(work, item)) for index, item in enumerate(items))

    def close(self) -> None:
        """Nothing was begun."""


def open_engine(name: EngineName, threads: int = 1, address: str | None = None) -> Engine:
    """What does the items of a queue.

    - ``"threads"``: this process, one item at a time on so many ``threads``;
    - ``"processes"``: so many processes, one item and one thread each;
    - ``"ray"``: a Ray cluster at ``address``, an item taking so many CPUs (:class:`gapcut.engines.cluster.RayCluster`).
    """
    if address is not None and name != "ray":
        raise ValueError(f"address {address!r} is of a Ray cluster, but the engine is {name!r}")
    if name == "threads":
        return Threads(threads)
    if name == "processes":
        from gapcut.engines.processes import Processes

        return Processes(threads)
    from gapcut.engines.cluster import RayCluster

    return RayCluster(address, threads)

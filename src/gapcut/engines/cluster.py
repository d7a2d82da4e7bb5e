"""A Ray cluster behind a queue. Nothing else of this package knows Ray."""

from __future__ import annotations

import logging
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from gapcut import _core
from gapcut.engines.target import target
from gapcut.engines.work import DIED, Item, Outcome, Outcomes, Result, attempt
from gapcut.extras import needed
from gapcut.version import __version__

_logger = logging.getLogger(__name__)

_RETRIES = 3
"""Times that an item is done again because its worker died or its node was lost."""

_AHEAD = 2
"""Items that wait at the cluster for each one at work: workers never wait for the driver."""


_PATIENCE = 10.0
"""Seconds until an address that does not answer is given up."""


class RayCluster:
    """Workers of a Ray cluster; each needs this package, in the same version, and sees the same files.

    ``address`` as Ray has it: ``"HOST:PORT"``, ``"auto"`` for the cluster that this machine is part of, None for that
    of the environment variable RAY_ADDRESS or else workers of this machine. ``threads``: CPUs that an item takes. All
    workers use the kernels of this process, so results do not depend on their processors. A connection that is there
    is used, and left. Raises ImportError without Ray, ConnectionError where no cluster answers.
    """

    elsewhere = True

    def __init__(self, address: str | None = None, threads: int = 1) -> None:
        self.ray = needed("ray", 'engine "ray" needs', "cluster")
        self.threads = threads
        self._own = not self.ray.is_initialized()
        if self._own:
            _try_to_reach(address)
            with _own_sigterm():
                self.ray.init(address, log_to_driver=False, logging_level="error")
        self._driver = self.ray._private.worker
        self._print = self._driver.print_to_stdstream
        self._driver.print_to_stdstream = _log

    @property
    def at_once(self) -> int:
        """See :class:`gapcut.engines.work.Engine`; of all machines, as they are now."""
        return self._places()

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Outcomes[Result]:
        """See :class:`gapcut.engines.work.Engine`."""
        ray = self.ray
        sent = ray.put(work)
        task = ray.remote(num_cpus=self.threads, max_retries=_RETRIES)(_do)
        rest = enumerate(items)
        busy: dict[Any, int] = {}
        try:
            while True:
                while len(busy) < self._places() and (item := next(rest, None)) is not None:
                    busy[task.remote(sent, item[1], target(), __version__)] = item[0]
                if not busy:
                    return
                for done in ray.wait(list(busy))[0]:
                    yield self._outcome(busy.pop(done), done)
        finally:
            for begun in busy:
                ray.cancel(begun, force=True)

    def close(self) -> None:
        """Leave the cluster."""
        self._driver.print_to_stdstream = self._print
        if self._own:
            self.ray.shutdown()

    def _places(self) -> int:
        """Items at work or waiting at the cluster, which may have grown or shrunk."""
        return _AHEAD * max(1, int(self.ray.cluster_resources().get("CPU", 1)) // self.threads)

    def _outcome(self, index: int, done: Any) -> Outcome[Any]:
        try:
            return Outcome(index, *self.ray.get(done))
        except self.ray.exceptions.WorkerCrashedError:
            return Outcome(index, None, DIED)
        except self.ray.exceptions.RayError as error:
            return Outcome(index, None, " ".join(str(error).split())[:300])


def _log(said: dict[str, Any], *_: object, **__: object) -> None:
    """What Ray notices of lost nodes and workers; it would print that to standard output, among a command's results."""
    _logger.info("%s", " ".join(map(str, said.get("lines", ()))))


def _try_to_reach(address: str | None) -> None:
    """Ray itself tries for minutes."""
    found = re.fullmatch(r"([^:/]+):([0-9]{1,5})", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found[1], int(found[2])), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"{address}: no Ray cluster answers there ({error})") from None


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """What SIGTERM does is not for Ray to change."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)


def _do(work: Callable[[Any], Any], item: Any, kernels: str, version: str) -> tuple[Any, str | None]:
    """On a worker, which does one item at a time."""
    if version != __version__:
        return None, f"this worker has gapcut {__version__}, the driver {version}: install the same"
    return attempt(lambda known: _with_kernels(work, known, kernels), item)


def _with_kernels(work: Callable[[Any], Any], item: Any, kernels: str) -> Any:
    _core.use_target(kernels)
    return work(item)

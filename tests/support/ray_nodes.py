"""Nodes of a Ray cluster on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}
TESTS = Path(__file__).parent.parent
PATIENCE = 240.0  # seconds for the start of a node; Ray's 30 are too few on a busy machine


@contextmanager
def two_nodes() -> Iterator[Any]:
    """The cluster; a node has one CPU, and its workers can import tests. Skips without Ray."""
    pytest.importorskip("ray")
    from ray._private import services
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (TESTS, TESTS / "support"))))
        patch.setattr(services, "get_node", _patient(services.get_node))
        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        try:
            cluster.add_node(**NODE)
            yield cluster
        finally:
            cluster.shutdown()


def _patient(get: Callable[..., Any]) -> Callable[..., Any]:
    def get_node(*arguments: Any) -> Any:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return get(*arguments)
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    return get_node

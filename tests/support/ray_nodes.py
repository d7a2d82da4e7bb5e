"""Nodes of a Ray cluster on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}
TESTS = Path(__file__).parent.parent
TRIES = 5  # on a busy machine a node may need longer to start than Ray waits for it


@contextmanager
def two_nodes() -> Iterator[Any]:
    """The cluster; a node has one CPU, and its workers can import tests. Skips without Ray."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (TESTS, TESTS / "support"))))
        head = {**NODE, "include_dashboard": False}
        cluster = started(lambda: Cluster(initialize_head=True, head_node_args=head))
        try:
            started(lambda: cluster.add_node(**NODE))
            yield cluster
        finally:
            cluster.shutdown()


def started(start: Callable[[], Any]) -> Any:
    """What ``start`` gives, tried again where it took too long."""
    for _ in range(TRIES - 1):
        try:
            return start()
        except Exception as error:  # Ray has no kind of its own for that
            if "timed out during startup" not in str(error):
                raise
    return start()

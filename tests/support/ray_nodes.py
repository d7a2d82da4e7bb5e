"""Several nodes of a Ray cluster on this machine; skipped without Ray."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

MEMORY = 80 << 20  # bytes of a node's object store
TESTS = Path(__file__).parent.parent


@contextmanager
def nodes(count: int) -> Iterator[Any]:
    """The cluster; a node has one CPU, and its workers can import tests."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "object_store_memory": MEMORY}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (TESTS, TESTS / "support"))))
        head = {**options, "include_dashboard": False}
        try:
            cluster = Cluster(initialize_head=True, head_node_args=head)
        except Exception as error:  # its kind; on a busy machine a start may take longer than Ray waits
            if "timed out during startup" not in str(error):
                raise
            cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(count - 1):
                cluster.add_node(**options)
            yield cluster
        finally:
            cluster.shutdown()

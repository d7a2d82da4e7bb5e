"""Fixtures of learning on shards."""

from __future__ import annotations

import pytest

from forced_shards import force_shards


@pytest.fixture
def forced(monkeypatch):
    """Every graph is a shard, up to 64."""
    force_shards(monkeypatch)


@pytest.fixture
def engine(cluster):
    """On two nodes of a Ray cluster; tests of other engines have their own."""
    from gapcut.engines.shards import open_shards

    found = open_shards("ray", cluster.address)
    yield found
    found.close()

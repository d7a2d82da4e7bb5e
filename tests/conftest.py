"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data sets and reported cases; tests that need it skip where it is absent."""
    root = Path(os.environ.get("GAPCUT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not root.is_dir():
        pytest.skip(f"no shared data at {root} (set GAPCUT_SHARED to its folder)")
    return root

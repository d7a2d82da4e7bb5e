"""The bugs that benchmarks/broken_core.py plants are still places in the core."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUGS = runpy.run_path(str(ROOT / "benchmarks" / "broken_core.py"))["BUGS"]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_has_its_place(bug) -> None:
    for path, right, wrong in bug.changes:
        assert (ROOT / "cpp" / path).read_text().count(right) == 1, path
        assert right != wrong

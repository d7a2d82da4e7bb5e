"""Nobody formats a gap by rounding to the nearest: not this package, its examples, its benchmarks or its pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("src", "examples", "benchmarks", "docs")


def programs() -> Iterator[tuple[str, str]]:
    """Where it is, and the text of every program and of every block of code in a page."""
    for path in [ROOT / "README.md", *(p for place in PLACES for p in sorted((ROOT / place).rglob("*.*")))]:
        where = path.relative_to(ROOT).as_posix()
        if path.suffix == ".py":
            yield where, path.read_text(encoding="utf-8")
        elif path.suffix == ".md":
            for block in re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S):
                yield where, block


def rounded_gaps(text: str) -> list[str]:
    """What is written of a gap with so many digits."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            names = {getattr(n, "id", None) or getattr(n, "attr", None) for n in ast.walk(node.value)}
            keys = {n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)}
            about = any(str(name).lower().endswith("gap") for name in names | keys)
            if about and re.search(r"\.\d+[%efg]", ast.unparse(node.format_spec)):
                found.append(ast.unparse(node))
    return found


def test_what_is_found():
    assert len(rounded_gaps("f\"{proof.relative_gap:.2%} {100 * gap:.3f} {row['gap']:.1e}\"")) == 3
    assert rounded_gaps('f"{gap_percent(gap)} {gap} {best_gap:>8} {seconds:.2f}"') == []


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="source distributions have no docs")
def test_no_gap_is_rounded_to_the_nearest():
    found = [f"{where}: {gap}" for where, text in programs() for gap in rounded_gaps(text)]
    assert found == []

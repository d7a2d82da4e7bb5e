"""What runs again for a page, and how a long command becomes short."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
if not DOCS.is_dir():
    pytest.skip("source distributions have no docs", allow_module_level=True)
sys.path.insert(0, str(DOCS))

from pages import shown_runs  # noqa: E402
from record import quick  # noqa: E402


def test_the_runs_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- run: first slow -->\n<!-- table: second fold -->\n<!-- end -->\n"
        "A <!-- value: third row @ column -->1<!-- end --> and <!-- value: second row @ x -->2<!-- end -->"
    )
    assert shown_runs(page) == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (
            "gapcut bridges reproduce --paper --cache build/cache --out build/a",
            "gapcut bridges reproduce --quick --limit 1 --paper --cache build/quick/cache --out build/quick/a",
        ),
        (
            "python benchmarks/compare.py --scale 10 --pairs a/b --out build/c && cat build/c/comparison.md",
            "python benchmarks/compare.py --scale 10 --pairs a/b --scale 0.02 --out build/quick/c"
            " && cat build/quick/c/comparison.md",
        ),
        (
            "python benchmarks/compare.py --data home --out build/c",
            'python benchmarks/compare.py --data home --scale 0.02 --pairs "primal-dual/cut;block/trws/signed"'
            " --out build/quick/c",
        ),
        (
            "python benchmarks/qp_solvers.py --planes 10 40 --limit 20",
            "python benchmarks/qp_solvers.py --planes 10 --limit 1",
        ),
    ],
)
def test_a_long_command_becomes_short(long: str, short: str) -> None:
    assert quick(long) == short

"""What counts as a difference between an output shown in the documentation and a new one."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
if not DOCS.is_dir():
    pytest.skip("source distributions have no docs", allow_module_level=True)
sys.path.insert(0, str(DOCS))

from check import difference  # noqa: E402

PROOF = "44.63 <= optimum <= this model <= 45.06, certified\naccuracy 0.910"
COUNTS = (
    "trained on 20 graphs, 1,200 nodes, 0.7 s\n80 oracle calls in 4 passes; 60 of 1,089 pairwise are not zero"
)


@pytest.mark.parametrize(
    ("shown", "now"),
    [
        (PROOF, PROOF.replace("0.910", "0.905")),
        (PROOF, PROOF.replace("44.63", "44.70").replace("45.06", "45.20")),
        (
            COUNTS,
            COUNTS.replace("0.7", "12.7")
            .replace("80", "120")
            .replace("in 4", "in 6")
            .replace("60 of", "61 of"),
        ),
        (" fold   seconds\n ───────\n 0   0.6", " fold    seconds\n ────────\n 0    12.6"),
    ],
)
def test_digits_and_layout_may_differ(shown: str, now: str) -> None:
    assert difference(shown, now) is None


@pytest.mark.parametrize(
    ("shown", "now", "said"),
    [
        (PROOF, PROOF.replace("44.63", "45.10").replace("45.06", "45.60"), "does not overlap"),
        (PROOF, PROOF.replace("certified", "stopped"), "stopped"),
        (COUNTS, COUNTS.replace("1,200", "1,300"), "1,300"),
        (COUNTS, COUNTS.replace("1,089", "1,090"), "1,090"),
        (COUNTS, COUNTS + " more", "more"),
        ("1.50 <= minimum <= 1.50", "1.60 <= minimum <= 1.70", "does not overlap"),
    ],
)
def test_words_counts_and_brackets_may_not(shown: str, now: str, said: str) -> None:
    assert said in (difference(shown, now) or "")

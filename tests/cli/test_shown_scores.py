"""What commands say of shares: 100 % is all, 0 % is none."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from gapcut import StructuredSVM
from gapcut.cli.prediction import _show_evaluation
from gapcut.cli.show import scores_table, show_choice
from gapcut.machine import Choice
from gapcut.metrics import Scores, score_labels
from gapcut.model.chosen import Trial
from sample_graphs import sample_graphs

MANY = 40_000


def nearly() -> Scores:
    truth = np.repeat([0, 1], MANY // 2)
    return score_labels([truth], [np.r_[1, truth[1:]]], np.array([0, 1]))


def test_a_table_of_scores_says_100_only_of_what_is_all_right():
    rows = scores_table(nearly()).rows
    assert [cell for row in rows for cell in row[1:4]].count("100.00 %") == 2
    assert rows[0][2] == "99.995 %"


def test_a_mean_over_folds_is_that_of_all():
    """What was dropped after the first fold may be above what was chosen there, and has no mean."""
    trials = (Trial(1.0, False, "cut", (0.9, 0.8)), Trial(10.0, False, "cut", (0.875,)))
    said = io.StringIO()
    show_choice(Console(file=said, width=120), Choice(1.0, False, "cut", trials, "C = 1"))
    rows = [line.split() for line in said.getvalue().splitlines() if " cut " in line]
    assert rows[0] == ["1", "no", "cut", *["85.00", "%", "90.00", "%", "80.00", "%"]]
    assert rows[1] == ["10", "no", "cut", "-", "87.50", "%", "-"]


def test_an_evaluation_says_100_only_where_all_is_right():
    svm = StructuredSVM(gap=0.5).fit(sample_graphs(2))
    document = {"graphs": 2, "calibration_error": 0.00004}
    document["inference"] = {"proven_optimal": 2, "largest_gap": 0.0, "seconds": 0.1}
    said = io.StringIO()
    _show_evaluation(Console(file=said, width=120), svm, nearly(), document)
    assert "accuracy     99.9975 % over nodes of 2 graphs" in said.getvalue()
    assert "expected error 4e-05 of the labels' probabilities" in said.getvalue()

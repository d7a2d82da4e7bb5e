"""What is read of a gap or a bound is proven too: digits that are left out never make it better."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import pytest

from gapcut import StructuredSVM
from gapcut.certificates import OneHotClaim, Record
from gapcut.cli.progress import progress, speak
from gapcut.cli.show import certificate_line
from sample_graphs import sample_graphs


@pytest.fixture(scope="module")
def stopped() -> list[StructuredSVM]:
    graphs = sample_graphs(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each says that it stopped
        return [StructuredSVM(oracle="cut", C=3.0, max_passes=n, gap=1e-9).fit(graphs) for n in range(1, 9)]


def test_a_message_of_training_rounds_its_gap_up(stopped):
    for svm in stopped:
        (shown,) = re.findall(r"relative gap ([\d.]+)%", svm.model_.message)
        assert float(shown) >= 100.0 * svm.certificate_.relative_gap * (1.0 - 1e-14)


def test_the_line_of_a_certificate_rounds_its_gaps_up(stopped):
    claim = OneHotClaim(98.7669, 100.0, "stopped", 0, 1)
    certificate = replace(stopped[0].certificate_, lower=98.7669, upper=100.0, one_hot=claim)
    assert re.findall(r"gap ([\d.]+ %)", certificate_line(certificate)) == ["1.24 %", "1.24 %"]
    assert "gap 0.00 %" in certificate_line(replace(certificate, lower=100.0))
    assert "gap 0.0051 %" in certificate_line(replace(certificate, lower=99.9949))


def test_progress_rounds_its_gap_up_and_reads_the_target_as_it_is(capsys, monkeypatch):
    monkeypatch.setattr("gapcut.cli.progress.SECONDS_BETWEEN_LINES", 0.0)
    with speak(), progress("training", 0.01) as show:
        show(Record(1, 9.0, 0, 98.7669, 100.0, 0, 0))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "training to a gap of 1.00 % ..."
    assert second.endswith("gap 1.24 %")

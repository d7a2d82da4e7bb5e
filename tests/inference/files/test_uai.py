"""UAI: weights, which are not energies yet, and evidence."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from energy_files import INF, all_energies, complaint, write
from gapcut import read_energy

UAI = """MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


def test_uai_weights_become_energies(tmp_path):
    energy = read_energy(write(tmp_path / "e.uai", UAI))
    assert energy.n_labels.tolist() == [2, 2, 3]
    assert energy.energy([1, 0, 2]) == pytest.approx(-math.log(0.564 * 0.920 * 0.457), rel=1e-14)
    assert energy.energy([0, 1, 1]) == INF
    assert read_energy(write(tmp_path / "b.uai", UAI.replace("MARKOV", "bayes"))).n_edges == 2


def test_uai_weights_beyond_float64(tmp_path):
    text = "MARKOV\n1\n4\n1\n1 0\n4 1e-400 1e-320 0.0e-999 1\n"
    unary = read_energy(write(tmp_path / "e.uai", text)).unary(0)
    assert unary[0] == pytest.approx(400 * math.log(10), rel=1e-15)
    assert unary[1] == pytest.approx(320 * math.log(10), rel=1e-15)
    assert unary[2:].tolist() == [INF, 0.0]
    assert not np.signbit(unary[3])


@pytest.mark.parametrize("text", ["2 1 0 2 1", "1\n2 1 0 2 1\n"])
def test_evidence_forbids_other_labels(text, tmp_path):
    path, evidence = write(tmp_path / "e.uai", UAI), write(tmp_path / "e.uai.evid", text)
    free, known = read_energy(path), read_energy(path, evidence=evidence)
    for y in itertools.product(range(2), range(2), range(3)):
        assert known.energy(y) == (free.energy(y) if y[1:] == (0, 1) else INF)


@pytest.mark.parametrize("text", ["0", "1 0"])
def test_no_evidence(text, tmp_path):
    path = write(tmp_path / "e.uai", UAI)
    assert all_energies(read_energy(path, write(tmp_path / "v", text))) == all_energies(read_energy(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 3 0", "node 3 does not exist"),
        ("1 2 3", "labels are 0..2"),
        ("2 0 1 0 0", "labels 1 and 0"),
        ("2 0 1", "ends"),
        ("1 0 1 1", "unexpected"),
        ("x", "integer"),
        ("", "ends"),
    ],
)
def test_bad_evidence(text, message, tmp_path):
    assert message in complaint(write(tmp_path / "e.uai", UAI), evidence=write(tmp_path / "v", text))


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("MARKOV", "MRF", 1, "starts with MARKOV"),
        ("2 2 3", "2 0 3", 3, "is 0, expected at least 1"),
        ("2 0 1", "2 0 3", 6, "node 3 does not exist"),
        ("2 0 1", "2 1 1", 6, "stands twice"),
        ("\n4\n", "\n5\n", 12, "announces 5 weights, its nodes need 4"),
        ("0.872", "0,872", 13, "finite number, found '0,872'"),
        ("0.872", "nan", 13, "found 'nan'"),
        ("0.872", "1_0", 13, "found '1_0'"),
        ("0.872", "-0.1", 13, "negative"),
        ("0.189", "0.189 7", 18, "unexpected '7'"),
        ("0.189", "", 18, "ends"),
        ("\n3\n1 0", "\n999999999999\n1 0", 18, "integer"),
    ],
)
def test_uai_complaints_name_the_line(old, new, line, message, tmp_path):
    path = write(tmp_path / "e.uai", UAI.replace(old, new, 1))
    assert message in complaint(path)
    if message not in ("ends", "integer"):
        assert complaint(path).startswith(f"{path}:{line}: ")

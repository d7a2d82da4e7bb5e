"""Reported cases that state a behaviour; and where each of the others is tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gapcut.inference import METHODS, Energy, solve
from gapcut.inference.methods.exact import has_toulbar2

TESTED = {
    1: "test_solve.py::test_reported_cases",
    3: "test_cliques.py::test_triangle_counting_case",
    5: "test_solve.py::test_reported_cases",
    7: "test_qpbo.py::test_reported_cases_of_any_tables",
    8: "test_qpbo.py::test_reported_cases_of_any_tables",
    9: "files/test_known_files.py::test_reported_cases_through_files",
    11: "test_reported_cases.py::test_a_model_after_another_is_solved_as_alone",
    13: "test_reported_cases.py::test_labels_are_in_range_and_have_the_energy_reported",
    15: "test_reported_cases.py::test_labelings_of_the_wrong_length_are_refused",
    17: "test_reported_cases.py::test_large_costs_do_not_overflow",
    19: "test_exact_methods.py::test_reported_cases",
}


def test_every_case_is_tested(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "inference.json").read_text())["cases"]
    assert {case["id"] for case in cases} == set(TESTED)
    for place in TESTED.values():
        file, name = place.split("::")
        assert f"def {name}(" in (Path(__file__).parent / file).read_text(), place


def methods(energy: Energy) -> list[str]:
    left_out = {"qpbo"} if energy.n_labels.max() > 2 else set()
    if not has_toulbar2():
        left_out.add("exact")
    return [method for method in METHODS if method not in left_out]


def frustrated(seed: int, n: int) -> Energy:
    rng = np.random.default_rng(seed)
    edges = np.stack(np.triu_indices(n, 1), 1)
    return Energy(rng.normal(size=(n, 3)), edges, rng.normal(size=(len(edges), 3, 3)))


ALONE = """
import sys; sys.path[:0] = sys.argv[2:]
from test_reported_cases import frustrated, solve
found = solve(frustrated(1, 8), sys.argv[1])
print(repr((found.energy, found.bound, found.labels.tolist())))
"""


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_a_model_after_another_is_solved_as_alone(method: str) -> None:
    if method not in methods(frustrated(1, 8)):
        pytest.skip("pytoulbar2 is not installed")
    solve(frustrated(0, 9), method)
    found = solve(frustrated(1, 8), method)
    command = [sys.executable, "-c", ALONE, method, str(Path(__file__).parent)]
    fresh = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()
    assert fresh == repr((found.energy, found.bound, found.labels.tolist()))


def test_labels_are_in_range_and_have_the_energy_reported() -> None:
    energies = [frustrated(2, 7), Energy([[0.0, 1.0], [5.0], [2.0, 2.0]], [(0, 2)], [-np.eye(2)])]
    for energy in energies:
        for method in methods(energy):
            found = solve(energy, method)
            assert (found.labels >= 0).all(), method
            assert (found.labels < energy.n_labels).all(), method
            assert energy.energy(found.labels) == found.energy, method


def test_labelings_of_the_wrong_length_are_refused() -> None:
    energy = frustrated(3, 5)
    for labels in ([], [0] * 4, [0] * 6, 0, [[0] * 5]):
        for call in (energy.energy, energy.terms, lambda y: solve(energy, "icm", start=y)):
            with pytest.raises(
                ValueError, match=r"labels have shape .*, expected \(5,\): one label per node"
            ):
                call(labels)


def test_large_costs_do_not_overflow() -> None:
    energy = Energy([[1e13, -1e13]])
    for method in methods(energy):
        found = solve(energy, method)
        assert (found.labels.tolist(), found.energy) == ([1], -1e13), method

"""Files of others and reported cases: their published optimum."""

from __future__ import annotations

import json

import pytest

from energy_files import all_energies, round_trip
from gapcut import read_energy, solve
from reported_cases import reported_energies, reported_energy


def test_known_files_have_their_published_optimum(shared):
    for folder in ("scene-decomposition", "protein"):
        root = shared / "data" / "energies" / folder
        for name, known in json.loads((root / "optimum.json").read_text())["instances"].items():
            found = solve(read_energy(root / name), time_limit=60)
            assert found.status == "optimal", name
            assert found.energy == pytest.approx(known["best_energy"], abs=1e-9), name


TOULBAR2 = ["1aho.cfn.gz", "warehouse.wcsp", "max.cfn"]
NEEDS_SEARCH = ["4queens.wcsp", "celar6sub0.wcsp", "example.wcsp", "zebra.wcsp"]


@pytest.mark.parametrize("name", TOULBAR2 + NEEDS_SEARCH)
def test_toulbar2_files_have_their_published_optimum(name, shared):
    if name in NEEDS_SEARCH:
        pytest.importorskip("pytoulbar2")
    root = shared / "data" / "energies" / "toulbar2"
    found = solve(read_energy(root / name))
    assert found.status == "optimal"
    assert found.energy == pytest.approx(float((root / f"{name.split('.')[0]}.ub").read_text()), abs=1e-9)


@pytest.mark.parametrize("end", [".uai", ".cfn.gz", ".h5"])
def test_reported_cases_through_files(end, shared, tmp_path):
    for case in reported_energies(shared):
        energy = round_trip(reported_energy(case), tmp_path / f"case{end}")
        found = solve(energy)
        assert found.energy == pytest.approx(case["min"], abs=1e-12), case["id"]
        if "x" in case:
            assert found.labels.tolist() == case["x"]
        if "n_optima" in case:
            near = [value for value in all_energies(energy) if value <= case["min"] + 1e-9]
            assert len(near) == case["n_optima"], case["id"]


def test_files_read_one_after_the_other_do_not_meet(shared):
    root = shared / "data" / "energies" / "toulbar2"
    alone = solve(read_energy(root / "warehouse.wcsp")).energy
    solve(read_energy(root / "1aho.cfn.gz"))
    assert solve(read_energy(root / "warehouse.wcsp")).energy == alone == 328.0

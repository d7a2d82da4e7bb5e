"""What all file formats of energies have in common: round trips, damage, complaints."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gapcut
from energy_files import all_energies, any_energy, complaint, round_trip, write
from gapcut import Energy, EnergyFileError, read_energy, write_energy

pytest.importorskip("h5py")
EXACT = [".cfn", ".cfn.gz", ".h5"]


@pytest.mark.parametrize("end", EXACT)
def test_exact_formats_give_back_every_entry(end, tmp_path):
    for seed in range(60):
        energy = any_energy(seed)
        assert all_energies(round_trip(energy, tmp_path / f"e{end}")) == all_energies(energy)


def test_weights_of_uai_give_back_entries_to_rounding(tmp_path):
    for seed in range(60):
        energy = any_energy(seed)
        back = round_trip(energy, tmp_path / "e.uai")
        for u in range(energy.n_nodes):
            np.testing.assert_allclose(back.unary(u), energy.unary(u), rtol=4e-16, atol=4e-16)
        for e in range(energy.n_edges):
            assert back.edges[e].tolist() == energy.edges[e].tolist()
            np.testing.assert_allclose(back.table(e), energy.table(e), rtol=4e-16, atol=4e-16)
        for c in range(energy.n_cliques):
            assert back.clique(c)[0].tolist() == energy.clique(c)[0].tolist()
            np.testing.assert_allclose(back.clique(c)[1], energy.clique(c)[1], rtol=4e-16, atol=4e-16)


@pytest.mark.parametrize("end", [".wcsp", ".wcsp.gz", ".cfn", ".h5"])
def test_integers_come_back_from_every_format(end, tmp_path):
    for seed in range(60):
        energy = any_energy(seed, integers=True)
        assert all_energies(round_trip(energy, tmp_path / f"e{end}")) == all_energies(energy)


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn", ".h5"])
def test_tables_are_not_transposed(end, tmp_path):
    table = np.arange(6.0).reshape(2, 3)
    back = round_trip(Energy([[0.0] * 2, [0.0] * 3], [[0, 1]], [table]), tmp_path / f"a{end}")
    np.testing.assert_allclose(back.table(0), table, atol=1e-15)
    back = round_trip(Energy([[0.0] * 3, [0.0] * 2], [[1, 0]], [table]), tmp_path / f"b{end}")
    assert [[back.energy([k, j]) for k in range(3)] for j in range(2)] == pytest.approx(table)


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn", ".h5"])
def test_energies_without_nodes_or_edges(end, tmp_path):
    assert round_trip(Energy([]), tmp_path / f"none{end}").n_nodes == 0
    assert all_energies(round_trip(Energy([[3.0], [1.0, 0.0]]), tmp_path / f"few{end}")) == [4.0, 3.0]


def test_unknown_end_missing_file_and_incomplete_gzip(tmp_path):
    assert "must end with" in complaint(write(tmp_path / "e.txt", "MARKOV"))
    with pytest.raises(FileNotFoundError):
        read_energy(tmp_path / "none.uai")
    path = tmp_path / "e.cfn.gz"
    path.write_bytes(gzip.compress(b"{problem: {p <1}}")[:-3])
    assert "gzip" in complaint(path)
    with pytest.raises(EnergyFileError, match="must end with"):
        write_energy(Energy([[0.0]]), tmp_path / "e.lp")


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "e.wcsp"
    write_energy(Energy([[1.0, 2.0]]), path)
    before = path.read_bytes()
    for bad in (0.5, -1.0, 2.0**60):
        with pytest.raises(EnergyFileError, match=r"write \.cfn"):
            write_energy(Energy([[bad, 2.0]]), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["e.wcsp"]


def sample(end: str, tmp_path: Path) -> bytes:
    path = tmp_path / f"sample{end}"
    if not path.exists():
        write_energy(any_energy(3, integers=True), path)
    return path.read_bytes()


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn", ".cfn.gz", ".h5"])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(data=st.data())
def test_damaged_files_are_refused_or_read(end, data, tmp_path):
    whole = bytearray(sample(end, tmp_path))
    kind = data.draw(st.sampled_from(["cut", "change", "insert", "garbage"]))
    at = data.draw(st.integers(0, len(whole) - 1))
    if kind == "cut":
        whole = whole[:at]
    elif kind == "garbage":
        whole = bytearray(data.draw(st.binary(max_size=200)))
    else:
        piece = data.draw(
            st.sampled_from([b"-", b"9", b"99999999", b" ", b"x", b"{", b"]", b'"', b"\xff", b"."])
        )
        whole[at : at + (kind == "change")] = piece
    path = tmp_path / f"damaged{end}"
    path.write_bytes(whole)
    try:
        read_energy(path)
    except EnergyFileError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn"])
def test_every_truncation_is_refused(end, tmp_path):
    whole = sample(end, tmp_path).rstrip()
    last_word = len(whole) - len(whole.split()[-1])
    for length in range(0, last_word, 3):
        path = tmp_path / f"cut{end}"
        path.write_bytes(whole[:length])
        complaint(path)


def test_names_at_the_top():
    assert {"read_energy", "write_energy", "EnergyFileError"} <= set(gapcut.__all__)

"""Files that are made to fill memory, devices, files of many functions, shared tables, differences."""

from __future__ import annotations

import gzip
import itertools
import lzma
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from energy_files import INF, complaint, write
from gapcut import Energy, read_energy, write_energy
from gapcut.inference import EnergyFileError


@pytest.mark.parametrize("content", [b" ", b"7", b"0.5 "])
@pytest.mark.parametrize("name", ["e.uai.gz", "e.cfn.gz", "e.wcsp.xz"])
def test_bombs_are_refused_early(tmp_path: Path, name: str, content: bytes) -> None:
    """600 MB behind less than 1 MB."""
    path = tmp_path / name
    pack = gzip.compress if name.endswith(".gz") else lzma.compress
    packed = pack(content * (10**7 // len(content)))
    path.write_bytes(packed * 60)  # both formats allow one member after the other
    assert len(packed) * 60 < 10**6
    tracemalloc.start()
    with pytest.raises(EnergyFileError, match="unpacks to more than 64 MiB"):
        read_energy(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6


@pytest.mark.parametrize("end", [".uai.xz", ".cfn.xz", ".wcsp.gz"])
def test_packed_files_come_back(tmp_path: Path, end: str) -> None:
    energy = Energy([[0.0, 1.0], [2.0, 0.0]], [(0, 1)], [[[0.0, 3.0], [1.0, 0.0]]])
    path = tmp_path / f"e{end}"
    write_energy(energy, path)
    again = read_energy(path)
    assert [again.energy(y) for y in np.ndindex(2, 2)] == pytest.approx(
        [energy.energy(y) for y in np.ndindex(2, 2)]
    )
    path.write_bytes(path.read_bytes()[:-9])
    assert "not a complete" in complaint(path)


def test_devices_are_refused(tmp_path: Path) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("no device files here")
    link = tmp_path / "e.uai"
    link.symlink_to("/dev/zero")
    assert "not a regular file" in complaint(link)


@pytest.mark.parametrize("end", ["uai", "wcsp", "cfn"])
def test_many_functions_are_read_at_once(tmp_path: Path, end: str) -> None:
    """Bits as of the reader that goes word by word, in a small part of its time."""
    rng = np.random.default_rng(0)
    n = 20_000
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    energy = Energy(rng.integers(0, 9, (n, 2)), edges, rng.integers(0, 9, (n - 1, 2, 2)))
    path = tmp_path / f"e.{end}"
    write_energy(energy, path)
    start = time.process_time()
    again = read_energy(path)
    assert time.process_time() - start < 2.0
    assert again.edges.tolist() == edges.tolist()
    for y in rng.integers(0, 2, (5, n)):
        assert again.energy(y) == pytest.approx(energy.energy(y), rel=1e-12)


def test_shared_tables_stay_shared(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    n = 200
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    energy = Energy(np.zeros((n, 8)), edges, 1 - np.eye(8))
    table = 1.0 - np.eye(8)
    assert len(Energy(np.zeros((n, 8)), edges, [table] * (n - 1)).tables()) == 64
    path = tmp_path / "e.h5"
    write_energy(energy, path)
    assert len(read_energy(path).tables()) == 64
    shared = "\n".join([f"p {n} 8 {n - 1} 99", " ".join(["8"] * n), "-2 0 1 1 1", "0 0 0"])
    shared += "\n" + "\n".join(f"2 {u} {u + 1} 1 -1" for u in range(1, n - 1)) + "\n"
    assert len(read_energy(write(tmp_path / "s.wcsp", shared)).tables()) == 64


HARD = "p 3 3 {} 9\n3 3 3\n3 0 1 2 -1 {}\n"


@pytest.mark.parametrize(
    "kind",
    ["salldiff var 9", "salldiff dec 9", "sgcc var 9 3 0 0 1 1 0 1 2 0 1", "sgcc var 9 3 0 1 1 1 1 1 2 1 1"],
)
def test_hard_differences(tmp_path: Path, kind: str) -> None:
    energy = read_energy(write(tmp_path / "e.wcsp", HARD.format(1, kind)))
    for y in itertools.product(range(3), repeat=3):
        assert energy.energy(y) == (0.0 if len(set(y)) == 3 else INF)


def test_soft_differences_and_cfn(tmp_path: Path) -> None:
    soft = read_energy(write(tmp_path / "e.wcsp", HARD.format(1, "salldiff dec 2")))
    rule = '{"scope": ["a", "b", "c"], "type": "salldiff", "params": {"metric": "dec", "cost": 2}}'
    text = f'{{"problem": {{"mustbe": "<9"}}, "variables": {{"a": 3, "b": 3, "c": 3}}, "functions": {{"f": {rule}}}}}'
    for energy in (soft, read_energy(write(tmp_path / "e.cfn", text))):
        for y in itertools.product(range(3), repeat=3):
            assert energy.energy(y) == 2.0 * sum(a == b for a, b in itertools.combinations(y, 2))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("salldiff var 2", "'salldiff' is not supported with semantics 'var'"),
        ("sgcc var 9 3 0 0 2 1 0 1 2 0 1", "'sgcc' is not supported with these bounds"),
        ("sregular var 1 2 1 0 1 1 0", "'sregular' is not supported"),
        ("knapsack 3 1 1 1", "'knapsack' is not supported"),
        ("wsum hard 100 <= 3", "'wsum' is not supported"),
    ],
)
def test_other_functions_are_refused_by_name(tmp_path: Path, kind: str, name: str) -> None:
    assert name in complaint(write(tmp_path / "e.wcsp", HARD.format(1, kind)))

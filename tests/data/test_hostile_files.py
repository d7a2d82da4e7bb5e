"""Hostile and odd files: one line each, and never more memory than the cap."""

from __future__ import annotations

import io
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut import StructuredSVM
from gapcut.data import CliqueSet, Graph, GraphFileError, GraphSet
from gapcut.data.npz import read_arrays

TESTS = Path(__file__).parent.parent


def sample_files(folder: Path) -> list[Path]:
    """Graph archives of each kind, and a model and a checkpoint."""
    rng = np.random.default_rng(0)
    edges = [[0, 1], [2, 1]]
    rows, links = rng.normal(size=(3, 2)), rng.random((2, 1))
    dense = Graph(rows, edges, links, ["a", None, "b"], [1, 2, 3], name="first")
    clique = CliqueSet([[0, 1, 2]], [[0.5]], [("a", "a", "b")])
    sets = {
        "dense": GraphSet([dense, Graph(rows, edges, links, ["a", "a", "b"])], extras={"fold": [1, 2]}),
        "sparse": GraphSet([Graph(sp.csr_array(rows), edges, links, [1, 2, 2])]),
        "cliques": GraphSet([Graph(rows, edges, links, ["a", "a", "b"], cliques=[clique])]),
    }
    for name, graphs in sets.items():
        graphs.save(folder / f"{name}.npz")
    return [folder / f"{name}.npz" for name in sets]


HUNT = """
    import sys, resource, warnings
    from pathlib import Path
    import numpy as np
    sys.path.insert(0, {tests!r})
    from data.mutations import mutated
    from gapcut.data import GraphFileError, GraphSet
    warnings.simplefilter("error")
    limit = 64 << 20
    files = [Path(f).read_bytes() for f in {files!r}]
    bad = Path({folder!r}) / "bad.npz"
    rng = np.random.default_rng(0)
    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    before, refused = peak(), 0
    for i in range({count}):
        bad.write_bytes(mutated(files[i % len(files)], rng))
        try:
            GraphSet.load(bad, unpack_limit=limit)
        except GraphFileError as error:
            assert str(error).startswith(f"{{bad}}: ") and "\\n" not in str(error), str(error)
            refused += 1
    assert peak() - before < limit + (200 << 20), (peak() - before) >> 20
    assert refused > {count} // 3
    print((peak() - before) >> 20, refused)
"""


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_mutated_files_give_one_line_and_stay_under_the_cap(tmp_path: Path, count: int) -> None:
    files = [str(file) for file in sample_files(tmp_path)]
    script = HUNT.format(tests=str(TESTS), files=files, folder=str(tmp_path), count=count)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def npz_of(path: Path, **contents: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(f"{name}.npy", content)
    return path


def npy(header: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode() + content


def test_a_small_file_that_unpacks_to_much_is_refused_unless_allowed(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros((12 << 20, 1)))
    file = npz_of(tmp_path / "bomb.npz", node_features=stream.getvalue())
    with pytest.raises(GraphFileError, match=r"unpacks to more than its limit.*raise unpack_limit"):
        read_arrays(file)
    assert read_arrays(file, limit=1 << 30)["node_features"].shape == (12 << 20, 1)


def test_a_header_that_unpacks_to_much_is_not_read(tmp_path: Path) -> None:
    length = 80 << 20
    content = b"\x93NUMPY\2\0" + length.to_bytes(4, "little") + bytes(length)
    with pytest.raises(GraphFileError, match=r"array 'edges' cannot be read .its header is too long"):
        GraphSet.load(npz_of(tmp_path / "bomb.npz", edges=content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,"), "its header is damaged"),
        (npy("'''"), "its header is damaged"),
        (npy("[" * 9000), "its header is damaged"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}"), "no legal shape"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", bytes(20)), "4 bytes are missing"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", bytes(20)), "longer than its header"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9999999999999)}"), "more than its limit"),
        (npy("{'descr': '<U99999999', 'fortran_order': False, 'shape': ()}"), "more than its limit"),
        (npy("{'descr': 7, 'fortran_order': False, 'shape': ()}"), "no legal type"),
        (b"PK", "does not start as an .npy file"),
        (b"", "does not start as an .npy file"),
    ],
)
def test_damaged_headers(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(GraphFileError, match=f"array 'edges' cannot be read .*{message}") as caught:
        GraphSet.load(npz_of(tmp_path / "bad.npz", edges=content))
    assert "\n" not in str(caught.value)


def test_zero_dimensional_arrays_and_many_graphs(tmp_path: Path) -> None:
    file = sample_files(tmp_path)[0]
    good = read_arrays(file)
    for name in good:
        np.savez(tmp_path / "bad.npz", **{**good, name: np.array(good[name].flat[0])})
        with pytest.raises(GraphFileError, match=r"bad\.npz: .*array '"):
            GraphSet.load(tmp_path / "bad.npz")
    offsets = {
        "node_offset": np.zeros(3_000_000, dtype=np.int64),
        "edge_offset": np.zeros(3_000_000, dtype=np.int64),
    }
    np.savez_compressed(
        tmp_path / "bad.npz", node_features=np.ones((0, 1)), edges=np.ones((0, 2), dtype=int), **offsets
    )
    with pytest.raises(GraphFileError, match="2999999 graphs take more memory than the limit"):
        GraphSet.load(tmp_path / "bad.npz")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(GraphFileError, match="not a regular file"):
        GraphSet.load(tmp_path / "pipe.npz")


def test_whatever_numpy_writes_is_read(tmp_path: Path) -> None:
    arrays = {
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big": np.arange(3, dtype=">i4"),
        "text": np.array(["a", "ö"]),
        "empty": np.zeros((0, 3)),
        "scalar": np.array(3),
    }
    np.savez(tmp_path / "a.npz", **arrays)
    found = read_arrays(tmp_path / "a.npz")
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_a_checkpoint_is_read_under_the_same_cap(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros((12 << 20, 1)))
    bomb = npz_of(tmp_path / "c", meta=stream.getvalue())
    graphs = [Graph([[0.0], [1.0]], [[0, 1]], [[1.0]], labels=[0, 1])] * 4
    with pytest.raises(ValueError, match=r"checkpoint.*unpacks to more than its limit"):
        StructuredSVM(checkpoint=bomb, C=10.0).fit(graphs)

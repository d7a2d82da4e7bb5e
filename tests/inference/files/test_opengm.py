"""OpenGM's HDF5: function types and which node runs fastest."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from energy_files import complaint, write
from gapcut import Energy, read_energy, write_energy

h5py = pytest.importorskip("h5py")


def opengm_file(path: Path, **changes) -> Path:
    """Two nodes of 2 and 3 labels, a sparse, an explicit and a Potts function."""
    arrays = {
        "header": [2, 0, 2, 3, 3, 16000, 1, 16001, 1, 16006, 1, 1],
        "numbers-of-states": [2, 3],
        "function-id-16000/indices": [1, 2],
        "function-id-16000/values": [0.5, 7.0],
        "function-id-16001/indices": [2, 2, 3, 2, 1, 4],
        "function-id-16001/values": [1.0, 10.0, 20.0],
        "function-id-16006/indices": [2, 3],
        "function-id-16006/values": [-1.0, 4.0],
        "factors": [0, 0, 1, 0, 0, 1, 2, 0, 1, 0, 2, 2, 0, 1],
        **{name.replace("__", "/").replace("_", "-"): value for name, value in changes.items()},
    }
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            if values is not None:
                file[f"gm/{name}"] = np.array(values, dtype=None if "values" in name else np.uint64)
    return path


def test_opengm_functions(tmp_path):
    energy = read_energy(opengm_file(tmp_path / "e.h5"))
    # sparse entries are numbered with the first node fastest: 1 is (1, 0), 4 is (0, 2)
    sparse = {(1, 0): 10.0, (0, 2): 20.0}
    for a, b in itertools.product(range(2), range(3)):
        assert energy.energy([a, b]) == [0.5, 7.0][a] + sparse.get((a, b), 1.0) + (-1.0 if a == b else 4.0)


def test_opengm_files_hold_the_first_node_fastest_and_ascending(tmp_path):
    table = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    energy = Energy([[0.0] * 3, [0.0] * 2, [0.0] * 2], [[1, 0], [2, 0]], [table, table])
    path = tmp_path / "e.hdf5"
    write_energy(energy, path)
    with h5py.File(path) as file:
        gm = file["gm"]
        assert gm["header"][:].tolist() == [2, 0, 3, 5, 1, 16000, 3, 1]
        assert gm["numbers-of-states"][:].tolist() == [3, 2, 2]
        assert gm["function-id-16000/indices"][:].tolist() == [1, 3, 1, 2, 2, 3, 2]
        # the file's table is [node 0, node 1], node 0 fastest: column after column
        assert gm["function-id-16000/values"][5:].tolist() == [1, 2, 3, 4, 5, 6]
        assert gm["factors"][-10:].tolist() == [2, 0, 2, 0, 1, 2, 0, 2, 0, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"header": None}, "found 0"),
        ({"header": [2, 1, 0, 0, 0, 1]}, "version 2.1"),
        ({"header": [2, 0]}, "header ends"),
        ({"numbers_of_states": [2]}, "the header says 2"),
        ({"numbers_of_states": [2, 0]}, "node 1 has 0 labels"),
        ({"factors": [0, 0, 1, 0]}, "factors ends"),
        ({"factors": [0, 7, 1, 0] * 4}, "type 7, which does not exist"),
        ({"factors": [3, 0, 1, 0] * 4}, "function 3 of type 0"),
        ({"factors": [0, 0, 1, 1] * 4}, "shape (2,)"),
        ({"factors": [0, 0, 1, 9] * 4}, "node 9"),
        ({"function_id_16000__indices": [1, 2**40]}, "too large"),
        ({"function_id_16000__values": [0.5]}, "values ends"),
        ({"function_id_16000__values": None}, "no one-dimensional data set 'values'"),
        ({"function_id_16001__indices": [2, 2, 3, 2, 1, 6]}, "beyond"),
        ({"header": [2, 0, 2, 3, 1, 16007, 1, 1]}, "type 16007 is not supported"),
    ],
)
def test_opengm_complaints(changes, message, tmp_path):
    assert message in complaint(opengm_file(tmp_path / "e.h5", **changes))


def test_opengm_without_h5py(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match="pip install"):
        read_energy(write(tmp_path / "e.h5", ""))

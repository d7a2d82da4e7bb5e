"""Archives of arrays hold what was given, nothing else, and nothing that would have to be unpickled."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from gapcut.files import write_arrays


@pytest.mark.parametrize("compressed", [True, False])
def test_there_and_back(compressed):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "names": np.array(["deck", "pier"]), "file": np.array(3)}
    stream = io.BytesIO()
    write_arrays(stream, arrays, compressed=compressed)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as found:
        assert set(found) == set(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            assert np.array_equal(found[name], array)


def test_python_objects_are_refused():
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_arrays(io.BytesIO(), {"labels": np.array(["deck", None], dtype=object)})


CASES = {
    "by row": np.arange(6.0).reshape(2, 3),
    "by column": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every second": np.arange(12.0).reshape(2, 6)[:, ::2],
    "repeated": np.broadcast_to(np.arange(3), (4, 3)),
    "a number": np.array(3.5),
    "nothing": np.zeros((0, 4)),
    "text": np.array(["deck", ""]),
    "bytes": np.array([b"a", b"bc"]),
    "other order": np.arange(4, dtype=">i8"),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "half": np.arange(9, dtype=np.float16),
    "fields": np.zeros(3, dtype=[("a", int), ("b", float)]),
}


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="stores the option as an array")
def test_the_bytes_are_those_of_numpy(compressed):
    ours, theirs = io.BytesIO(), io.BytesIO()
    write_arrays(ours, CASES, compressed=compressed)
    (np.savez_compressed if compressed else np.savez)(theirs, allow_pickle=False, **CASES)
    assert ours.getvalue() == theirs.getvalue()


def test_some_arrays_may_stay_as_they_are():
    arrays = {name: np.zeros(1000) for name in ("packed", "plain")}
    stream = io.BytesIO()
    write_arrays(stream, arrays, level=1, stored=["plain"])
    with zipfile.ZipFile(stream) as archive:
        kinds = {entry.filename: entry.compress_type for entry in archive.infolist()}
    assert kinds == {"packed.npy": zipfile.ZIP_DEFLATED, "plain.npy": zipfile.ZIP_STORED}
    with np.load(stream, allow_pickle=False) as found:
        assert all(np.array_equal(found[name], array) for name, array in arrays.items())

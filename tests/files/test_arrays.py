"""Archives of arrays hold what was given, nothing else, and nothing that would have to be unpickled."""

from __future__ import annotations

import io

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

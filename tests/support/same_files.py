"""Whether two commands wrote the same. Imported by tests of commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def assert_same_arrays(one: Path, two: Path) -> None:
    """The same ``.npz`` files in both folders, array by array."""
    names = sorted(path.name for path in one.glob("*.npz"))
    assert names == sorted(path.name for path in two.glob("*.npz"))
    for name in names:
        with np.load(one / name) as left, np.load(two / name) as right:
            assert left.files == right.files
            for array in left.files:
                assert np.array_equal(left[array], right[array]), (name, array)

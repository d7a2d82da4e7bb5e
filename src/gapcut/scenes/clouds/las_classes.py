"""Classes of the LAS standard."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gapcut.typing import AnyArray

STANDARD_NAMES = {
    0: "never classified", 1: "unclassified", 2: "ground", 3: "low vegetation", 4: "medium vegetation",
    5: "high vegetation", 6: "building", 7: "low noise", 8: "key point", 9: "water", 10: "rail", 11: "road surface",
    12: "overlap", 13: "guard wire", 14: "conductor wire", 15: "transmission tower", 16: "wire connector",
    17: "bridge deck", 18: "high noise",
}  # fmt: skip
"""Classes of the LAS 1.4 specification, table 17."""


def class_names(labels: AnyArray) -> dict[int, str]:
    """Names of the classes that occur; ``class 26`` where the standard has none."""
    return {k: _name(k) for k in np.unique(labels).tolist() if k >= 0}


def are_standard(labels: AnyArray, names: Mapping[int, str]) -> bool:
    """Whether labels mean the same as LAS classes, by their names."""
    present = [k for k in np.unique(labels).tolist() if k >= 0]
    return all(0 < k < 256 and names.get(k) == _name(k) for k in present)


def _name(label: int) -> str:
    return STANDARD_NAMES.get(label, f"class {label}")

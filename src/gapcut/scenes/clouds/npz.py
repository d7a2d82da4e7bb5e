"""npz: arrays ``xyz`` (or x, y, z), ``label``, ``segment``, ``colour``, ``intensity``, extras; ``gapcut`` is JSON."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from gapcut.data.npz import GraphFileError, read_arrays
from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.names import COLOURS, COORDINATES, from_json, to_json
from gapcut.scenes.clouds.table import Table, to_columns
from gapcut.typing import AnyArray

_WIDE = {"xyz": COORDINATES, "colour": COLOURS, "color": COLOURS, "rgb": COLOURS}


def read(path: Path) -> Table:
    """Columns of the arrays, which must all have one row per point. Raises CloudError."""
    try:
        arrays = read_arrays(path)
    except GraphFileError as error:
        raise CloudError(str(error).removeprefix(f"{path}: ")) from None
    said = str(arrays.pop("gapcut")) if "gapcut" in arrays else ""
    columns: dict[str, AnyArray] = {}
    for key, values in arrays.items():
        if key in _WIDE and values.ndim == 2 and values.shape[1] == 3:
            columns |= {name: values[:, i] for i, name in enumerate(_WIDE[key])}
        elif values.ndim == 1 and values.dtype.kind in "biuf":
            columns[key] = values
        else:
            raise CloudError(
                f"has an array {key!r} of shape {values.shape} ({values.dtype}): not one number a point"
            )
    sizes = {len(values) for values in columns.values()}
    if len(sizes) > 1:
        raise CloudError(
            f"has arrays of {min(sizes)} and of {max(sizes)} rows: every point needs all of them"
        )
    return Table(columns, *from_json(said or "{}"))


def write(file: IO[bytes], cloud: PointCloud) -> None:
    """A compressed npz without pickle."""
    columns = to_columns(cloud)
    arrays: dict[str, AnyArray] = {"xyz": cloud.xyz}
    if cloud.colour is not None:
        arrays["colour"] = cloud.colour
    arrays |= {key: values for key, values in columns.items() if key not in (*COORDINATES, *COLOURS)}
    clash = [key for key in cloud.extra if key in (*_WIDE, "gapcut", "file", "allow_pickle")]
    if clash:
        raise CloudError(f"an npz file cannot carry an extra attribute called {clash[0]!r}: rename it")
    said = to_json(cloud.label_names, cloud.crs)
    if said:
        arrays["gapcut"] = np.array(said)
    np.savez_compressed(file, allow_pickle=False, **arrays)

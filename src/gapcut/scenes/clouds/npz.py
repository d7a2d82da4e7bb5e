"""npz: arrays ``xyz`` (or x, y, z), ``label``, ``segment``, ``colour``, ``intensity``, extras; ``gapcut`` is JSON."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from gapcut.data.npz import GraphFileError, read_arrays
from gapcut.scenes.clouds.addition import Addition
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.names import COLOURS, COORDINATES, Said
from gapcut.scenes.clouds.table import Table
from gapcut.typing import AnyArray

_WIDE = {"xyz": COORDINATES, "colour": COLOURS, "color": COLOURS, "rgb": COLOURS}
_SAID = "gapcut"


def read(path: Path) -> Table:
    """Columns of the arrays, which must all have one row per point. Raises CloudError."""
    arrays, said = _arrays(path)
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
    return Table(columns, said)


def fit(table: Table) -> Table:
    """The table. Raises CloudError for a column that would be read back as an array of ours."""
    clash = [key for key in table.columns if key in (*_WIDE, _SAID)]
    if clash:
        raise CloudError(f"an npz file cannot carry an extra attribute called {clash[0]!r}: rename it")
    return table


def write(file: IO[bytes], table: Table) -> None:
    """A compressed npz without pickle."""
    columns = dict(fit(table).columns)
    arrays: dict[str, AnyArray] = {"xyz": np.stack([columns.pop(axis) for axis in COORDINATES], axis=1)}
    if all(name in columns for name in COLOURS):
        arrays["colour"] = np.stack([columns.pop(name) for name in COLOURS], axis=1)
    _save(file, arrays | columns, table.said)


def add(source: Path, file: IO[bytes], addition: Addition) -> None:
    """The source's arrays as they are, and ours."""
    arrays, said = _arrays(source)
    addition.check(len(next(iter(arrays.values()))))
    placed = addition.place(arrays, said)
    rows = slice(None) if addition.rows is None else addition.rows
    kept = {name: values[rows] for name, values in arrays.items() if name not in placed.dropped}
    _save(file, {**kept, **placed.columns}, placed.said)


def _arrays(path: Path) -> tuple[dict[str, AnyArray], Said]:
    try:
        arrays = dict(read_arrays(path))
    except GraphFileError as error:
        raise CloudError(str(error).removeprefix(f"{path}: ")) from None
    said = str(arrays.pop(_SAID)) if _SAID in arrays else ""
    return arrays, Said.from_json(said or "{}")


def _save(file: IO[bytes], arrays: Mapping[str, AnyArray], said: Said) -> None:
    """As numpy does, whose function takes no array called ``file``."""
    text = said.to_json()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in {**arrays, **({_SAID: np.array(text)} if text else {})}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, values, allow_pickle=False)

"""Documents for programs: JSON that any reader takes."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.files.atomic import write_atomically


def plain(value: Any) -> Any:
    """JSON-able form: NumPy values as Python's, NaN and infinity as null, dataclasses as objects, unknown
    labels as text.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def json_text(value: Any) -> str:
    """Indented JSON of :func:`plain`."""
    return json.dumps(plain(value), indent=2, allow_nan=False)


def write_text(path: Path, text: str) -> None:
    """UTF-8, whole or not at all."""
    write_atomically(path, lambda file: file.write(text.encode()))

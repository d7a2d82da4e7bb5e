"""Figures and tables as parts of an HTML page."""

from __future__ import annotations

import base64
import io
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from gapcut.digits import number
from gapcut.report.words import hinted

_PNG = b"\x89PNG\r\n\x1a\n"
_DPI = 110


@dataclass(frozen=True)
class PageFigure:
    """A figure with a caption: a matplotlib figure, PNG bytes, the text of an SVG, or the path of either file."""

    content: Any
    caption: str = ""


@dataclass(frozen=True)
class PageTable:
    """Rows of text and numbers under named columns. Floats are shown with 4 significant digits, None as a dash."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def data_uri(content: Any) -> str:
    """A figure as the address of an image: matplotlib figure, PNG bytes, SVG text, or the path of such a file."""
    if hasattr(content, "savefig"):
        stream = io.BytesIO()
        content.savefig(stream, format="png", dpi=_DPI)
        content = stream.getvalue()
    elif isinstance(content, os.PathLike):
        content = Path(content).read_bytes()
    if isinstance(content, str):
        content = content.encode("utf-8")
    if not isinstance(content, bytes):
        raise ValueError(
            f"a figure of type {type(content).__name__}: give a matplotlib figure, PNG, SVG or a path"
        )
    if content.startswith(_PNG):
        kind = "image/png"
    elif b"<svg" in content[:2000]:
        kind = "image/svg+xml"
    else:
        raise ValueError("a figure that is neither PNG nor SVG")
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


# Such as 91.28 %, -0.001, 4,680.00, 24.4 cm, or a dash where there is none.
_WRITTEN_NUMBER = re.compile(r"[-–]|[-+<]?\s?[\d,]+(\.\d+)?(e[-+]?\d+)?(\s?(%|cm|m|s))?")


def table_html(table: PageTable) -> str:
    """A table under its title; columns of numbers are aligned right. Raises ValueError for a row of another length."""
    title, columns, rows = table.title, table.columns, table.rows
    for i, row in enumerate(rows):
        if len(row) != len(columns):
            raise ValueError(
                f"table {title!r}: row {i} has {len(row)} cells, but there are {len(columns)} columns"
            )
    numeric = [bool(rows) and all(_reads_as_number(row[c]) for row in rows) for c in range(len(columns))]
    kinds = [' class="number"' if n else "" for n in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{hinted(name)}</th>' for kind, name in zip(kinds, columns, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(cell_text(v))}</td>" for kind, v in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows
    )
    name = escape(title, quote=True)
    return (
        f'<section><h2>{hinted(title)}</h2><div class="table" role="region" aria-label="{name}" tabindex="0"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _reads_as_number(value: object) -> bool:
    """A number, or one that was written with its digits and unit."""
    return _is_number(value) or (isinstance(value, str) and _WRITTEN_NUMBER.fullmatch(value) is not None)


def _is_number(value: object) -> bool:
    return value is None or (hasattr(value, "__float__") and not isinstance(value, (str, bool)))


def cell_text(value: object) -> str:
    """Numbers for reading: thousands separated, floats to 4 significant digits; None and NaN are a dash."""
    if value is None:
        return "–"
    if not _is_number(value):
        return str(value)
    if hasattr(value, "__index__"):
        return f"{value:,}"
    read = float(value)  # type: ignore[arg-type]
    return "–" if math.isnan(read) else number(read)

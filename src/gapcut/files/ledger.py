"""What of many files is done: a line of JSON each, added as they come, so that a restart goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapcut.files.documents import plain


@dataclass(frozen=True)
class Entry:
    """A file that was written: the digest of all that it was made of, its own and those of its companions by name, and
    the document that says what was done."""

    made_of: str
    written: dict[str, str]
    document: dict[str, Any]


class Ledger:
    """Entries by the name of the file written. A line that was cut short, or is none of ours, counts for nothing; of
    two about one file the last counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: dict[str, Entry] = {}
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        self._cut = bool(lines) and lines[-1] != b""
        for line in lines:
            name, entry = _read(line)
            if name is not None and entry is not None:
                self._entries[name] = entry

    def get(self, target: Path) -> Entry | None:
        """What was written down of a file."""
        return self._entries.get(target.name)

    def add(self, target: Path, entry: Entry) -> None:
        """Write down what was written."""
        record = {"file": target.name, **plain(entry)}
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
        with self._path.open("ab") as file:
            file.write(b"\n" * self._cut + line + b"\n")
        self._cut = False
        self._entries[target.name] = entry


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Of files, by name."""
    return {path.name: digest(path) for path in paths}


def are_there(folder: Path, written: dict[str, str]) -> bool:
    """Whether all these files are in the folder, as they were written."""
    return all(
        (folder / name).is_file() and digest(folder / name) == known for name, known in written.items()
    )


def _read(line: bytes) -> tuple[str | None, Entry | None]:
    try:
        record = json.loads(line)
        name, entry = record.pop("file"), Entry(**record)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, None
    sound = isinstance(name, str) and isinstance(entry.made_of, str) and isinstance(entry.document, dict)
    sound = sound and isinstance(entry.written, dict) and all(Path(n).name == n for n in entry.written)
    return (name, entry) if sound else (None, None)

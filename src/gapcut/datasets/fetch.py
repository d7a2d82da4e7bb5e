"""Files from their public homes, kept once they have the right checksum."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import Request, urlopen

from gapcut.files import write_atomically
from gapcut.version import __version__

_CHUNK = 1 << 16
_SECONDS = 60.0  # without an answer


@dataclass(frozen=True)
class Source:
    """A file with a home: ``name`` on our disk, ``url``, SHA-256 and bytes."""

    name: str
    url: str
    sha256: str
    size: int

    def is_at(self, path: Path) -> bool:
        """Whether this file, which exists, is the one."""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256


def cache_folder() -> Path:
    """Where fetched files are kept: ``$GAPCUT_CACHE``, or ``gapcut`` in the user's cache folder."""
    if given := os.environ.get("GAPCUT_CACHE"):
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(home) if home else Path.home() / ".cache") / "gapcut"


def fetched(source: Source, say: Callable[[str], None] = lambda line: None) -> Path:
    """The file, from the cache or else from its home, with the right checksum.

    Raises OSError with one line that says what to do: no connection, an answer cut short, other content.
    """
    place = cache_folder() / source.name
    if place.is_file() and source.is_at(place):
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    by_hand = f"fetch it in a browser, put it at {place}, and run this again"
    say(f"fetching {source.url} ({source.size / 1e6:.1f} MB) ...")
    try:
        with urlopen(
            Request(source.url, headers={"User-Agent": f"gapcut/{__version__}"}), timeout=_SECONDS
        ) as answer:
            write_atomically(place, lambda file: _copy(answer, file, source))
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise OSError(f"{source.url} cannot be fetched ({reason}): {by_hand}") from error
    except _WrongContent as error:
        raise OSError(f"{source.url}: {error}; try again, or {by_hand}") from error
    return place


class _WrongContent(Exception):
    pass


def _copy(answer: IO[bytes], file: IO[bytes], source: Source) -> None:
    digest, size = hashlib.sha256(), 0
    while chunk := answer.read(_CHUNK):
        size += len(chunk)
        if size > source.size:
            raise _WrongContent(f"more than the {source.size:,} bytes that belong there")
        digest.update(chunk)
        file.write(chunk)
    if size < source.size:
        raise _WrongContent(f"{size:,} bytes of {source.size:,} came")
    if digest.hexdigest() != source.sha256:
        raise _WrongContent(f"its checksum is {digest.hexdigest()[:12]}..., not {source.sha256[:12]}...")

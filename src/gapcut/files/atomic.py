"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Call ``write(file)`` on a temporary neighbour of ``path``, then move it there.

    The file at ``path`` is the old one until the new one is complete and on disk; an error or a Ctrl-C leaves
    the old one. Permissions follow the umask, or the old file where there is one. Raises OSError where that
    is impossible, also if ``path`` names a folder or a device.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file: name a file to write")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(temporary, path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise

"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

_DAY = 86_400.0  # seconds after which a temporary file of another machine is taken for left over


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Call ``write(file)`` on a temporary neighbour of ``path``, then move it there.

    The file at ``path`` is the old one until the new one is complete and on disk; an error or a Ctrl-C leaves
    the old one. Temporary files that killed writers of ``path`` left behind are removed. Permissions follow the umask,
    or the old file where there is one. Raises OSError where that is impossible, also if ``path`` names a folder or a
    device.
    """
    path = _target(path)
    _clear_left_over(path)
    temporary, descriptor = _neighbour(path)
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


def write_bytes(path: Path, content: bytes) -> None:
    """:func:`write_atomically` of these bytes."""
    write_atomically(path, lambda file: file.write(content))


def try_to_write(path: Path) -> None:
    """Raises the OSError that :func:`write_atomically` would raise at once, and leaves everything as it is."""
    temporary, descriptor = _neighbour(_target(path))
    os.close(descriptor)
    temporary.unlink()


def _target(path: Path) -> Path:
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file: name a file to write")
    return path


def _neighbour(path: Path) -> tuple[Path, int]:
    """A new ``.NAME.MACHINE-PID-CHANCE.part`` beside ``path``, open for writing."""
    temporary = path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        return temporary, os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        error.filename = str(path)  # nobody asked for the temporary one
        raise


def _clear_left_over(path: Path) -> None:
    """Remove temporary files of ``path`` whose process of this machine is dead, and any that is older than a day."""
    name = re.compile(rf"\.{re.escape(path.name)}\.(?:([0-9a-f]+)-([0-9]+)-)?[0-9a-f]+\.part")
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            found = name.fullmatch(entry.name)
            if found is None:
                continue
            with contextlib.suppress(OSError):
                old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _DAY
                if old or (found[1] == _machine() and not _alive(int(found[2]))):
                    os.unlink(entry.path)


def _machine() -> str:
    """Six digits for this host and its space of process numbers (a container has its own)."""
    space = os.readlink("/proc/self/ns/pid") if os.path.exists("/proc/self/ns/pid") else ""
    return hashlib.sha256(f"{socket.gethostname()} {space}".encode()).hexdigest()[:6]


def _alive(process: int) -> bool:
    """Whether a process of this machine runs; True where that cannot be known."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True

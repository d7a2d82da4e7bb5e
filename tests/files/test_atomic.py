"""Files appear whole or not at all, and killed writers leave nothing for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from gapcut.files import atomic, try_to_write, write_atomically


def left_over(folder, machine, process, name="m"):
    path = folder / f".{name}.{machine}-{process}-0a1b2c3d.part"
    path.write_bytes(b"half")
    return path


def killed_while_writing(path):
    code = (
        "import os, pathlib, signal, sys; from gapcut.files import write_atomically; "
        "write_atomically(pathlib.Path(sys.argv[1]), lambda file: os.kill(os.getpid(), signal.SIGKILL))"
    )
    subprocess.run([sys.executable, "-c", code, str(path)])


def test_what_a_killed_writer_left_is_cleared_by_the_next(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    killed_while_writing(path)
    assert path.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    write_atomically(path, lambda file: file.write(b"new"))
    assert os.listdir(tmp_path) == ["m"]
    assert path.read_bytes() == b"new"


def test_only_files_of_dead_processes_of_this_machine_and_old_ones_are_cleared(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    here, elsewhere = atomic._machine(), "ffffff" if atomic._machine() != "ffffff" else "000000"
    gone = [
        left_over(tmp_path, here, dead.pid),
        left_over(tmp_path, elsewhere, 1),
        tmp_path / ".m.0a1b2c3d4e5f.part",
    ]
    gone[2].write_bytes(b"half")
    day_before = time.time() - 90_000
    for path in gone[1:]:
        os.utime(path, (day_before, day_before))
    kept = [
        left_over(tmp_path, here, os.getpid()),
        left_over(tmp_path, elsewhere, dead.pid),
        left_over(tmp_path, here, dead.pid, "other"),
        tmp_path / ".m.backup.part",
    ]
    kept[3].write_bytes(b"mine")
    write_atomically(tmp_path / "m", lambda file: file.write(b"new"))
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in kept)


def test_a_try_leaves_everything_as_it_is(tmp_path):
    path = tmp_path / "m"
    try_to_write(path)
    assert os.listdir(tmp_path) == []
    path.write_bytes(b"old")
    try_to_write(path)
    assert (os.listdir(tmp_path), path.read_bytes()) == (["m"], b"old")
    with pytest.raises(OSError, match="not a regular file"):
        try_to_write(tmp_path)
    with pytest.raises(FileNotFoundError) as caught:
        try_to_write(tmp_path / "none" / "m")
    assert caught.value.filename == str(tmp_path / "none" / "m")

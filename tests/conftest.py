"""Fixtures shared by all tests; modules in support/ (tiny.py, ...) can be imported by name."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

# A shell's background jobs ignore Ctrl-C; the tests of it do not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data sets and reported cases; tests that need it skip where it is absent."""
    root = Path(os.environ.get("GAPCUT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not root.is_dir():
        pytest.skip(f"no shared data at {root} (set GAPCUT_SHARED to its folder)")
    return root


@pytest.fixture
def run(capsys):
    """Runs a ``gapcut`` command in this process: exit code, standard output, standard error."""
    from gapcut.cli import main

    def run(*arguments):
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def cluster():
    """Two nodes of a Ray cluster, which all tests share: a start takes seconds to a minute."""
    from ray_nodes import two_nodes

    with two_nodes() as found:
        yield found

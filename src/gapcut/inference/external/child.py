"""A task in a child process with a limit on wall-clock time."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

ENDING_SECONDS, LEAST_SECONDS = 0.1, 0.2
"""What it takes to end a child on a busy machine, and what it needs at least: with less time none is started, since a
fresh Python with its solver would hardly begin, and end late."""


class SolverDied(RuntimeError):
    """The child ended without an answer, by its own fault."""


@dataclass(frozen=True)
class Ended:
    """A child that is gone: its answer (None: time ran out first), and what its solver printed until then."""

    answer: dict[str, Any] | None
    printed: bytes


def run_child(task: str, payload: dict[str, Any], time_left: float | None) -> Ended:
    """``run(payload)`` of the file ``task``.py beside this one, in a fresh Python.

    No child is started with less than ``LEAST_SECONDS``. It is killed when time is out, less ``ENDING_SECONDS``, and on
    any exception here, Ctrl-C included; on Linux also when this process dies. ``SolverDied`` if it raised, crashed or
    could not be started.
    """
    if time_left is not None and time_left < LEAST_SECONDS:
        return Ended(None, b"")
    if not sys.executable:
        raise SolverDied("cannot start a child process: this Python does not know its own executable")
    command = [sys.executable, "-P", str(HERE / "worker.py"), str(HERE / f"{task}.py")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            env=environment,
            start_new_session=True,
        )
        answer = None
        wait = None if time_left is None else time_left - ENDING_SECONDS
        try:
            answer, _ = process.communicate(pickle.dumps(payload, protocol=5), timeout=wait)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe and not pipe.closed:
                    pipe.close()
        printed.seek(0)
        return Ended(None if answer is None else _unpack(answer, process.returncode, task), printed.read())


def _unpack(answer: bytes, code: int, task: str) -> dict[str, Any]:
    if not answer:
        raise SolverDied(f"the {task} solver process ended without an answer (exit code {code})")
    kind, content = pickle.loads(answer)  # from our own child
    if kind == "error":
        raise SolverDied(f"the {task} solver failed: {content}")
    result: dict[str, Any] = content
    return result

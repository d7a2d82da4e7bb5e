"""Main program of a child: one pickled payload on standard input, one pickled answer on standard output."""

from __future__ import annotations

import ctypes
import os
import pickle
import runpy
import signal
import sys


def die_with_parent() -> None:
    """On Linux: be killed when the parent is gone."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def main() -> None:
    die_with_parent()
    answer_to = os.dup(1)
    os.dup2(2, 1)  # what solvers print must not mix with the answer
    payload = pickle.load(sys.stdin.buffer)
    try:
        answer = ("ok", runpy.run_path(sys.argv[1])["run"](payload))
    except Exception as error:
        answer = ("error", f"{type(error).__name__}: {error}".splitlines()[0])
    with os.fdopen(answer_to, "wb") as out:
        pickle.dump(answer, out, protocol=5)
    os._exit(0)  # skip destructors of solvers: the answer is out


if __name__ == "__main__":
    main()

"""The ``gapcut`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done. 1: not certified where ``--certified`` asked for it, or a claim that ``check`` could not confirm.
    2: bad usage or input (one line on stderr). 130: interrupted by Ctrl-C or SIGTERM (``train`` saves the
    best model so far first).
    """
    if find_spec("cyclopts") is None or find_spec("rich") is None:
        print('gapcut: the command line needs two more packages: pip install "gapcut[cli]"', file=sys.stderr)
        return 2
    from gapcut.cli.app import run

    return run(sys.argv[1:] if arguments is None else list(arguments))

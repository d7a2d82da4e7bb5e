"""The commands put together, and the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
import warnings

from cyclopts import App, CycloptsError

from gapcut.cli import (
    bridges,
    compare,
    conversion,
    demo,
    inspection,
    prediction,
    proving,
    reporting,
    scenes,
    solving,
    training,
    validation,
)
from gapcut.cli.exits import INTERRUPTED, USAGE, Interrupted, Rescued, sigterm_as_interrupt
from gapcut.engines import describe_machine
from gapcut.version import __version__

_EPILOGUE = "Exit codes: 0 done, 1 not certified where asked, 2 bad usage or input, 130 interrupted."


def build_app() -> App:
    """All commands under one name."""
    app = App(
        name="gapcut",
        help="Learn to label graphs, with a proven gap to the global optimum.",
        help_epilogue=_EPILOGUE,
        version=__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for room in (
        *(training, prediction, validation, compare, inspection, proving, solving, conversion),
        *(bridges, scenes, reporting, demo),
    ):
        for command in room.COMMANDS:
            app.command(command)
    return app


def run(arguments: list[str]) -> int:
    """Run one command; see :func:`gapcut.cli.main` for the exit codes."""
    if sorted(arguments) == ["--verbose", "--version"]:
        print(f"{__version__}\n{describe_machine()}")
        return 0
    try:
        with sigterm_as_interrupt(), warnings.catch_warnings():
            warnings.showwarning = _warn
            code = build_app()(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except CycloptsError as error:
        return _complain(f"{_one_line(error)} (see gapcut --help)")
    except Interrupted as error:
        _complain(_one_line(error))
        return INTERRUPTED
    except KeyboardInterrupt:
        _complain("interrupted: nothing more was written")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, ImportError, MemoryError, Rescued) as error:
        return _complain(_one_line(error))


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"gapcut: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _complain(line: str) -> int:
    print(f"gapcut: {line}", file=sys.stderr)
    return USAGE


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__

"""The commands put together, and the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from cyclopts import App, CycloptsError, MissingArgumentError, UnusedCliTokensError

from gapcut.cli.exits import INTERRUPTED, USAGE, Interrupted, Rescued, sigterm_as_interrupt
from gapcut.cli.progress import speak
from gapcut.version import __version__

_EPILOGUE = (
    "With --verbose a command also says where it is when its output goes to a file or a pipe, and errors come with "
    "where they arose. Exit codes: 0 done, 1 not certified where asked, or some of many files failed, "
    "2 bad usage or input, 130 interrupted."
)

COMMANDS = {
    "bridges": (
        "bridges:BRIDGES",
        "Bridges with known parts: models, laser scans, and the experiment on them.",
    ),
    "check": ("inspection:check", "Compute both ends of a model's certificate again on its training data."),
    "compare": (
        "compare:compare",
        "Cross-validate pairs of a learner and an oracle on the same folds, as Markdown.",
    ),
    "convert": (
        "conversion:convert",
        "Write a graph set as a folder of parts, which is read a part at a time, or as one file.",
    ),
    "cv": ("validation:cv", "Cross-validate over graphs: train on all folds but one, test on that one."),
    "dataset": ("conversion:dataset", "Write a known data set as graph sets."),
    "demo": (
        "demo:demo",
        "Generate bridges, scan them, learn from ten and label five others: a page to look at.",
    ),
    "evaluate": (
        "prediction:evaluate",
        "Compare predicted labels with those of the data, weighted by node weights.",
    ),
    "inspect": (
        "inspection:inspect",
        "Show what is in a model (certificate, strongest pairs, feature steps) or in a graph set (counts).",
    ),
    "label": (
        "labelling:label",
        "Label every point of a scan: label, confidence and segment are added to what the file holds.",
    ),
    "predict": ("prediction:predict", "Label graphs and write the labels as .npz, .csv or .parquet."),
    "prove": ("proving:prove", "Write a proof of a model's claim that others can check without gapcut."),
    "report": ("reporting:report", "Write one HTML page that needs no network, and PNG pictures."),
    "scenes": ("scenes:SCENES", "Models that label point clouds."),
    "solve": ("solving:solve", "Minimise energies and print energy, proven bound, gap and time of each."),
    "train": (
        "training:train",
        "Learn a model from labelled graphs and prove its gap to the global optimum.",
    ),
}
"""Where each command is, and its first line of help: ``gapcut --help`` imports none of them."""


def build_app(arguments: Sequence[str] = ()) -> App:
    """All commands under one name, each imported when it is called. Commands among the ``arguments`` have all of their
    help, others a line, which needs nobody to read Markdown, which takes long to import.
    """
    app = App(
        name="gapcut",
        help="Learn to label graphs, with a proven gap to the global optimum.",
        help_epilogue=_EPILOGUE,
        help_format="markdown" if any(name in arguments for name in COMMANDS) else "plaintext",
        version=__version__,
        version_flags=("--version", "-V"),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, (place, line) in COMMANDS.items():
        app.command(f"gapcut.cli.{place}", name=name, help=None if name in arguments else line)
    line = "Complete commands and options in your shell from now on."
    app.command("gapcut.cli.completion:install_completion", name="--install-completion", help=line)
    return app


def run(arguments: list[str]) -> int:
    """Run one command; see :func:`gapcut.cli.main` for the exit codes."""
    verbose = "--verbose" in arguments
    arguments = [argument for argument in arguments if argument != "--verbose"]
    if verbose and arguments in (["--version"], ["-V"]):
        from gapcut.engines import describe_machine

        print(f"{__version__}\n{describe_machine()}")
        return 0
    try:
        with sigterm_as_interrupt(), warnings.catch_warnings(), speak(verbose):
            warnings.showwarning = _warn
            code = build_app(arguments)(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except CycloptsError as error:
        return _complain(_usage(error))
    except Interrupted as error:
        _complain(_one_line(error))
        return INTERRUPTED
    except KeyboardInterrupt:
        _complain("interrupted: nothing more was written")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit:  # rich's word for the same
        return 0
    except (ValueError, TypeError, OSError, ImportError, MemoryError, Rescued) as error:
        if verbose:
            traceback.print_exc()
        return _complain(_one_line(error))


def _usage(error: CycloptsError) -> str:
    """What is wrong with the arguments, and the help that says how they should be."""
    help_of = " ".join(("gapcut", *(error.command_chain or ()), "--help"))
    line = _one_line(error)
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.keyword or error.argument.name
        given = error.keyword or error.argument.tokens
        line = (
            f"{name} needs a value"
            if given
            else f"missing {'option' if name[0] == '-' else 'argument'} {name}"
        )
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        line = f"unexpected argument {error.unused_tokens[0]!r}"
    return f"{line if line.endswith('...') else line.rstrip('.')} (see {help_of})"


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"gapcut: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _complain(line: str) -> int:
    print(f"gapcut: {line}", file=sys.stderr)
    return USAGE


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split()) or type(error).__name__
    wanting = isinstance(error, MemoryError) and "not enough memory" not in text
    return f"not enough memory ({text})" if wanting else text

"""What a start costs, and what it shows: help without any command, versions, completion, the module as a program."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from gapcut import __version__

pytest.importorskip("cyclopts")
pytest.importorskip("rich")
from gapcut.cli.app import COMMANDS, build_app

SLACK = 1.5


@pytest.fixture(scope="module")
def cpu_seconds(tmp_path_factory):
    """The least CPU time of a fresh interpreter that runs ``python ARGUMENTS``, its bytecode cached."""
    kept = str(tmp_path_factory.mktemp("bytecode"))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = kept

    def measure(*arguments, times=3):
        found = []
        for _ in range(times + 1):  # the first writes the bytecode
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(found[1:])

    return measure


def loaded(*arguments):
    """Modules in memory after ``python ARGUMENTS``."""
    code = f"import sys; sys.argv = {list(arguments)!r}\nfrom gapcut.cli import main\nmain()\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_costs_no_more_than_numpy(cpu_seconds):
    numpy = cpu_seconds("-c", "import numpy")
    assert cpu_seconds("-c", "import gapcut") <= 1.5 * numpy
    names = cpu_seconds("-c", "from gapcut import Energy, Graph, GraphSet, Machine, solve")
    assert names <= 2.0 * SLACK * numpy


def test_help_costs_no_more_than_its_parser_and_numpy(cpu_seconds):
    base = cpu_seconds("-c", "import cyclopts, rich.console, rich.panel, rich.table")
    numpy = cpu_seconds("-c", "import numpy")
    assert cpu_seconds("-m", "gapcut", "--help") <= SLACK * max(base, numpy)


def test_scipy_and_sklearn_come_late():
    assert not {"numpy", "scipy", "sklearn", "gapcut.machine"} & loaded("gapcut", "--help")
    assert not {"numpy", "scipy", "sklearn"} & loaded("gapcut", "--version")
    assert not {"scipy.sparse", "sklearn"} & loaded("gapcut", "train", "--help")
    code = (
        "import sys, gapcut; g = gapcut.Graph([[1.0], [2.0]], [[0, 1]], labels=[0, 1]); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy.sparse", "sklearn"} & set(done.stdout.split())


def test_every_name_of_the_front_is_there():
    import gapcut

    assert set(gapcut.__all__) <= set(dir(gapcut))
    assert not {"TYPE_CHECKING", "Any", "import_module"} & set(dir(gapcut))
    for name in gapcut.__all__:
        assert getattr(gapcut, name) is getattr(gapcut, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gapcut.nothing
    code = "import gapcut; gapcut.inference.solve, gapcut.data.Graph, gapcut.datasets.make_planted, "
    code += "gapcut.metrics.GraphScorer, gapcut.features.FeaturePipeline, gapcut.graphs.knn_graph, gapcut.images.paint"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_first_of_the_help(name):
    assert build_app([name])[name].help.splitlines()[0] == COMMANDS[name][1]


def test_program_and_module_are_one(run):
    module = subprocess.run([sys.executable, "-m", "gapcut", "-V"], capture_output=True, text=True)
    assert (module.returncode, module.stdout) == (0, f"{__version__}\n")
    assert run("--version") == (0, f"{__version__}\n", "")
    for flag in ("-V", "--version"):
        code, out, _ = run(flag, "--verbose")
        assert (code, out.splitlines()[0]) == (0, __version__)
        assert len(out.splitlines()) > 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("train", "missing argument DATA (see gapcut train --help)"),
        ("train d.npz", "missing option --out (see gapcut train --help)"),
        ("train d.npz --out", "--out needs a value (see gapcut train --help)"),
        ("scenes train", "missing argument FOLDER (see gapcut scenes train --help)"),
        (
            "train d.npz --out m --frob 3",
            "Unknown option: --frob. Did you mean --jobs? (see gapcut train --help)",
        ),
    ],
)
def test_what_is_missing_is_said_with_the_help_that_helps(run, arguments, line):
    code, out, err = run(*arguments.split())
    assert (code, out, err.replace('"', "")) == (2, "", f"gapcut: {line}\n")  # older parsers quote options


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(run, tmp_path, shell):
    code, _, err = run("--install-completion", "--shell", shell, "--out", tmp_path / "script")
    assert (code, err) == (0, "")
    script = (tmp_path / "script").read_text()
    assert "evaluate" in script
    assert "fold-array" in script


def test_verbose_shows_where_an_error_arose(run, tmp_path):
    code, _, err = run("inspect", tmp_path / "none.gapcut", "--verbose")
    assert code == 2
    assert "Traceback" in err
    assert len(run("inspect", tmp_path / "none.gapcut")[2].splitlines()) == 1

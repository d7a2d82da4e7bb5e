"""The one declaration of parameters: documentation, checks and options follow it, whatever is added."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import fields
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapcut
from gapcut import StructuredSVM
from gapcut.inference import METHODS, MethodName
from gapcut.machine import Machine
from gapcut.model.settings import Settings
from gapcut.model.training import make_learner
from gapcut.oracles.kinds import KINDS
from gapcut.parameters import LearnerName, OracleName, Parameters, accepted, allowed, summary, texts
from sample_graphs import sample_graphs

NAMES = [f.name for f in fields(Parameters)]
NUMBERS = ["C", "loss_scale", "gap", "eps", "max_passes", "time_limit", "random_state", "n_jobs"]
DEFAULTS = StructuredSVM().get_params()
SEARCHED = {"C": "cv", "oracle": "auto", "node_lift": "auto", "base": "auto", "base_features": "auto"}
"""What a command decides by itself and an estimator is told."""


# ---- what every parameter has


def test_the_constructors_are_the_declaration():
    for made in (Machine, StructuredSVM):
        assert list(signature(made).parameters) == NAMES
    assert {name: getattr(Parameters(), name) for name in NAMES} == DEFAULTS == Machine().get_params()


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_documented(name):
    assert list(texts(Parameters)) == NAMES
    assert summary(Parameters, name).endswith(".")
    assert (
        f"\n{name} : {allowed(Parameters, name)}\n    {summary(Parameters, name)[:20]}"
        in StructuredSVM.__doc__
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_checked(name):
    accepted(Parameters, name, DEFAULTS[name])
    with pytest.raises((TypeError, ValueError), match=f"^{name}=<object .*> must be "):
        StructuredSVM(**{name: object()}).fit(sample_graphs(2))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_an_option_or_a_reason(name):
    pytest.importorskip("cyclopts")
    from gapcut.cli.app import build_app
    from gapcut.cli.options import NOT_OFFERED

    spelt = {"n_jobs": "--jobs", "random_state": "--seed"}.get(name, f"--{name.replace('_', '-')}")
    command = ["train", "d.npz", "--out", "m.gapcut"]
    options = build_app()["train"].assemble_argument_collection()
    assert (spelt in {option for argument in options for option in argument.names if argument.parse}) != (
        name in NOT_OFFERED
    )
    if name in NOT_OFFERED:
        assert NOT_OFFERED[name]
        return
    kind = get_type_hints(Parameters)[name]
    tokens, wanted = [spelt, "0.5"], 0.5
    if name in ("n_jobs", "random_state", "max_passes"):
        tokens, wanted = [spelt, "3"], 3
    elif name == "address":
        tokens, wanted = [spelt, "auto"], "auto"
    elif name == "classes":
        tokens, wanted = [spelt, "2,0,1"], [2, 0, 1]
    elif name == "base":
        tokens, wanted = [spelt, "trees"], "trees"
    elif name == "nonnegative":
        tokens, wanted = [spelt, "none"], "none"
    elif get_origin(kind) is Literal:
        tokens, wanted = [spelt, get_args(kind)[-1]], get_args(kind)[-1]
    elif isinstance(DEFAULTS[name], bool):
        wanted = not DEFAULTS[name]
        tokens = [f"--{name}" if wanted else f"--no-{name}"]
    _, bound, _ = build_app().parse_args([*command, *tokens])
    machine = bound.arguments["options"].estimator(sample_graphs(2))
    assert wanted != {**DEFAULTS, **SEARCHED}[name]
    assert machine.get_params() == {**DEFAULTS, **SEARCHED, "n_jobs": -1, name: wanted}


def test_balanced_is_an_option_of_its_own():
    pytest.importorskip("cyclopts")
    from gapcut.cli.options import LearningOptions

    options = LearningOptions(balanced=True, gap=0.1, eps=0.5)
    assert options.estimator(sample_graphs(2)).class_weight == "balanced"
    assert options.target is None


def test_what_compares_learners_searches_nothing():
    pytest.importorskip("cyclopts")
    from gapcut.cli.app import build_app
    from gapcut.cli.options import LearningOptions

    plain = {**DEFAULTS, "n_jobs": -1}
    assert LearningOptions().estimator(sample_graphs(2)).get_params() == plain
    _, bound, _ = build_app().parse_args(["compare", "d.npz", "--gap", "0.5"])
    machine = bound.arguments["options"].estimator(sample_graphs(2))
    assert machine.get_params() == {**plain, "gap": 0.5}


def test_a_base_can_be_refused():
    pytest.importorskip("cyclopts")
    from gapcut.cli.app import build_app

    _, bound, _ = build_app().parse_args(["train", "d.npz", "--out", "m.gapcut", "--base", "none"])
    assert bound.arguments["options"].estimator(sample_graphs(2)).base is None


def test_the_names_are_those_of_the_registries():
    assert set(get_args(MethodName)) == set(METHODS)
    assert set(get_args(OracleName)) == {*KINDS, "brute", "auto"}
    learners = [
        make_learner(Settings.checked({**DEFAULTS, "learner": name}))
        for name in get_args(LearnerName)
        if name != "auto"
    ]
    assert len({type(learner) for learner in learners}) == len(learners)


# ---- values


ANYTHING = st.one_of(
    *(st.none(), st.booleans(), st.text(max_size=5), st.integers(), st.floats(), st.fractions()),
    *(st.sampled_from([10**400, -(10**5000), np.float32(0.5), np.int64(3), np.bool_(True), 1j]),),
    st.lists(st.floats(), max_size=40).map(np.array),
)


@given(name=st.sampled_from(NAMES), value=ANYTHING)
def test_any_value_is_taken_or_refused_in_one_line(name, value):
    try:
        found = accepted(Parameters, name, value)
    except (TypeError, ValueError) as error:
        refused = str(error)
    else:
        refused = None
    if refused is not None:
        assert refused.startswith(f"{name}=")
        assert "\n" not in refused
        assert len(refused) < 300
    elif name in NUMBERS and found is not None:
        assert type(found) in (int, float)
        assert found == type(found)(value)
        assert -math.inf < found < math.inf
    elif isinstance(found, bool):
        assert found == value


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"gap": 1}, r"gap=1 must be a number in \[0, 1\)"),
        ({"gap": 2.0}, "gap=2.0 must be"),
        ({"C": 1e400}, r"C=inf must be a number in \[1e-30, 1e30\]"),
        ({"C": 10**400}, "C=1000.* must be a number"),
        ({"C": 1e-300}, "C=1e-300 must be"),
        ({"loss_scale": 1e308}, r"loss_scale=1e\+308 must be a number in \[1e-30, 1e30\]"),
        ({"n_jobs": 10**6}, "n_jobs=1000000 must be at most 1024"),
        ({"time_limit": math.inf}, "time_limit=inf must be a number in .* or None"),
        ({"max_passes": 0}, "max_passes=0 must be a whole number >= 1 or None"),
        ({"random_state": 2**32}, "random_state=4294967296 must be a whole number in"),
        ({"nonnegative": "pairwize"}, "nonnegative='pairwize' must be 'auto', 'pairwise', 'none', an array"),
        ({"class_weight": "even"}, "class_weight='even' must be 'balanced', a mapping or None"),
        ({"standardize": "scaled"}, "standardize='scaled' must be True, False or 'scale'"),
        ({"learner": None}, "learner=None must be 'auto', 'primal-dual'"),
    ],
)
def test_values_out_of_range_are_refused_before_the_fit(params, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        StructuredSVM(**params).fit(sample_graphs(2))


@pytest.mark.parametrize(
    "params", [{"frozen": [1.0]}, {"warm_start": 1}, {"max_passes": 2.0}, {"checkpoint": 3}]
)
def test_values_of_a_wrong_type_are_refused_before_the_fit(params):
    with pytest.raises(TypeError, match=f"^{next(iter(params))}="):
        StructuredSVM(**params).fit(sample_graphs(2))


@pytest.mark.parametrize("name", ["C", "loss_scale"])
@pytest.mark.parametrize("value", [1e-30, 1e30])
@pytest.mark.parametrize("learner", ["primal-dual", "block"])
def test_the_ends_of_the_ranges_are_proven_soundly(name, value, learner):
    svm = StructuredSVM(**{name: value}, learner=learner, max_passes=5).fit(sample_graphs(3))
    assert 0 <= svm.certificate_.lower <= svm.certificate_.upper < math.inf
    assert svm.certificate_.upper > 0


def test_settings_hold_plain_numbers_and_the_estimator_what_was_given():
    given_ = {
        "C": np.float32(0.5),
        "loss_scale": Fraction(5, 2),
        "max_passes": np.int64(3),
        "incidence": np.bool_(False),
    }
    svm = StructuredSVM(**given_)
    settings = Settings.checked(svm.get_params())
    assert all(svm.get_params()[name] is value for name, value in given_.items())
    assert (settings.C, settings.loss_scale, settings.max_passes) == (0.5, 2.5, 3)
    assert [type(getattr(settings, name)) for name in given_] == [float, float, int, bool]
    assert (settings.limits.gap, settings.limits.max_passes, settings.threads) == (0.01, 3, 1)


# ---- type checkers


USER = """
import numpy as np
from numpy.typing import NDArray

from gapcut import Energy, Graph, StructuredSVM, solve

StructuredSVM(learner="block", oracle="trws", C=2, classes=["a", "b"], class_weight={"a": 2.0}, n_jobs=-1)
StructuredSVM(learner="blok")  # wrong
StructuredSVM(oracle="trsw")  # wrong
StructuredSVM(inference="magic")  # wrong
StructuredSVM(nonnegative="pairwize")  # wrong
StructuredSVM(Learner="block")  # wrong
StructuredSVM(C="1")  # wrong

def label(energy: Energy) -> None:
    solve(energy, method="trws")
    solve(energy, method="trsw")  # wrong

def table(frame: object) -> Graph:
    return Graph.from_pandas(frame, label="kind")

table(Graph([[1.0]], []).to_networkx())
Graph.from_pandas(None, lable="kind")  # wrong

def codes(energy: Energy) -> NDArray[np.int64]:
    return solve(energy).labels

def text(energy: Energy) -> NDArray[np.str_]:
    return solve(energy).labels  # wrong

def names(svm: StructuredSVM, graph: Graph) -> NDArray[np.str_]:
    return svm.infer(graph).labels
"""


def wrong_lines() -> list[int]:
    return [i for i, line in enumerate(USER.splitlines(), 1) if line.endswith("# wrong")]


@pytest.mark.slow
def test_mypy_finds_what_is_wrong_in_a_users_script(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    mypy = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports", "user.py"]
    source = Path(gapcut.__file__).parents[1]
    # mypy finds an installed package by itself, and refuses to be told; it does not follow an editable install
    path = {} if source.name == "site-packages" else {"MYPYPATH": str(source)}
    done = subprocess.run(mypy, cwd=tmp_path, env=path, capture_output=True, text=True)
    found = [int(line) for line in re.findall(r"^user\.py:(\d+): error:", done.stdout, re.MULTILINE)]
    assert found == wrong_lines(), done.stdout + done.stderr


@pytest.mark.slow
def test_pyright_finds_what_is_wrong_in_a_users_script(tmp_path):
    pytest.importorskip("basedpyright")  # pyright without a node of its own to download
    (tmp_path / "user.py").write_text(USER)
    config = {"extraPaths": [str(Path(gapcut.__file__).parents[1])], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    pyright = [
        sys.executable,
        "-m",
        "basedpyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "user.py",
    ]
    done = subprocess.run(pyright, cwd=tmp_path, capture_output=True, text=True)
    found = [d["range"]["start"]["line"] + 1 for d in json.loads(done.stdout)["generalDiagnostics"]]
    assert found == wrong_lines(), done.stdout + done.stderr

"""CFN: JSON, strict or loose."""

from __future__ import annotations

import itertools
import json

import pytest

from energy_files import INF, all_energies, any_energy, complaint, write
from gapcut import read_energy, write_energy

CFN = """{ "problem": { "name": "test", "mustbe": "<100.0" },
# a comment, with } and "
  "variables": { "a": ["x", "y"], "b": 3 },
  "functions": {
    "fa": { "scope": ["a"], "costs": [0.5, -1.25] },
    "fab": { "scope": ["a", "b"], "defaultcost": 2, "costs": ["y", 0, 5, "x", 2, 100.0] },
    "again": { "scope": ["a", "b"], "costs": "last" },
    "last": { "scope": ["a", "b"], "costs": [1, 2, 3, 4, 5, 6] },
    "all": { "scope": [], "costs": [10] } } }
"""
LOOSE = """{ {test <100.0} [[x y] 3]
  [ {[0] costs [0.5 -1.25]} {[0 1] defaultcost 2 costs [[y 0 5] {x 2 100.0}]}
    {[0 1] costs last} last {[0 1] costs [1 2 3 4 5 6]} {[] costs [10]} ] }
"""


@pytest.mark.parametrize("text", [CFN, LOOSE])
def test_cfn_strict_and_loose(text, tmp_path):
    energy = read_energy(write(tmp_path / "e.cfn", text))
    for a, b in itertools.product(range(2), range(3)):
        sparse = {(1, 0): 5.0, (0, 2): 100.0}.get((a, b), 2.0)
        # the function's 100 and the least the others can add, -1.25, stay below the bound 100
        assert energy.energy([a, b]) == (0.5, -1.25)[a] + sparse + 2 * (1 + 3 * a + b) + 10


def test_cfn_bound_forbids_what_reaches_it_alone(tmp_path):
    text = "{{p <10.0} {a 2 b 2} {{scope [a] costs [9.9 10.0]} {scope [b] costs [0 -1]}}}"
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [9.9, 8.9, 10.0, 9.0]
    text = text.replace("10.0]", "11.0]")
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [9.9, 8.9, INF, INF]


def test_cfn_maximisation_is_minimisation_of_the_negative(tmp_path):
    text = "{{p >-10.0} {a 2 b 2} {{scope [a] costs [3 -10]} {scope [a b] costs [1 2 3 4]}}}"
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [-4.0, -5.0, 7.0, 6.0]
    text = text.replace("-10]", "-14]")
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [-4.0, -5.0, INF, INF]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"<100.0"', '"100.0"', 1, "mustbe"),
        ('"<100.0"', '"<x"', 1, "no number"),
        ('"b": 3', '"b": -3', 3, "interval"),
        ('"b": 3', '"b": 0', 3, "empty"),
        ('"b": 3', '"a": 3', 3, "twice"),
        ('"b": 3', '"b"', 3, "no domain"),
        ("[0.5, -1.25]", "[0.5]", 5, "1 costs, the scope needs 2"),
        ("[0.5, -1.25]", "[0.5, z]", 5, "found 'z'"),
        ("[0.5, -1.25]", "[0.5, inf]", 5, "found 'inf'"),
        ('"y", 0, 5,', '"z", 0, 5,', 6, "no label 'z'"),
        ('"y", 0, 5,', '"y", 0,', 6, "the last is cut"),
        ('"y", 0, 5,', '"y", 3, 5,', 6, "no label '3'"),
        ('["a"]', '["c"]', 5, "no variable 'c'"),
        ('["a"]', '["a", "a"]', 5, "twice"),
        ('"last" }', '"lost" }', 7, "'lost' do not exist"),
        ('"last" }', '"again" }', 7, "do not exist"),
        ('"last" }', '"fa" }', 7, "label counts"),
        ('"costs": [10]', '"type": "sregular", "params": []', 9, "'sregular' is not supported"),
        ('"costs": [10]', '"price": [10]', 9, "neither costs nor a type"),
        ("} } }", "} } } }", 9, "closes nothing"),
        ("} } }", "} }", 1, "never closed"),
        ("[10]", '["10]', 9, "quote"),
    ],
)
def test_cfn_complaints_name_the_line(old, new, line, message, tmp_path):
    path = write(tmp_path / "e.cfn", CFN.replace(old, new, 1))
    assert message in complaint(path)
    assert complaint(path).startswith(f"{path}:{line}: ")


def test_cfn_files_are_json(tmp_path):
    path = tmp_path / "3 e.cfn"
    write_energy(any_energy(5), path)
    assert set(json.loads(path.read_text())) == {"problem", "variables", "functions"}


def test_deep_brackets(tmp_path):
    assert "never closed" in complaint(write(tmp_path / "e.cfn", "[" * 100_000))
    complaint(write(tmp_path / "e.cfn", "[" * 100_000 + "]" * 100_000))

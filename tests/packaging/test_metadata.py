"""What is said about the package in several files is the same in all of them. Skips outside a clone."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gapcut

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project():
    if not (ROOT / "conda").is_dir():
        pytest.skip("no clone of the repository")
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version(project):
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    recipe = re.search(r"^  version: (.*)$", (ROOT / "conda/recipe.yaml").read_text(), re.MULTILINE)
    assert {project["version"], cited[1], recipe[1]} == {gapcut.__version__}


def test_the_recipe_asks_for_what_the_package_needs(project):
    recipe = (ROOT / "conda/recipe.yaml").read_text().split("  run:")[1].split("tests:")[0]
    found = {
        line.strip(" -").replace(" ", "") for line in recipe.splitlines() if line.strip().startswith("-")
    }
    wanted = {*project["dependencies"], *project["optional-dependencies"]["cli"]}
    assert found == wanted | {"python"}


def test_every_extra_is_explained_with_its_licence(project):
    page = (ROOT / "docs/releasing.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", page, re.MULTILINE))
    assert set(rows) == set(project["optional-dependencies"]) - {"all", "test", "dev"}
    listed = "\n".join(re.findall(r"^\| `\w+` \| .*$", page, re.MULTILINE))
    for extra in rows:
        for line in project["optional-dependencies"][extra]:
            name = re.match(r"[\w-]+", line)[0]
            assert name == "gapcut" or name in listed, f"{extra}: {name}"
    assert "**LGPL 3.0 or later**" in listed


def test_the_first_snippet_needs_no_file(project):
    snippet = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!snakes)\.npz|(?<!svm)\.load\(", snippet[1])
    compile(snippet[1], "README.md", "exec")


def test_a_script_ends_without_a_word(tmp_path):
    """Objects of the core that live until the interpreter ends would be told as leaks."""
    script = tmp_path / "script.py"
    script.write_text("from gapcut import Machine\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""

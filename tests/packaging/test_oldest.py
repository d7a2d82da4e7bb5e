"""Every package that an extra asks for has a lower end, which .ci/nightly installs. Skips outside a clone."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pins():
    script = ROOT / ".ci" / "oldest.py"
    if not script.is_file():
        pytest.skip("no clone of the repository")
    return runpy.run_path(str(script))["pins"]


def test_lower_ends_of_all_that_tests_need(pins):
    found = pins(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    names = {line.split("==")[0] for line in found}
    assert {"nanobind", "numpy", "cyclopts", "clarabel", "pyarrow", "laspy", "pyogrio", "pytest"} <= names
    assert not {"gapcut", "torch", "ray"} & names
    assert len(names) == len(found)


@pytest.mark.parametrize(
    ("extra", "why"), [(["rich"], "rich: a lower end"), (["numpy>=2.0"], "numpy: lower ends 1.26 and 2.0")]
)
def test_a_package_without_one_lower_end_is_named(pins, extra, why):
    project = {"dependencies": ["numpy>=1.26"], "optional-dependencies": {"cli": extra}}
    with pytest.raises(ValueError, match=why):
        pins({"build-system": {"requires": []}, "project": project})

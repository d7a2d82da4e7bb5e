"""The part of the estimator that does without scikit-learn."""

import subprocess
import sys

import numpy as np
import pytest

import gapcut
from gapcut import Graph, StructuredSVM
from gapcut.machine import Machine


def test_training_by_the_command_line_does_not_import_scikit_learn(tmp_path):
    """It would take longer than many fits."""
    data = tmp_path / "d.npz"
    gapcut.GraphSet(Graph([[0.0], [1.0]], [[0, 1]], [[1.0]], labels=[0, 1]) for _ in range(4)).save(data)
    program = (
        "import sys; from gapcut.cli import main; "
        f"code = main(['train', {str(data)!r}, '--out', {str(tmp_path / 'm.gapcut')!r}]); "
        "assert code == 0, code; "
        "found = [m for m in ('sklearn', 'scipy.stats', 'scipy.optimize', 'matplotlib') if m in sys.modules]; "
        "assert not found, found"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_parameters_are_those_of_the_estimator():
    assert Machine().get_params() == StructuredSVM().get_params()
    changed = Machine().set_params(C=3.0, oracle="trws")
    assert (changed.C, changed.oracle) == (3.0, "trws")
    with pytest.raises(ValueError, match="no parameter 'D'"):
        Machine().set_params(D=1)


def test_a_machine_and_an_estimator_read_each_others_files(tmp_path):
    graphs = [Graph([[0.0], [1.0]], [[0, 1]], [[1.0]], labels=["a", "b"]) for _ in range(4)]
    one, other = Machine(C=2.0).fit(graphs), StructuredSVM(C=2.0).fit(graphs)
    np.testing.assert_array_equal(one.unary_, other.unary_)
    one.save(tmp_path / "one")
    other.save(tmp_path / "other")
    assert isinstance(StructuredSVM.load(tmp_path / "one"), StructuredSVM)
    assert Machine.load(tmp_path / "other").get_params() == other.get_params()


def test_names_that_are_imported_later():
    assert {"StructuredSVM", "cross_validate_path"} <= set(dir(gapcut))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = gapcut.Nothing

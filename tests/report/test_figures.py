"""Figures draw for every odd input, whole files only, and leave matplotlib's state alone."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest

from gapcut.certificates import Record
from gapcut.metrics import score_labels

pytest.importorskip("matplotlib")
from gapcut.report.figures import (
    confusion_figure,
    convergence_figure,
    save_figure,
    weights_figure,
)

PNG = b"\x89PNG\r\n\x1a\n"


def records(upper, lower):
    return [
        Record(i + 1, 0.1 * (i + 1), 3, b, a, 5, 7) for i, (a, b) in enumerate(zip(upper, lower, strict=True))
    ]


def drawn(figure, path):
    save_figure(figure, path)
    content = path.read_bytes()
    assert content.startswith(PNG)
    assert len(content) > 5000
    return content


@pytest.mark.parametrize("size", [1, 2, 11, 17])
def test_confusion_matrix(size, tmp_path):
    classes = np.array([f"class {i}" for i in range(size)])
    rng = np.random.default_rng(size)
    truth = rng.choice(classes, 300)
    figure = confusion_figure(score_labels([truth], [rng.choice(classes, 300)], classes))
    texts = [t.get_text() for t in figure.axes[0].texts]
    assert sum(int(t.split("\n")[1].replace(",", "")) for t in texts) == 300
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == classes.tolist()
    drawn(figure, tmp_path / "c.png")


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ([], []),
        ([np.inf], [0.0]),
        ([5.0], [5.0]),
        ([0.0, 0.0], [0.0, 0.0]),
        ([9.0, 4.0, 3.0], [-4.0, 1.0, 2.9]),
        ([9e9, 4.0, 3.0], [1e-3, 1.0, 2.9]),
        ([np.inf, 3.0], [0.0, 2.0]),
    ],
)
def test_convergence(upper, lower, tmp_path):
    drawn(convergence_figure(records(upper, lower)), tmp_path / "c.png")


@pytest.mark.parametrize("edge_dim", [0, 1, 9])
@pytest.mark.parametrize("signed", [False, True])
def test_weights(edge_dim, signed, tmp_path):
    rng = np.random.default_rng(edge_dim)
    pairwise = np.maximum(rng.normal(size=(4, 4, edge_dim)), -np.inf if signed else 0.0)
    names = [f"feature {d}" for d in range(edge_dim)]
    figure = weights_figure(pairwise, np.arange(4), names)
    drawn(figure, tmp_path / "w.png")
    if edge_dim:
        strongest = names[int(np.abs(pairwise).max(axis=(0, 1)).argmax())]
        assert figure.axes[0].get_title() == strongest
    assert ("the 6 strongest of 9 edge features" in figure.get_suptitle()) == (edge_dim == 9)


def test_no_global_state_is_touched(tmp_path):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    drawn(convergence_figure(records([2.0], [1.0])), tmp_path / "c.png")
    assert dict(mpl.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "gapcut\[plot\]"'):
        convergence_figure([])


def test_the_confusion_matrix_says_what_it_counts() -> None:
    scores = score_labels([np.array([0, 1])], [np.array([0, 1])], np.array([0, 1]))
    assert "nodes 2" in confusion_figure(scores).axes[0].get_title()
    counted = confusion_figure(scores, counted="points")
    assert "points 2" in counted.axes[0].get_title()
    assert "points" in counted.axes[1].get_ylabel()

"""One graph, or a few: what most people begin with must be certified too, where C all but separates it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gapcut import Graph, StructuredSVM
from gapcut.learners.schedule import LONGEST, MORE_PATIENCE, PATIENCE, CertificateSchedule


def planted(seed: int, n_graphs: int, side: int, n_labels: int, noise: float) -> list[Graph]:
    """Grids with squares of one label, seen through noise."""
    rng, graphs = np.random.default_rng(seed), []
    grid = np.arange(side * side).reshape(side, side)
    across, down = (grid[:, :-1], grid[:, 1:]), (grid[:-1], grid[1:])
    edges = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in (across, down)])
    for _ in range(n_graphs):
        square = rng.integers(0, n_labels, (side // 3 + 1, side // 3 + 1))
        labels = square.repeat(3, 0).repeat(3, 1)[:side, :side].ravel()
        nodes = np.eye(n_labels)[labels] + noise * rng.normal(size=(side * side, n_labels))
        graphs.append(Graph(nodes, edges, np.ones((len(edges), 1)), labels))
    return graphs


@pytest.mark.parametrize(
    ("n_graphs", "side", "n_labels", "noise", "C"),
    [(1, 6, 4, 0.5, 1e4), (1, 9, 4, 0.6, 1e2), (1, 9, 6, 0.4, 1e2), (2, 6, 4, 0.5, 1e4), (3, 6, 4, 0.5, 1e4)],
)
def test_few_graphs_are_certified_where_C_is_large(
    n_graphs: int, side: int, n_labels: int, noise: float, C: float
) -> None:
    """They had ended at gaps of 50 to 99 %, in a tenth of a second and without a limit."""
    graphs = planted(n_graphs * 10 + side, n_graphs, side, n_labels, noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = StructuredSVM(oracle="lp", C=C, max_passes=60).fit(graphs).certificate_
    assert found.status == "certified"
    assert found.relative_gap <= 0.01


def test_steps_go_on_beside_planes_before_they_are_given_up() -> None:
    at = [LONGEST * (1 + i) for i in range(MORE_PATIENCE * PATIENCE + 1)]
    few = CertificateSchedule(gaps=[(i, 1.0) for i in at[: PATIENCE + 1]])
    assert few.stalled
    assert not few.settled
    assert CertificateSchedule(gaps=[(i, 1.0) for i in at]).settled
    assert not CertificateSchedule(gaps=[(at[0], 1.2), *((i, 1.0) for i in at[1:])]).settled

"""Reasons of labels: what they add up to, and what they are, computed a second way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gapcut import StructuredSVM
from gapcut.files import ModelFileError
from gapcut.inference.confidence import flip_energies
from gapcut.scenes.labelling.reasons import Reasons, explain
from sample_graphs import sample_graphs


@pytest.fixture(scope="module", params=[True, False])
def explained(request):
    svm = StructuredSVM(gap=0.1, incidence=request.param).fit(sample_graphs(5, seed=1))
    graph = sample_graphs(1, seed=9)[0]
    energy = svm.energy(graph)
    labels = energy.unary_labels().astype(np.int64)  # no optimum: some shares are negative
    return svm, graph, energy, labels, explain(svm, graph, labels, flip_energies(energy, labels), 0.5)


def test_the_next_best_labels_are_those_of_single_changes(explained):
    _, _, energy, labels, found = explained
    before = energy.energy(labels)
    for u in range(energy.n_nodes):
        for other, worse in zip(found.others[u], found.worse[u], strict=True):
            changed = labels.copy()
            changed[u] = other
            assert energy.energy(changed) - before == pytest.approx(worse, abs=1e-5)
        assert (np.diff(found.worse[u]) >= 0).all()
        assert labels[u] not in found.others[u]


def test_neighbours_have_the_differences_of_their_tables(explained):
    _, graph, energy, labels, found = explained
    assert (found.neighbours >= 0).any()
    for u in range(graph.n_nodes):
        rival, share = int(found.others[u, 0]), {}
        for e, (a, b) in enumerate(graph.edges.tolist()):
            if u in (a, b):
                table = energy.table(e) if u == a else energy.table(e).T
                other = b if u == a else a
                share[other] = (
                    share.get(other, 0.0) + table[rival, labels[other]] - table[labels[u], labels[other]]
                )
        for other, value in zip(found.neighbours[u].tolist(), found.by_neighbour[u], strict=True):
            assert value == pytest.approx(share.get(other, 0.0), abs=1e-5)
        strongest = sorted((abs(v) for v in share.values()), reverse=True)[: found.neighbours.shape[1]]
        assert np.abs(found.by_neighbour[u][: len(strongest)]) == pytest.approx(strongest, abs=1e-5)


def test_a_relation_is_what_is_lost_without_its_weights(explained):
    """Own and all relations add up; each is the change of the flip energy when its weights become zero."""
    svm, graph, _, labels, found = explained
    names = svm.pipeline_.edge_names
    rows, rival = np.arange(graph.n_nodes), found.others[:, 0]
    worse = found.worse[:, 0].astype(float)
    total = np.zeros(graph.n_nodes)
    for d, name in enumerate(names):
        pairwise, unary = svm.pairwise_[:, :, d].copy(), svm.unary_.copy()
        columns = [i for i, n in enumerate(svm.node_names_) if n in (f"out {name}", f"in {name}")]
        svm.pairwise_[:, :, d] = 0.0
        svm.unary_[:, columns] = 0.0
        flips = flip_energies(svm.energy(graph), labels)[rows, rival]
        svm.pairwise_[:, :, d], svm.unary_[:] = pairwise, unary
        share = worse - flips
        total += share
        listed = (found.relations == d) & (np.abs(found.by_relation) > 0)
        assert found.by_relation[listed] == pytest.approx(share[listed.any(axis=1)], abs=1e-5)
    assert found.own + total == pytest.approx(worse, abs=1e-4)


def test_a_file_there_and_back(explained, tmp_path):
    found = explained[-1]
    found.save(tmp_path / "a.reasons")
    again = Reasons.load(tmp_path / "a.reasons")
    assert (again.names, again.temperature) == (found.names, 0.5)
    for key in ("labels", "others", "worse", "own", "relations", "by_relation", "neighbours", "by_neighbour"):
        assert np.array_equal(getattr(again, key), getattr(found, key))
    assert np.array_equal(again.renumbered(np.arange(10) * 10).others, 10 * found.others)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"own": np.zeros(1, np.float32)}, "shapes do not fit"),
        ({"worse": np.zeros((0, 1), np.float32)}, "shapes do not fit"),
        ({"relations": 99}, "numbers beyond"),
        ({"neighbours": 10**6}, "numbers beyond"),
    ],
)
def test_other_files_are_refused(explained, tmp_path, change, message):
    found = explained[-1]
    full = {
        k: v if isinstance(v, np.ndarray) else np.full_like(getattr(found, k), v) for k, v in change.items()
    }
    replace(found, **full).save(tmp_path / "a.reasons")
    with pytest.raises(ModelFileError, match=message):
        Reasons.load(tmp_path / "a.reasons")
    explained[0].save(tmp_path / "m.gapcut")
    with pytest.raises(ModelFileError, match="no reasons of labels"):
        Reasons.load(tmp_path / "m.gapcut")

"""Commands on graph sets with cliques."""

from __future__ import annotations

import json

import pytest

from gapcut import StructuredSVM, read_energy, solve, write_energy
from sample_cliques import xor_graphs

pytest.importorskip("cyclopts")
pytest.importorskip("rich")


@pytest.fixture
def files(tmp_path):
    xor_graphs(8, seed=1).save(tmp_path / "train.npz")
    xor_graphs(4, seed=2, tuples=[(0, 1, 1), (1, 1, 0)]).save(tmp_path / "listed.npz")
    xor_graphs(4, seed=2).save(tmp_path / "test.npz")
    return tmp_path


def as_json(run, *arguments, code=0):
    found, out, err = run(*arguments, "--json")
    assert found == code, err
    return json.loads(out)


def test_train_inspect_predict_evaluate_check(files, run) -> None:
    model = files / "m.gapcut"
    trained = as_json(
        run, "train", files / "train.npz", "--out", model, "--C", "10", "--jobs", "1", "--certified"
    )
    assert trained["labelled"]["cliques"] == 8 * (5 + 4)
    assert 0 < trained["weights"]["clique_nonzero"] <= trained["weights"]["clique"] == 2 * 8 + 2
    assert as_json(run, "evaluate", model, files / "test.npz")["accuracy"] == 1.0
    shown = as_json(run, "inspect", model)
    assert [(c["nodes"], c["tuples"]) for c in shown["cliques"]] == [(3, 8), (4, 2)]
    assert shown["strongest_tuples"][0]["labels"] in ([0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1])
    assert as_json(run, "check", model, files / "train.npz")["verdict"] == "holds"
    assert run("predict", model, files / "test.npz", "--out", files / "p.npz")[0] == 0
    code, out, _ = run("inspect", model)
    assert code == 0
    assert "clique group 0: 3 nodes, 8 label tuples, 2 feature columns" in out
    code, out, _ = run("train", files / "train.npz", "--out", model, "--max-passes", "2")
    assert code == 0
    assert "72 cliques" in out


def test_inspect_data(files, run) -> None:
    shown = as_json(run, "inspect", files / "listed.npz")["cliques"]
    assert [(c["nodes"], c["features"], c["count"]["total"]) for c in shown] == [(3, 2, 20), (4, 0, 16)]
    assert shown[0]["tuples"] == [[0, 1, 1], [1, 1, 0]]
    assert shown[1]["tuples"] == "equal"
    code, out, _ = run("inspect", files / "listed.npz")
    assert code == 0
    assert "cliques of 3 nodes" in out
    assert "2 of the label tuples" in out


def test_refusals_are_one_line(files, run) -> None:
    for arguments, match in (
        (("--learner", "primal-dual"), "not compatible with cliques"),
        (("--oracle", "tree"), "not compatible with cliques"),
        (("--resume",), "graphs without cliques"),
    ):
        code, _, err = run("train", files / "train.npz", "--out", files / "m.gapcut", *arguments)
        assert code == 2
        assert match in err
        assert len(err.strip().splitlines()) == 1


def test_energies_with_cliques_go_through_files(files) -> None:
    graphs = xor_graphs(2, seed=1)
    energy = StructuredSVM(C=10.0).fit(graphs).energy(graphs[0])
    for name in ("e.uai", "e.cfn"):
        write_energy(energy, files / name)
        assert solve(read_energy(files / name)).status == "optimal"

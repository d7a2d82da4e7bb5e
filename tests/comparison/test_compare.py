"""Rows of a comparison: what is trained on what, means and spreads, failures, and how it is written down."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from gapcut import GraphSet, solve
from gapcut.comparison import (
    Comparison,
    Contender,
    compare,
    compare_methods,
    comparison_document,
    comparison_markdown,
    cpu_limit,
    methods_table,
    rows_table,
)
from gapcut.machine import Machine
from gapcut.metrics import score_graphs
from sample_graphs import relabelled, sample_graphs

GRAPHS = relabelled(sample_graphs(6, seed=1), ["deck", "pier", "ground"])
FOLDS = [("east", np.array([0, 1])), ("west", np.array([2, 3, 4]))]
CUT, OTHER, BROKEN = Contender("block", "cut"), Contender("block", "icm"), Contender("frank-wolfe", "cut")


def fit(contender: Contender, training: GraphSet, what: str) -> Machine:
    if contender == BROKEN and what.endswith("west"):
        raise RuntimeError("the solver broke\ndown")
    machine = Machine(loss_scale=10.0, learner=contender.learner, oracle=contender.oracle, max_passes=40)
    return machine.fit(training)


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(GRAPHS, FOLDS, [BROKEN, CUT, OTHER], fit)


def test_every_fold_is_labelled_by_a_model_that_did_not_see_it() -> None:
    seen: list[tuple[str, list[str]]] = []

    def watch(contender: Contender, training: GraphSet, what: str) -> Machine:
        seen.append((what, [str(g.name) for g in training]))
        return fit(contender, training, what)

    named = GraphSet(g.replace(name=f"g{i}") for i, g in enumerate(GRAPHS))
    compare(named, FOLDS, [CUT], watch)
    assert seen == [
        ("block/cut, fold east", ["g2", "g3", "g4", "g5"]),
        ("block/cut, fold west", ["g0", "g1", "g5"]),
    ]


def test_a_row_is_what_its_models_score(found: Comparison) -> None:
    row = found.rows[1]
    scores = [m.score(GRAPHS[test]) for m, (_, test) in zip(found.models, FOLDS, strict=True)]
    assert [f.accuracy for f in row.folds] == pytest.approx(scores)
    assert row.mean("accuracy") == pytest.approx(np.mean(scores))
    assert row.spread("accuracy") == pytest.approx(abs(scores[0] - scores[1]) / np.sqrt(2))
    assert row.status == "certified"
    assert row.worst_gap == max(m.certificate_.relative_gap for m in found.models)
    assert 0.0 < row.worst_gap <= 0.01


def test_a_failure_ends_its_row_and_no_other(found: Comparison) -> None:
    broken, cut, other = found.rows
    assert broken.status == "failed"
    assert broken.failure == "fold west: the solver broke down"
    assert [f.fold for f in broken.folds] == ["east"]
    assert (cut.failure, other.failure) == ("", "")
    assert len(cut.folds) == len(other.folds) == 2


def test_speed_ups_refer_to_the_first_whole_row_where_both_reached_their_target(found: Comparison) -> None:
    broken, cut, other = found.rows
    assert found.reference is cut
    assert found.speed_up(cut) == 1.0
    twin = replace(cut, folds=tuple(replace(f, cpu_seconds=2.0 * f.cpu_seconds) for f in cut.folds))
    assert found.speed_up(twin) == pytest.approx(0.5)
    assert np.isnan(found.speed_up(broken))
    assert np.isnan(found.speed_up(other)), "nothing is proven of it, so it has no time to a target"
    stopped = replace(cut, folds=(cut.folds[0], replace(cut.folds[1], status="stopped")))
    assert np.isnan(found.speed_up(stopped))
    assert np.isnan(replace(found, rows=(stopped, cut)).speed_up(cut))


def test_pooled_scores_are_of_all_nodes_together(found: Comparison) -> None:
    row = found.rows[1]
    labels = [m.predict(GRAPHS[test]) for m, (_, test) in zip(found.models, FOLDS, strict=True)]
    together = GRAPHS[np.concatenate([test for _, test in FOLDS])]
    expected = score_graphs(together, [y for fold in labels for y in fold], found.models[0].classes_)
    assert row.pooled.macro_precision == pytest.approx(expected.macro_precision)
    assert row.pooled.macro_recall == pytest.approx(expected.macro_recall)
    assert row.pooled.accuracy == pytest.approx(expected.accuracy)


def test_a_fit_ends_with_the_pass_that_uses_up_its_seconds() -> None:
    machine = Machine(loss_scale=10.0, learner="cutting-plane", gap=0.0, callback=cpu_limit(0.0)).fit(GRAPHS)
    assert machine.certificate_.passes == 1
    assert not cpu_limit(1e6)(machine.history_[-1])


def test_an_oracle_without_bounds_has_an_infinite_gap(found: Comparison) -> None:
    assert found.rows[2].worst_gap == np.inf
    assert found.rows[2].status == "uncertified"


def test_nothing_to_compare_with_is_no_number() -> None:
    alone = compare(GRAPHS, FOLDS[1:], [BROKEN], fit)
    assert alone.reference is None
    assert alone.models == ()
    (row,) = alone.rows
    assert np.isnan(row.mean("accuracy"))
    assert np.isnan(row.worst_gap)
    assert row.spread("accuracy") == 0.0
    assert "- frank-wolfe/cut failed: fold west: the solver broke down" in rows_table(alone)


def test_methods_are_judged_on_the_energies_of_the_held_out_graphs(found: Comparison) -> None:
    trws, icm, wrong = compare_methods(GRAPHS, FOLDS, found.models, ["trws", "icm", "qpbo"])
    assert (trws.graphs, icm.graphs) == (5, 5)
    assert trws.energy <= icm.energy + 1e-9
    assert trws.optimal >= icm.optimal
    assert "qpbo" in wrong.method
    assert wrong.failure
    assert np.isnan(wrong.accuracy)
    energies = [
        solve(machine.energy(graph), "trws").energy
        for machine, (_, test) in zip(found.models, FOLDS, strict=True)
        for graph in GRAPHS[test]
    ]
    assert trws.energy == pytest.approx(np.mean(energies))


def test_tables_have_one_cell_a_column(found: Comparison) -> None:
    labelled = compare_methods(GRAPHS, FOLDS, found.models, ["icm", "qpbo"])
    for table, rows in ((rows_table(found), 3), (methods_table(labelled), 2)):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        assert len(lines) == 2 + rows
        assert len({line.count("|") for line in lines}) == 1
        assert set(lines[1]) <= set("|-: ")
    text = comparison_markdown(found, labelled)
    assert "with the models of block/cut" in text
    assert f"{100 * found.rows[1].mean('accuracy'):.2f} ± " in text
    assert comparison_markdown(found, []) == rows_table(found)


def test_the_document_holds_every_fold(found: Comparison) -> None:
    document = comparison_document(found, [], graphs=6, folds=2)
    assert [row["name"] for row in document["rows"]] == [
        "frank-wolfe/cut",
        "block/cut",
        "block/icm/signed",
    ]
    broken, cut, _ = document["rows"]
    assert broken["failure"] == "fold west: the solver broke down"
    assert cut["failure"] is None
    assert [fold["fold"] for fold in cut["folds"]] == ["east", "west"]
    assert cut["accuracy"] == {
        "mean": found.rows[1].mean("accuracy"),
        "std": found.rows[1].spread("accuracy"),
    }
    assert json.loads(json.dumps(cut))["problem"] == "relaxed binary"

"""Another way to learn is tried on the first fold, then on all, and taken where it is clearly ahead."""

from dataclasses import replace

import numpy as np
import pytest

from gapcut import GraphSet, StructuredSVM
from gapcut.model.challenge import Challenge, behind, challenge, worth_trying
from gapcut.model.held_out import Folds, first_fold, held_out_path, most_accurate, other_folds
from gapcut.model.settings import Settings
from gapcut.model.training import training_set
from sample_graphs import sample_graphs


@pytest.fixture(scope="module")
def weak():
    """Folds with their settings, and what C = 1e-4 makes of them: less than any larger one."""
    asked = Settings.checked(StructuredSVM(loss_scale=10.0).get_params())
    data = training_set(GraphSet(sample_graphs(30, n_nodes=16, seed=4)), asked)
    folds, settings = Folds.of(data, 0), asked.settled(data.graphs)
    held = most_accurate(held_out_path(folds, settings, [1e-4]))
    return folds, settings, held


def test_all_folds_are_learned_where_the_first_is_ahead(weak):
    folds, settings, held = weak
    found = challenge(held, folds, settings, [1.0, 10.0])
    assert found.won is found.best is most_accurate(found.path)
    assert (found.gain, found.error) == found.best.gain_over(held)
    assert all(len(t.scores) == 3 for t in found.trials(settings, base=False, context=False))


def test_nothing_more_is_learned_where_it_is_clearly_behind(weak):
    folds, settings, held = weak
    strong = challenge(held, folds, settings, [10.0]).won
    found = challenge(strong, folds, settings, [1e-4])
    assert (found.won, found.best, len(found.path)) == (None, None, 0)
    assert [len(t.scores) for t in found.trials(settings, base=False, context=False)] == [1]


def test_the_other_folds_decide_where_the_first_hardly_tells(weak):
    """A node less on two graphs and one more on a third are no reason to give up."""
    folds, settings, held = weak
    strong = challenge(held, folds, settings, [10.0]).won
    right = strong.right.copy()
    right[np.flatnonzero(folds.fold == 0)[:3]] += [1.0, 1.0, -1.0]
    found = challenge(replace(strong, right=right), folds, settings, [10.0])
    assert found.best is not None
    assert found.won is None


def test_what_is_labelled_alike_is_behind_but_not_clearly(weak):
    folds, settings, held = weak
    again = first_fold(folds, settings, [1e-4])[0]
    assert behind(again, held)
    assert not behind(again, held, clearly=True)
    worse = replace(again, right=again.right - again.weight / 10)  # the same share everywhere: no error
    assert behind(worse, held, clearly=True)
    one = replace(again, right=again.right - np.eye(len(again.weight))[0])  # one graph tells: its own error
    assert behind(one, held)
    assert not behind(one, held, clearly=True)


def test_one_value_of_C_goes_first_where_it_is_named(weak):
    folds, settings, held = weak
    behind = challenge(held, folds, settings, [1e-4, 1.0], at=1e-4)  # not ahead of itself
    assert [f.C for f in behind.first] == [1e-4]
    found = challenge(held, folds, settings, [1e-4, 1e-3, 1.0], at=1.0)
    assert [f.C for f in found.first] == [1e-4, 1e-3, 1.0]
    assert [h.C for h in found.path] == [1e-3, 1.0]


@pytest.mark.parametrize(
    ("gain", "verdicts"),
    [
        (1.1, [True, True, True]),
        (0.9, [False, True, True]),
        (-0.9, [False, True, True]),
        (-1.1, [False, False, True]),
        (-2.9, [False, False, True]),
        (-3.1, [False, False, False]),
    ],
)
def test_ahead_and_behind_are_one_standard_error_and_clearly_three(weak, gain, verdicts):
    found = Challenge((), (), weak[2], gain * 0.01, 0.01)
    taken = [found.won, found.not_behind, found.not_clearly_behind]
    assert [held is not None for held in taken] == verdicts


def test_what_is_favoured_is_learned_at_every_C_that_is_not_clearly_behind(weak):
    folds, settings, held = weak
    first = first_fold(folds, settings, [1e-4, 1.0, 3.0, 10.0])
    best = max(first, key=lambda fold: fold.accuracy)
    assert best.C > 1e-4
    behind, level = best.right * 0.5, best.right - np.eye(len(best.right))[0]
    made = [
        replace(fold, right=right) for fold, right in zip(first, [level, behind, behind, level], strict=False)
    ]
    made[-1] = replace(made[-1], right=best.right)
    assert [h.C for h in other_folds(folds, settings, made)] == [made[-2].C, made[-1].C]
    assert [h.C for h in other_folds(folds, settings, made, wide=True)] == [1e-4, made[-1].C]
    near, all_of = (
        challenge(held, folds, settings, [1e-4, 1.0, 3.0, 10.0], favoured=f) for f in (False, True)
    )
    assert len(near.path) < len(all_of.path) == len(all_of.first)


def test_only_certified_values_may_count(weak):
    folds, settings, held = weak
    found = challenge(held, folds, settings, [1.0, 10.0], certified=True)
    assert found.won is not None
    assert found.won.certified


def test_what_has_nearly_all_right_is_left_alone(weak):
    held = weak[2]
    assert worth_trying(held)
    assert not worth_trying(replace(held, right=held.weight))

"""A segment with many times the neighbours of any in training keeps the label that it is taken for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.labelling import SceneSettings, TrainingOptions, segment_scan, train_scenes
from gapcut.scenes.labelling.forest import of_segments
from gapcut.scenes.labelling.training import label_codes, learn_weights, scan_graphs
from street_samples import NAMES, street

GROUND, BUSH = 2, 11
SETTINGS = SceneSettings(voxel=0.2, segments="given")
OPTIONS = TrainingOptions(n_trees=12, folds=2, gap=0.05)
RAW = {"own": "learned", "degree_scale": "none", "incidence": True}
"""Sums over all neighbours count, as they are."""


def parted(seed: int, bushes: int, merged: bool) -> PointCloud:
    """A street with many low bushes, in segments: each of these bushes, and cubes of 2 m of each class; ``merged``: all
    of the ground is one segment."""
    scan, rng = street(seed), np.random.default_rng(seed)
    at = np.c_[rng.uniform(0.5, 23.5, bushes), rng.uniform(3, 11, bushes), np.full(bushes, 0.15)]
    more = at[:, None] + rng.normal(size=(bushes, 25, 3)) * [0.12, 0.12, 0.08]
    low = scan.xyz.min(axis=0)
    cube = np.floor((scan.xyz - low) / 2.0).astype(int) @ [10_000, 100, 1]
    cube[(scan.labels == GROUND) & merged] = 0
    own = np.where(scan.labels < 0, -1, cube * 100 + scan.labels)
    segments = np.r_[own, np.repeat(10**8 + np.arange(bushes), 25)]
    labels = np.r_[scan.labels, np.full(25 * bushes, BUSH)]
    return PointCloud(np.r_[scan.xyz, more.reshape(-1, 3) + low], labels, NAMES, segments=segments)


@pytest.fixture(scope="module")
def learned():
    return train_scenes([parted(i, 20, merged=False) for i in range(4)], SETTINGS, OPTIONS)


def neighbours(scan) -> np.ndarray:
    return np.bincount(scan.contacts.edges[:, 0], minlength=scan.n_segments)


def test_the_ground_with_ten_times_the_neighbours_stays_ground(learned):
    model, street_ = learned.model, parted(9, 200, merged=True)
    scan = segment_scan(street_, model.settings, (), label_codes(street_, model.numbers))
    ground = scan.point_segment[street_.labels == GROUND][0]
    assert neighbours(scan)[ground] > 10 * max(neighbours(s).max() for s in learned.scans)
    found = model.label(street_)
    assert (found.labels == street_.labels)[street_.labels == GROUND].all()
    assert (found.labels == street_.labels)[street_.labelled].mean() > 0.9


def test_sums_over_all_neighbours_would_flip_it(learned):
    """The same beliefs, with relations that add up over neighbours: what the recipe guards against."""
    model, street_ = learned.model, parted(9, 200, merged=True)
    scan = segment_scan(street_, model.settings)
    settings, options = replace(model.settings, nodes="log-odds"), replace(OPTIONS, **RAW)
    held = [np.exp(np.asarray(graph.node_features)) for graph in learned.graphs]
    belief = model.context.beliefs(scan, of_segments(model.forest, scan))
    train, test = (
        scan_graphs(scans, p, settings, model.class_names, weight_power=options.weight_power)
        for scans, p in ((learned.scans, held), ([scan], [belief]))
    )
    codes = np.asarray(learn_weights(train, range(len(NAMES)), options).predict(test)[0], dtype=int)
    ground = scan.point_segment[street_.labels == GROUND][0]
    assert belief[ground].argmax() == 0
    assert model.numbers[codes[ground]] != GROUND

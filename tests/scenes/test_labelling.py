"""Scans to labelled scans: contacts, forest arrays, confidences, features, the model and its file."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gapcut
from gapcut.data import Graph, GraphSet
from gapcut.inference.confidence import flip_energies, label_probabilities
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.groups import thin, voxel_sample
from gapcut.scenes.labelling import (
    SceneModel,
    SceneSettings,
    TrainingOptions,
    segment_scan,
    train_scenes,
    training,
)
from gapcut.scenes.labelling.forest import grow_forest, held_out_distributions, of_segments
from gapcut.scenes.labelling.graphs import EDGE_FEATURES, edge_names, node_names, relate, scan_graph
from gapcut.scenes.labelling.model import renumber_labels
from gapcut.scenes.labelling.scene import channel_values
from gapcut.scenes.labelling.segments import describe_segments, find_contacts
from gapcut.scenes.labelling.settings import GENERAL_EDGES
from gapcut.scenes.labelling.surroundings import (
    SCALE_FEATURES,
    columns,
    ground_heights,
    nested_samples,
    shapes_at_scale,
)
from gapcut.scenes.labelling.training import cut_scan, held_out, learn_scenes, learn_weights
from street_samples import NAMES, street

SETTINGS = SceneSettings(voxel=0.2, extent=1.0)
OPTIONS = TrainingOptions(n_trees=12, folds=3, gap=0.05)


@pytest.fixture(scope="module")
def trained():
    return train_scenes([street(i) for i in range(3)], SETTINGS, OPTIONS)


# --- thinning and surroundings


@pytest.mark.parametrize("seed", range(4))
def test_every_point_has_the_nearest_kept_one(seed):
    rng = np.random.default_rng(seed)
    xyz = rng.uniform(-3, 3, (400, 3))
    found = thin(xyz, 0.7)
    cubes = np.floor(xyz / 0.7)
    assert len(found.rows) == len(np.unique(cubes, axis=0))
    distance = np.linalg.norm(xyz[:, None] - xyz[found.rows][None], axis=2)
    assert np.allclose(distance[np.arange(400), found.keeper], distance.min(axis=1))
    assert np.array_equal(found.rows[found.keeper[found.rows]], found.rows)


def test_shapes_tell_lines_planes_and_balls():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (300, 3))
    bodies = {
        "wire": t * [4, 0, 0],
        "pole": t * [0, 0, 4],
        "floor": t * [3, 3, 0],
        "wall": t * [3, 0, 3],
        "ball": t,
    }
    name = {k: i for i, k in enumerate(SCALE_FEATURES)}
    mean = {k: shapes_at_scale(next(nested_samples(v, [0.05])), v, 0.05, 16) for k, v in bodies.items()}
    mean = {k: v.mean(axis=0) for k, v in mean.items()}
    assert min(mean["wire"][name["linearity"]], mean["pole"][name["linearity"]]) > 0.95
    assert min(mean["floor"][name["planarity"]], mean["wall"][name["planarity"]]) > 0.4
    assert mean["ball"][name["linearity"]] + mean["ball"][name["planarity"]] < 0.8
    assert mean["wall"][name["verticality"]] > 0.95
    assert mean["floor"][name["verticality"]] < 0.05
    assert mean["pole"][name["uprightness"]] > 0.95
    assert mean["wire"][name["uprightness"]] < 0.05
    assert mean["floor"][name["height range"]] == 0.0
    assert all((m >= 0).all() for m in mean.values())


def test_samples_of_cubes_in_cubes_are_those_of_all_points():
    rng = np.random.default_rng(2)
    xyz = rng.normal(size=(5000, 3)) * [30.0, 10.0, 4.0] + [-700.0, 0.1, 100.0]
    numbers = rng.permutation(5000) + 17
    for sizes in ((0.1, 0.2, 0.4, 0.8), (0.3, 1.2, 2.4), (0.3, 0.5, 1.0), (0.7, 0.7)):
        found = nested_samples(xyz, sizes, numbers)
        for size, kept in zip(sizes, found, strict=True):
            assert np.array_equal(kept, xyz[voxel_sample(xyz, size, 0, numbers)])
    assert np.array_equal(list(nested_samples(xyz, [0.2, 0.4]))[1], xyz[voxel_sample(xyz, 0.4, 0)])


def test_shapes_are_those_of_their_formulas():
    rng = np.random.default_rng(1)
    xyz = rng.normal(size=(200, 3)) * [3.0, 1.0, 0.4] + [500.0, 300.0, 100.0]
    found = shapes_at_scale(xyz, xyz[::3], 1e-3, 16)
    for i, row in zip(range(0, 200, 3), found, strict=True):
        far = np.linalg.norm(xyz - xyz[i], axis=1)
        around = xyz[np.argsort(far)[:16]]
        (l3, l2, l1), axes = np.linalg.eigh(np.cov(around.T, bias=True))
        z, span = xyz[i, 2] - around[:, 2].min(), np.ptp(around[:, 2])
        said = [(l1 - l2) / l1, (l2 - l3) / l1, 1 - abs(axes[2, 0]), abs(axes[2, 2]), span, z / (span + 1e-3)]
        assert np.allclose(row, [*said, np.sort(far)[:16].mean()], rtol=1e-5, atol=1e-6)


def test_ground_and_columns():
    flat = np.stack(np.meshgrid(np.arange(0, 20, 0.5), np.arange(0, 20, 0.5), [0.0]), -1).reshape(-1, 3)
    pole = np.c_[np.full(20, 10.1), np.full(20, 10.1), np.arange(0.5, 10.5, 0.5)]
    slope = np.array([0.05, 0.0])
    xyz = np.concatenate([flat, pole])
    xyz[:, 2] += xyz[:, :2] @ slope
    height = ground_heights(xyz, 1.0, 8.0)
    assert height[: len(flat)].max() < 0.1
    assert height[-1] == pytest.approx(10.0, abs=0.2)
    found = columns(xyz, height, 1.0, np.arange(len(xyz)))
    assert found[-1, 1] == pytest.approx(10.0, abs=0.1)
    assert found[-1, 2] > 0.9
    assert (found >= 0).all()


def test_one_stray_point_far_away_does_not_exhaust_memory():
    xyz = np.concatenate([np.random.default_rng(0).uniform(0, 5, (500, 3)), [[80_000.0, 90_000.0, 10.0]]])
    assert np.isfinite(ground_heights(xyz, 0.5, 10.0)).all()


# --- contacts


def brute_contacts(xyz, segments, cell):
    """The definition, word for word."""
    at = np.floor(xyz / cell).astype(int)
    patches = {}
    for place, segment, point in zip(map(tuple, at), segments, xyz, strict=True):
        patches.setdefault((place, segment), []).append(point)
    means = {key: np.mean(points, axis=0) for key, points in patches.items()}
    found = {}
    for a, b in itertools.combinations(means, 2):
        (pa, sa), (pb, sb) = a, b
        if sa == sb or np.abs(np.subtract(pa, pb)).max() > 1:
            continue
        line = means[a] - means[b]
        if np.linalg.norm(line) > 1.5 * cell:
            continue
        rise = np.sign(line[2]) if abs(line[2]) > np.hypot(line[0], line[1]) else 0
        for u, v, r in ((sa, sb, rise), (sb, sa, -rise)):
            found.setdefault((u, v), []).append((r, np.linalg.norm(line)))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_contacts_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 90))
    xyz = rng.uniform(0, 3, (n, 3))
    if seed % 3 == 0:
        xyz = np.round(xyz * 2) / 2  # ties, twins
    segments = rng.integers(0, max(1, n // 6), n)
    found = find_contacts(xyz, segments, 0.6)
    wanted = brute_contacts(xyz, segments, 0.6)
    assert [tuple(e) for e in found.edges] == sorted(wanted)
    for i, edge in enumerate(found.edges):
        rises, distances = np.array(wanted[tuple(edge)]).T
        assert found.size[i] == len(rises)
        assert found.above[i] == pytest.approx((rises > 0).mean())
        assert found.below[i] == pytest.approx((rises < 0).mean())
        assert found.distance[i] == pytest.approx(distances.mean())


# --- features of segments and edges


def box(low, high, n=400, seed=0):
    return np.random.default_rng(seed).uniform(low, high, (n, 3))


def related(parts, voxel=0.1, cell=0.4):
    xyz = np.concatenate(parts)
    segments = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
    table = describe_segments(xyz, xyz[:, 2] - xyz[:, 2].min(), segments, len(parts), voxel)
    contacts = find_contacts(xyz, segments, cell)
    chances = np.eye(len(parts))
    settings, names = SceneSettings(voxel=voxel, edges=EDGE_FEATURES).scaled(voxel), EDGE_FEATURES
    values = relate(contacts, table, chances, settings, np.zeros((len(parts), 0)))
    assert (values >= 0).all()
    assert (table.values >= 0).all()
    edges = {
        tuple(e): dict(zip(names, row, strict=True)) for e, row in zip(contacts.edges, values, strict=True)
    }
    return edges, table


def test_a_column_on_a_plate():
    edges, table = related([box([0, 0, 0], [3, 3, 0.05], 2000), box([1.4, 1.4, 0.1], [1.6, 1.6, 3], 600)])
    up, down = edges[1, 0], edges[0, 1]
    assert up["on top of"] > 0.25
    assert up["below"] == 0.0
    assert down["below"] == up["on top of"]
    assert up["higher"] > 0
    assert down["higher"] == 0
    assert down["lower"] == up["higher"]
    assert up["size ratio"] + down["size ratio"] == pytest.approx(1.0)
    assert up["similarity"] == 0.0
    assert up["contact share"] == 1.0
    assert table.values[1, 7] > 0.99  # uprightness of the column


def test_plates_in_one_plane_and_across():
    floor = box([0, 0, 0], [3, 3, 0.02], 1500)
    further = box([3.02, 0, 0], [6, 3, 0.02], 1500, 1)
    wall = box([0, 3.02, 0.02], [3, 3.04, 3], 1500, 2)
    edges, _ = related([floor, further, wall])
    assert edges[0, 1]["coplanar"] > 0.5
    assert edges[0, 2]["coplanar"] < 0.1
    assert edges[0, 2]["perpendicular"] > 0.5
    assert edges[0, 1]["perpendicular"] < 0.2
    assert edges[0, 1]["beside"] > 0.9


def test_members_in_line_are_aligned_and_a_strut_is_perpendicular():
    bars = [box([0, 0, 0], [3, 0.1, 0.1], 400), box([3.02, 0, 0], [6, 0.1, 0.1], 400, 1)]
    strut = box([1.5, 0.12, 0], [1.6, 3, 0.1], 400, 2)
    edges, _ = related([*bars, strut])
    assert edges[0, 1]["alignment"] > 0.99
    assert edges[0, 1]["direction consistency"] > 0.99
    assert edges[0, 2]["perpendicularity"] > 0.99
    assert edges[0, 2]["alignment"] < 0.8


def test_bars_side_by_side_are_parallel():
    bars = [box([0, y, 0], [4, y + 0.1, 0.1], 400, k) for k, y in enumerate((0, 0.3))]
    post = box([4.1, 0, 0], [4.2, 0.1, 3], 400, 3)
    edges, _ = related([*bars, post])
    assert edges[0, 1]["parallel"] > 0.9
    assert edges[0, 2]["parallel"] < 0.2


# --- temperature


def test_the_temperature_comes_from_weights_that_have_not_seen_the_graphs():
    """Labels that no feature tells: weights that know them are sure, and the held-out ones must not be."""
    rng = np.random.default_rng(0)
    graphs = GraphSet(
        Graph(rng.normal(size=(15, 30)), None, labels=rng.integers(0, 2, 15), node_weights=np.ones(15))
        for _ in range(6)
    )
    options = TrainingOptions(C=100.0, gap=0.05, folds=3, own="learned", oracle="cut")
    svm = learn_weights(graphs, [0, 1], options)
    temperature = held_out(graphs, 2, options).temperature
    sure, right = [], []
    for g, solution in zip(graphs, svm.solutions(graphs), strict=True):
        chances = label_probabilities(flip_energies(svm.energy(g), solution.labels), temperature)
        sure.append(chances.max(axis=1))
        right.append(np.asarray(solution.labels) == g.labels)
    assert np.mean(right) > 0.75
    assert np.mean(np.concatenate(sure)) < 0.62


# --- Ctrl-C and the time limit


@pytest.fixture
def learned(monkeypatch):
    """The options of every learning run; one that ``stop`` holds the number of is stopped by the user."""
    runs, stop, real = [], set(), learn_weights

    def press(record):
        raise KeyboardInterrupt

    def learn(graphs, classes, options, callback=None):
        runs.append(options)
        return real(graphs, classes, options, press if len(runs) in stop else callback)

    monkeypatch.setattr(training, "learn_weights", learn)
    return runs, stop


def relearn(trained, options):
    return learn_scenes(trained.scans, trained.model.settings, (), trained.model.names, options)


def test_ctrl_c_in_a_held_out_run_ends_all(trained, learned):
    runs, stop = learned
    stop.add(2)
    with pytest.raises(KeyboardInterrupt):
        relearn(trained, OPTIONS)
    assert len(runs) == 2


def test_ctrl_c_in_the_final_run_keeps_the_best_so_far(trained, learned):
    runs, stop = learned
    stop.add(7)
    model = relearn(trained, replace(OPTIONS, gap=1e-9, C_values=(0.1, 1.0))).model
    assert len(runs) == 7
    assert model.learner.certificate_.status == "stopped"
    assert model.temperature > 0


def test_the_time_limit_is_for_choice_and_final_run_together(trained, learned):
    runs, _ = learned
    model = relearn(trained, replace(OPTIONS, time_limit=60.0)).model
    *held, last = [options.time_limit for options in runs]
    assert held == pytest.approx([5.0] * 6)
    assert 30.0 <= last < 60.0
    assert model.learner.time_limit == 60.0


# --- the whole way


def confusion_of(right: int, wrong: int, rare: int) -> np.ndarray:
    """(2, 2) points of a scan: ``right`` and ``wrong`` of the frequent class, ``rare`` right ones of the other."""
    return np.array([[right, wrong], [0, rare]])


def test_another_c_is_taken_where_it_is_better_on_many_scans_only():
    usual = np.stack([confusion_of(90 + i % 3, 10, 5) for i in range(6)])
    better = np.stack([confusion_of(95 + i % 3, 5, 5) for i in range(6)])
    lucky = usual.copy()
    lucky[2] = confusion_of(100, 0, 60)  # more in the sum than `better`, all of it in one scan
    assert training.clearly_best(np.stack([lucky, usual]), 1) == 1
    assert training.clearly_best(np.stack([better, usual]), 1) == 0
    assert training.clearly_best(np.stack([better, usual, lucky]), 1) == 0
    assert training.clearly_best(np.stack([usual, better]), 1) == 1
    assert training.clearly_best(np.stack([usual, usual]), 1) == 1
    assert training.clearly_best(usual[None], 0) == 0


def test_the_second_forest_says_little_of_what_it_has_seen_little(trained):
    """Its share grows with the labelled segments of a class."""
    counts = np.zeros(len(NAMES), int)
    for scan in trained.scans:
        count = scan.label_counts(len(NAMES))
        counts += np.bincount(count[count.sum(axis=1) > 0].argmax(axis=1), minlength=len(NAMES))
    share = trained.model.context.share
    assert np.allclose(share, 0.5 * counts / (counts + OPTIONS.context_support))
    scan = trained.scans[0]
    alone = np.full((scan.n_segments, len(NAMES)), 1 / len(NAMES))
    never = replace(trained.model.context, share=np.zeros(len(NAMES)))
    assert np.allclose(never.beliefs(scan, alone), alone)


def test_streets_are_labelled(trained):
    assert trained.model.learner.certificate_.status == "certified"
    scan = street(7)
    found = trained.model.label(scan)
    known = scan.labelled
    assert (found.labels == scan.labels)[known].mean() > 0.95
    for label in (6, 9):
        assert (found.labels == label)[scan.labels == label].mean() > 0.6
    assert set(np.unique(found.labels)) <= set(NAMES)
    assert found.confidence.dtype == np.float32
    assert ((found.confidence > 0) & (found.confidence <= 1)).all()
    assert found.solution.status == "optimal"
    assert set(found.seconds) >= {"thinning", "segments", "point features", "contacts", "forest", "inference"}


def test_confidences_are_about_the_share_that_is_right(trained):
    right, sure = [], []
    for seed in (7, 8, 9):
        scan = street(seed)
        found = trained.model.label(scan)
        right.append((found.labels == scan.labels)[scan.labelled].mean())
        sure.append(found.confidence[scan.labelled].mean())
    assert abs(np.mean(right) - np.mean(sure)) < 0.05


def test_order_of_the_points_is_kept(trained):
    scan = street(8)
    found = trained.model.label(scan)
    out = found.on(scan, trained.model.names)
    assert np.array_equal(out.xyz, scan.xyz)
    assert np.array_equal(out.extra["truth"], scan.labels)
    assert np.array_equal(out.segments, found.segments)
    for segment in np.unique(found.segments)[:20]:
        assert len(np.unique(found.labels[found.segments == segment])) == 1


def test_the_file_gives_the_same_model_and_threads_the_same_labels(trained, tmp_path: Path):
    path = tmp_path / "m.gapcut"
    trained.model.save(path)
    again = SceneModel.load(path)
    assert again.settings == trained.model.settings
    assert again.names == trained.model.names
    scan = street(9)
    a, b = trained.model.label(scan), again.label(scan, n_threads=2)
    assert np.array_equal(a.labels, b.labels)
    assert np.array_equal(a.confidence, b.confidence)
    assert a.solution.energy == b.solution.energy
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(gapcut.ModelFileError, match="damaged or altered"):
        SceneModel.load(path)


def test_the_two_kinds_of_model_are_told_apart(trained, tmp_path: Path):
    trained.model.save(tmp_path / "scenes.gapcut")
    trained.model.learner.save(tmp_path / "graphs.gapcut")
    with pytest.raises(gapcut.ModelFileError, match="use gapcut label"):
        gapcut.StructuredSVM.load(tmp_path / "scenes.gapcut")
    with pytest.raises(gapcut.ModelFileError, match="gapcut scenes train"):
        SceneModel.load(tmp_path / "graphs.gapcut")


def test_training_distributions_come_from_forests_that_have_not_seen_them():
    """Labels without any sense: a forest knows those it has seen and no others."""
    clouds = []
    for i in range(3):
        scan = street(i)
        cube = np.floor(scan.xyz).astype(np.int64) @ [1, 31, 977]
        labels = np.random.default_rng(i).integers(0, 2, 10**4)[cube % 10**4]
        clouds.append(scan.replace(labels=labels, label_names={}))
    found = train_scenes(clouds, SETTINGS, OPTIONS)
    for scan, graph in zip(found.scans, found.graphs, strict=True):
        seen = of_segments(found.model.forest, scan)
        held = np.exp(np.asarray(graph.node_features))
        true, rows = scan.label_counts(2).argmax(axis=1), np.arange(scan.n_segments)
        assert seen[rows, true].mean() > held[rows, true].mean() + 0.1
        assert np.allclose(held.sum(axis=1), 1, atol=2e-3)  # clipped at 0.001


def test_the_points_that_thinning_keeps_keep_their_viewpoints(monkeypatch: pytest.MonkeyPatch):
    cloud, given = street(3), []

    def watched(*args):
        given.append(args[5])
        return np.zeros((len(args[2]), 1), dtype=np.float32)

    monkeypatch.setattr("gapcut.scenes.labelling.scene.point_features", watched)
    seen_from = cloud.local + np.arange(cloud.n_points)[:, None]
    scan = segment_scan(cloud, SceneSettings(points=("shot",)).scaled(0.2), viewpoints=seen_from)
    assert len(scan.kept) < cloud.n_points
    np.testing.assert_array_equal(given[0], seen_from[scan.kept])


def test_a_scan_is_cut_into_slabs():
    scan = street(0)
    slabs = cut_scan(scan, 4)
    assert sum(s.n_points for s in slabs) == scan.n_points
    labelled = [int(s.labelled.sum()) for s in slabs]
    assert max(labelled) - min(labelled) < 20
    for a, b in itertools.pairwise(slabs):
        assert a.xyz[:, 0].max() <= b.xyz[:, 0].min()
    assert cut_scan(scan, 1) == [scan]


def test_one_scan_is_enough():
    model = train_scenes([street(0)], SETTINGS, OPTIONS).model
    scan = street(1)
    assert (model.label(scan).labels == scan.labels)[scan.labelled].mean() > 0.9


def test_colour_is_used_where_every_scan_has_it_and_then_needed():
    model = train_scenes([street(i, colour=True) for i in range(2)], SETTINGS, OPTIONS).model
    assert model.channels == ("colour",)
    assert len(model.learner.pipeline_.raw_columns.edge) == len(GENERAL_EDGES) + 1
    with pytest.raises(ValueError, match="street-5 has no colour, but the model was trained with it"):
        model.label(street(5))
    mixed = train_scenes([street(0, colour=True), street(1)], SETTINGS, OPTIONS).model
    assert mixed.channels == ()


def test_tiny_scans_get_labels(trained):
    rng = np.random.default_rng(0)
    for xyz in (
        [[0.0, 0.0, 0.0]],
        np.zeros((40, 3)),
        rng.uniform(0, 1, (3, 3)),
        rng.uniform(0, 500, (30, 3)),
    ):
        found = trained.model.label(PointCloud(np.asarray(xyz) + np.array([500_000, 6_000_000, 0])))
        assert set(found.labels.tolist()) <= set(NAMES)
        assert np.isfinite(found.confidence).all()


def test_what_cannot_be_learned_from_is_refused():
    with pytest.raises(ValueError, match="no scans"):
        train_scenes([])
    with pytest.raises(ValueError, match="plain holds no labels"):
        train_scenes([street(0), PointCloud(street(1).xyz, name="plain")])
    one = street(0)
    with pytest.raises(ValueError, match="two or more"):
        train_scenes([one.replace(labels=np.full(one.n_points, 3))])
    other = street(1).replace(label_names={**NAMES, 5: "house"})
    with pytest.raises(ValueError, match="label 5 is 'house', but 'wall'"):
        train_scenes([one, other])
    with pytest.raises(ValueError, match="unknown channel 'smell'"):
        train_scenes([one], options=replace(OPTIONS, channels=("smell",)))
    with pytest.raises(ValueError, match="scene setting voxel=-1"):
        SceneSettings(voxel=-1)


def test_labels_are_matched_by_name():
    old = {7: "wall", 1: "sea", 3: "sky"}
    truth, more = renumber_labels(np.array([7, 1, 3, -1]), old, {1: "wall", 3: "pole"})
    assert truth[0] == 1
    assert truth[3] == -1
    assert more == {int(truth[1]): "sea", int(truth[2]): "sky"}
    assert not {1, 3} & set(more)


def test_what_was_added_is_replaced_and_nothing_else(trained):
    scan = street(8)
    mine = {"confidence": np.arange(scan.n_points), "truth": np.ones(scan.n_points, dtype=int)}
    scan = scan.replace(segments=np.arange(scan.n_points), extra=mine)
    found = trained.model.label(scan)
    once = found.on(scan, trained.model.names)
    assert once.added == ("label", "segment", "confidence", "truth")
    assert np.array_equal(once.extra["other_segment"], scan.segments)
    for name, values in mine.items():
        assert np.array_equal(once.extra[f"other_{name}"], values)
    twice = found.on(once, {**trained.model.names, 90: "new"})
    assert set(twice.extra) == set(once.extra)
    assert np.array_equal(twice.extra["truth"], scan.labels)  # not the labels of the first time
    bare = found.on(scan.replace(labels=None), trained.model.names)
    assert "truth" not in found.on(bare, trained.model.names).extra


def test_labels_without_names_are_matched_by_number():
    truth, more = renumber_labels(np.array([1, 5, -1, 3]), {3: "pole"}, {1: "wall", 3: "sky", 4: "pole"})
    assert truth.tolist() == [1, 5, -1, 4]
    assert more == {5: "5"}


def test_graphs_weigh_segments_by_points(trained):
    scan = trained.scans[0]
    p = of_segments(trained.model.forest, scan)
    graph = scan_graph(scan, p, trained.model.settings, 0.5)
    counts = scan.label_counts(p.shape[1]).sum(axis=1)
    assert np.allclose(graph.node_weights[counts > 0], np.sqrt(counts[counts > 0]))
    assert scan.size.sum() == len(scan.point_segment)


def test_settings_follow_the_spacing():
    fine, coarse = SceneSettings().scaled(0.05), SceneSettings().scaled(0.5)
    assert coarse.lengths == pytest.approx({k: 10 * v for k, v in fine.lengths.items()})
    assert SceneSettings.from_state(fine.to_state()) == fine
    with pytest.raises(ValueError, match="is not set"):
        segment_scan(street(0), SceneSettings())


# --- segments that are given, and what forests and edges are told


def parted(seed: int) -> PointCloud:
    """A street whose parts are given: a segment a label and metre; unlabelled points are in none."""
    scan = street(seed)
    part = np.where(scan.labelled, scan.labels * 100 + (scan.local[:, 0] % 24).astype(np.int64), -1)
    return scan.replace(segments=part)


def test_given_segments_are_the_nodes():
    scan = parted(0)
    settings = SceneSettings(voxel=0.2, segments="given", nodes="log-odds").scaled(0.1)
    found = segment_scan(scan, settings, codes=np.where(scan.labels == 6, 1, 0))
    inside = scan.segments >= 0
    assert found.n_segments == len(np.unique(scan.segments[inside]))
    assert np.array_equal(found.point_segment < 0, ~inside)
    assert len(np.unique(np.c_[found.point_segment, scan.segments], axis=0)) == found.n_segments + 1
    graph = scan_graph(
        found, np.full((found.n_segments, 2), 0.25), settings, classes=np.array(["other", "pole"])
    )
    assert set(graph.labels) == {"other", "pole"}
    assert graph.node_dim == len(node_names(["other", "pole"], (), settings)) == 4
    assert graph.edge_dim == len(edge_names((), settings))
    with pytest.raises(ValueError, match="street-0 carries no segments"):
        segment_scan(street(0), settings)


def test_a_model_of_given_segments_labels_them_and_nothing_else(tmp_path: Path):
    wanted = SceneSettings(voxel=0.2, segments="given", points=("shot", "shape", "segment"), per_segment=8)
    trained = train_scenes([parted(i) for i in range(2)], wanted, replace(OPTIONS, n_trees=6))
    trained.model.save(tmp_path / "m.gapcut")
    scan = parted(3)
    found = SceneModel.load(tmp_path / "m.gapcut").label(scan)
    assert np.array_equal(found.labels < 0, scan.segments < 0)
    assert (found.labels == scan.labels)[scan.labelled].mean() > 0.9


def test_shares_of_the_parts_are_kept_from_forests_that_describe_them():
    """Labels at random, a part each: a forest knows those it has seen and no others."""
    scans = []
    for i in range(2):
        scan, settings = parted(i), SceneSettings(voxel=0.2, segments="given").scaled(0.1)
        luck = np.random.default_rng(i).integers(0, 2, scan.segments.max() + 1)
        scans.append(
            segment_scan(scan, settings, codes=np.where(scan.segments >= 0, luck[scan.segments], -1))
        )
    folds = [np.arange(scan.n_segments) % 3 for scan in scans]
    options = replace(OPTIONS, balance=1.0)
    found = held_out_distributions(scans, folds, 2, options)
    right = [
        p.argmax(axis=1) == scan.label_counts(2).argmax(axis=1) for p, scan in zip(found, scans, strict=True)
    ]
    assert np.concatenate(right).mean() < 0.75


@pytest.mark.parametrize(("power", "share"), [(0.0, 0.1), (1.0, 0.5)])
def test_points_of_a_rare_class_count_as_much_as_the_others_where_asked(power, share):
    """Rows that are all alike: leaves hold nothing but the weights of the classes."""
    codes = np.array([0] * 900 + [1] * 100)
    rows = np.zeros((1000, 2), dtype=np.float32)
    scan = SimpleNamespace(
        labels=codes, kept=np.arange(1000), sample=np.arange(1000), forest_rows=lambda at: rows[at]
    )
    forest = grow_forest([scan], 2, replace(OPTIONS, balance=0.0, n_trees=20, tree_balance=power))
    assert forest.probabilities(rows[:1])[0] == pytest.approx([1 - share, share], abs=0.05)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"segments": "drawn"}, "segments='drawn'"),
        ({"edges": ("smell",)}, "edges='smell'"),
        ({"points": ()}, "kind"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong, reason):
    with pytest.raises(ValueError, match=reason):
        SceneSettings(**wrong)


# --- the learner


def test_labels_are_found_by_the_method_the_model_asks_for(trained, monkeypatch):
    """The setting ``inference`` of the learner, also of one that was saved."""
    asked = []

    def solve(energy, method="auto", time_limit=None):
        asked.append(method)
        return gapcut.solve(energy, method=method, time_limit=time_limit)

    monkeypatch.setattr("gapcut.scenes.labelling.model.solve", solve)
    state = trained.model.learner.to_state()
    greedy = gapcut.Machine.from_state(*state).set_params(inference="icm")
    scan = street(7)
    best = trained.model.label(scan)
    found = replace(trained.model, learner=greedy).label(scan)
    assert asked == ["auto", "icm"]
    assert best.solution.status == "optimal"
    assert found.solution.status != "optimal"
    assert found.solution.energy >= best.solution.energy


def test_labelling_does_without_scikit_learn():
    code = "import sys, gapcut.scenes.labelling, gapcut.report.run; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_scan_unlike_the_training_scans_is_told(trained, tmp_path: Path):
    model, rng = trained.model, np.random.default_rng(0)
    usual = model.familiar.usual
    assert 0.1 <= usual < 0.3
    like, unlike = (
        model.label(street(8)),
        model.label(PointCloud(rng.uniform(0, 8, (6000, 3))), time_limit=1.0),
    )
    assert not model.familiar.unlike(like.strange)
    assert unlike.strange > 0.5
    assert model.familiar.unlike(unlike.strange)
    model.save(tmp_path / "m.gapcut")
    assert SceneModel.load(tmp_path / "m.gapcut").label(street(8)).strange == like.strange


def test_unknown_intensity_counts_as_the_median():
    cloud = PointCloud(np.eye(5, 3), intensity=[0, 1, np.nan, 3, 4])
    same = cloud.replace(intensity=[0, 1, 2, 3, 4])
    at = np.array([0, 1, 3, 4])
    got, known = channel_values(cloud, ["intensity"]), channel_values(same.select(at), ["intensity"])
    assert np.array_equal(got[at], known)
    assert got[2] == pytest.approx(2 / np.quantile([0, 1, 3, 4], 0.95))
    with pytest.raises(ValueError, match="has no intensity but NaN"):
        channel_values(cloud.replace(intensity=np.full(5, np.nan)), ["intensity"])

"""Streets that nothing has seen: the twelve labelled scans of Oakland, left out in turn, beside what others would do.

``python benchmarks/streets.py --shared ../shared [--leave 2] [--folds 2] [--rows 30000]``

A fold leaves ``--leave`` neighbouring scans out and learns from all others; C, held-out distributions and temperature
come from inner folds over whole streets of those. Rows:

- *gapcut*: ``gapcut.scenes.labelling`` as it is by default, but for ``--rows`` and ``--inner``;
- *both forests*: what it believes before it relates segments, *its own forest*: mean of the first one over a segment;
- *point-wise forest*: our features of points, a random forest, no segments;
- *eigenvalue features*: shape of the neighbourhood at four radii (jakteristics), heights, a random forest; left out
  where jakteristics is not installed.

Point-wise rows work on one point a voxel, like ours, and every point has the label of the nearest kept one. All forests
are grown on as many rows (``--rows``), drawn by the same rule. Lengths (the voxel) come from the points of all scans,
no labels. Confidence of a forest is its largest share.

``--survey airborne``: tiles from the air (surveys.py) in the place of streets, and what a model of all streets says of
them, which has seen nothing from above.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from surveys import SURVEYS, Survey, as_street

from gapcut.classifiers import TreeForest
from gapcut.engines import describe_machine
from gapcut.metrics import score_labels
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.datasets import load_oakland
from gapcut.scenes.groups import thin
from gapcut.scenes.labelling import SceneSettings, SegmentedScan, TrainingOptions, segment_scan, train_scenes
from gapcut.scenes.labelling.forest import drawing_chances, of_segments
from gapcut.scenes.labelling.scene import channel_values
from gapcut.scenes.labelling.surroundings import columns, ground_heights, point_features
from gapcut.scenes.labelling.training import cut_scan, label_codes, learn_scenes

try:
    import jakteristics
except ImportError:
    jakteristics = None

RADII = (0.4, 0.8, 1.6, 3.2)
EIGEN = (
    *("linearity", "planarity", "sphericity", "verticality", "surface_variation", "omnivariance"),
    *("eigenentropy", "anisotropy", "number_of_neighbors", "eigenvalue1", "eigenvalue3", "nz"),
)
BINS = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01))


@dataclass(eq=False)
class Street:
    """A scan; ``pieces``: the same cut for inner folds; ``keeper`` (N,) which kept point each point takes its label
    from; features (M, F) of all kept points by rival; ``known`` (N,) points with a label."""

    scan: SegmentedScan
    pieces: list[SegmentedScan]
    keeper: np.ndarray
    features: dict[str, np.ndarray]

    @property
    def known(self) -> np.ndarray:
        return self.scan.labels >= 0

    @property
    def truth(self) -> np.ndarray:
        return self.scan.labels[self.known]


@dataclass(eq=False)
class Row:
    """What one method says of all streets: labels and confidences of their labelled points."""

    labels: list[np.ndarray] = field(default_factory=list)
    sure: list[np.ndarray] = field(default_factory=list)

    def add(self, labels: np.ndarray, sure: np.ndarray) -> None:
        self.labels.append(labels)
        self.sure.append(sure.astype(np.float64))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("GAPCUT_SHARED", "../shared")))
    parser.add_argument("--survey", choices=SURVEYS, default="streets")
    parser.add_argument("--leave", type=int, default=1, help="neighbouring scans left out together")
    parser.add_argument("--folds", type=int, help="only so many of the outer folds")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--inner", type=int, default=5, help="inner folds")
    parser.add_argument("--cache", type=Path, help="folder that keeps segments and features")
    parser.add_argument("--describe", action="store_true", help="fill the cache, and no more")
    parser.add_argument("--model", type=Path, help="save a model of part 2 here, and no more")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    say = Clock()
    if given.model:
        train, _ = load_oakland(given.shared / "data" / "oakland")
        train_scenes(train, options=TrainingOptions(n_jobs=given.jobs), say=say).model.save(given.model)
        return
    survey = SURVEYS[given.survey](given.shared / "data")
    streets, settings = read_streets(survey, given.cache, given.jobs, say)
    if given.describe:
        return
    options = TrainingOptions(rows=given.rows, folds=given.inner, n_jobs=given.jobs)
    rows: dict[str, Row] = {}
    tested: list[Street] = []
    notes: list[list[str]] = []
    for start in range(0, len(streets), given.leave)[: given.folds]:
        test = streets[start : start + given.leave]
        train = [s for s in streets if s not in test]
        notes += ours(train, test, settings, survey, options, rows)
        for name in test[0].features:
            point_wise(name, train, test, len(survey.names), options, rows)
        tested += test
        say(f"{len(tested)} of {len(streets)}\n{table(rows, tested, survey)}")
    print(table(rows, tested, survey))
    print(reliability(rows, tested))
    print(by_street(rows, tested, notes, survey.what))
    if given.survey == "airborne":
        known = SURVEYS["streets"](given.shared / "data")
        seen, size = read_streets(known, given.cache, given.jobs, say)
        print(elsewhere(known, seen, size, survey, options))


class Clock:
    """Tells lines with the CPU seconds so far."""

    def __call__(self, line: str) -> None:
        print(f"{time.process_time():6.0f} s CPU: {line}", file=sys.stderr, flush=True)


def read_streets(
    survey: Survey, cache: Path | None, jobs: int, say: Clock
) -> tuple[list[Street], SceneSettings]:
    """All scans described, from the folder ``cache`` where they are there (by this program: pickles)."""
    settings, streets = SceneSettings().for_scans([c.local for c in survey.clouds]), []
    for cloud in survey.clouds:
        path = None if cache is None else cache / f"{cloud.name}.pickle"
        if path is not None and path.is_file():
            streets.append(pickle.loads(path.read_bytes()))
            continue
        streets.append(describe(cloud, settings, survey, jobs))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pickle.dumps(streets[-1]))
        say(f"{cloud.name}: {streets[-1].scan.n_segments} segments")
    return streets, settings


def describe(cloud: PointCloud, settings: SceneSettings, survey: Survey, jobs: int) -> Street:
    """Segments and features of a scan."""
    labels = range(len(survey.names))
    scan = segment_scan(cloud, settings, survey.channels, label_codes(cloud, labels), jobs)
    slabs = cut_scan(cloud, survey.cuts) if survey.cuts > 1 else []
    pieces = [
        segment_scan(slab, settings, survey.channels, label_codes(slab, labels), jobs) for slab in slabs
    ] or [scan]
    height = ground_heights(scan.xyz, settings.lengths["ground_cell"], settings.lengths["ground_window"])
    everyone, extra = np.arange(len(scan.xyz)), channel_values(cloud, survey.channels)[scan.kept]
    features = {
        "point-wise forest": point_features(scan.xyz, height, everyone, settings, extra, n_threads=jobs)
    }
    if jakteristics is not None:
        shapes = eigenvalue_features(scan.xyz, height, jobs)
        features["eigenvalue features"] = np.column_stack([shapes, extra.astype(np.float32)])
    keeper = thin(cloud.local, settings.lengths["voxel"], jobs).keeper
    return Street(scan, pieces, keeper, features)


def eigenvalue_features(xyz: np.ndarray, height: np.ndarray, jobs: int) -> np.ndarray:
    """(M, 4 x 12 + 8) as people do: at each radius r from one point a cube of r / 6; height above ground, and columns
    of 0.5 and 1 m."""
    found = []
    for radius in RADII:
        cube = np.floor((xyz - xyz.min(axis=0)) / (radius / 6)).astype(np.int64)
        _, first, place = np.unique(cube, axis=0, return_index=True, return_inverse=True)
        kept = np.ascontiguousarray(xyz[first])
        shapes = jakteristics.compute_features(
            kept, search_radius=radius, feature_names=list(EIGEN), num_threads=jobs
        )
        found.append(shapes[place.ravel()])
    everyone = np.arange(len(xyz))
    found += [columns(xyz, height, wide, everyone) for wide in (0.5, 1.0)]
    return np.nan_to_num(np.column_stack(found).astype(np.float32), posinf=0.0, neginf=0.0)


def ours(
    train: list[Street],
    test: list[Street],
    settings: SceneSettings,
    survey: Survey,
    options: TrainingOptions,
    rows: dict[str, Row],
) -> list[list[str]]:
    """Label the test streets; how strange each one is, whether that is told, and the C that was chosen."""
    pieces = [piece for s in train for piece in s.pieces]
    model = learn_scenes(pieces, settings, survey.channels, dict(enumerate(survey.names)), options).model
    notes = []
    for street in test:
        scan, known = street.scan, street.known
        alone = of_segments(model.forest, scan)
        both = model.context.beliefs(scan, alone)
        for name, p in (("its own forest", alone), ("both forests", both)):
            of_point = p[scan.point_segment][known]
            rows.setdefault(name, Row()).add(of_point.argmax(axis=1), of_point.max(axis=1))
        found = model.label_segments(scan)
        rows.setdefault("gapcut", Row()).add(found.labels[known], found.confidence[known])
        told = "yes" if model.familiar.unlike(found.strange) else "no"
        notes.append([f"{found.strange:.2f} ({model.familiar.usual:.2f})", told, f"{model.learner.C:g}"])
    return notes


def point_wise(
    name: str, train: list[Street], test: list[Street], k: int, options: TrainingOptions, rows: dict[str, Row]
) -> None:
    """A random forest of as many trees, on as many points drawn by the same rule, without segments."""
    rng = np.random.default_rng(0)
    codes = [s.scan.labels[s.scan.kept] for s in train]
    counts = np.bincount(np.concatenate([c[c >= 0] for c in codes]), minlength=k)
    chance = np.append(drawing_chances(counts, options.rows, options.balance), 0.0)
    drawn = [rng.random(len(c)) < chance[c] for c in codes]
    grown = RandomForestClassifier(
        options.n_trees, min_samples_leaf=options.least_leaf, random_state=0, n_jobs=options.n_jobs
    ).fit(
        np.concatenate([s.features[name][d] for s, d in zip(train, drawn, strict=True)]),
        np.concatenate([c[d] for c, d in zip(codes, drawn, strict=True)]),
    )
    forest = TreeForest.of_sklearn(grown, k)
    for street in test:
        p = forest.probabilities(street.features[name])
        of_point = p[street.keeper][street.known]
        rows.setdefault(name, Row()).add(of_point.argmax(axis=1), of_point.max(axis=1))


def calibration(sure: np.ndarray, right: np.ndarray) -> tuple[float, list[list[float]]]:
    """Expected calibration error over ``BINS``; share, mean confidence and share that is right of each bin."""
    error, bins = 0.0, []
    for low, high in BINS:
        inside = (sure >= low) & (sure < high)
        share = float(inside.mean())
        mean, true = (float(v[inside].mean()) if share else float("nan") for v in (sure, right))
        error += share * abs(mean - true) if share else 0.0
        bins.append([share, mean, true])
    return error, bins


def table(rows: dict[str, Row], streets: list[Street], survey: Survey) -> str:
    names, what = survey.names, survey.what
    head = ["labelled by", "accuracy: mean", f"worst {what}", "macro F1", *names]
    lines = [[*head, "calibration error: mean", "worst", f"fresh {what}s: mean, macro F1"]]
    fresh = [i for i, s in enumerate(streets) if s.scan.name not in survey.looked_at]
    fresh = fresh or list(range(len(streets)))
    truth = [s.truth for s in streets]
    for name, row in rows.items():
        scores = score_labels(truth, row.labels, np.arange(len(names)))
        each = [float((a == b).mean()) for a, b in zip(truth, row.labels, strict=True)]
        errors = [
            calibration(sure, a == b)[0] for a, b, sure in zip(truth, row.labels, row.sure, strict=True)
        ]
        cells = [f"{100 * np.mean(each):.2f} %", f"{100 * min(each):.2f} %", f"{scores.macro_f1:.3f}"]
        cells += [f"{c.f1:.3f}" for c in scores.classes]
        cells += [f"{np.mean(errors):.4f}", f"{max(errors):.4f}"]
        some = score_labels([truth[i] for i in fresh], [row.labels[i] for i in fresh], np.arange(len(names)))
        cells.append(f"{100 * np.mean([each[i] for i in fresh]):.2f} %, {some.macro_f1:.3f}")
        lines.append([name, *cells])
    return markdown(lines)


def reliability(rows: dict[str, Row], streets: list[Street]) -> str:
    """Points of all streets together, by confidence."""
    chosen = ("gapcut", "both forests", "its own forest")
    lines = [["confidence", *(f"{name}: points, mean, right" for name in chosen)]]
    truth = np.concatenate([s.truth for s in streets])
    found = []
    for name in chosen:
        sure, labels = np.concatenate(rows[name].sure), np.concatenate(rows[name].labels)
        found.append(calibration(sure, labels == truth)[1])
    for i, (low, high) in enumerate(BINS):
        cells = [
            f"{100 * share:.1f} %, {mean:.3f}, {100 * true:.1f} %"
            for share, mean, true in (bins[i] for bins in found)
        ]
        lines.append([f"{low:g} to {min(high, 1):g}", *cells])
    return markdown(lines)


def by_street(rows: dict[str, Row], streets: list[Street], notes: list[list[str]], what: str) -> str:
    lines = [[what, "segments", *(f"{name} %" for name in rows), "strange (training)", "told", "C"]]
    for i, (street, note) in enumerate(zip(streets, notes, strict=True)):
        right = [f"{100 * (row.labels[i] == street.truth).mean():.1f}" for row in rows.values()]
        name = street.scan.name.removeprefix("oakland_").replace("_", " ")
        lines.append([name, f"{street.scan.n_segments:,}", *right, *note])
    return markdown(lines)


def elsewhere(
    known: Survey, seen: list[Street], settings: SceneSettings, survey: Survey, options: TrainingOptions
) -> str:
    """What a model of all streets says of the scans of another survey. Labels without a counterpart there are wrong."""
    model = learn_scenes([s.scan for s in seen], settings, (), dict(enumerate(known.names)), options).model
    head = ["tile, by a model of streets", "labelled points", "gapcut right", "its own forest right"]
    lines = [
        [
            *head,
            *(f"{name} found" for name in survey.names),
            "calibration error",
            "strange (training)",
            "told",
        ]
    ]
    for cloud in survey.clouds:
        scan = segment_scan(cloud, settings, (), None, options.n_jobs or 1)
        truth = as_street(label_codes(cloud, range(len(survey.names))), survey.names)
        is_known, found = truth >= 0, model.label_segments(scan)
        truth, right = truth[is_known], (found.labels == truth)[is_known]
        alone = of_segments(model.forest, scan).argmax(axis=1)[scan.point_segment][is_known]
        error, _ = calibration(found.confidence[is_known].astype(np.float64), right)
        recalls = [
            right[truth == as_street(np.array([k]), survey.names)[0]] for k in range(len(survey.names))
        ]
        shares = [f"{100 * r.mean():.1f} % of {len(r):,}" if len(r) else "-" for r in recalls]
        cells = [
            f"{100 * right.mean():.2f} %",
            f"{100 * (alone == truth).mean():.2f} %",
            *shares,
            f"{error:.3f}",
        ]
        told = "yes" if model.familiar.unlike(found.strange) else "no"
        strange = f"{found.strange:.2f} ({model.familiar.usual:.2f})"
        lines.append([cloud.name or "tile", f"{len(truth):,}", *cells, strange, told])
    return markdown(lines)


def markdown(lines: list[list[str]]) -> str:
    head, *body = lines
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body]) + "\n"


if __name__ == "__main__":
    main()

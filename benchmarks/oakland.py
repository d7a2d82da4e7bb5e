"""Oakland: real street scans, trained on part 2, tested on part 3. One table: four ways to label points.

``python benchmarks/oakland.py --shared ../shared [--json FILE] [--report FOLDER]``; ``--choose`` instead compares
settings of the learner by cross-validation inside part 2 (slow: minutes per row).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from gapcut.data import GraphSet
from gapcut.engines import describe_machine
from gapcut.inference.confidence import fit_temperature, flip_energies
from gapcut.metrics import Scores, score_labels
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.datasets import load_oakland
from gapcut.scenes.groups import thin
from gapcut.scenes.labelling import SceneSettings, SegmentedScan, TrainingOptions, segment_scan, train_scenes
from gapcut.scenes.labelling.forest import drawing_chances, held_out_distributions, of_segments
from gapcut.scenes.labelling.training import (
    TrainedScenes,
    label_codes,
    label_set,
    learn_weights,
    scan_folds,
    scan_graphs,
)
from gapcut.scenes.regions import segment_quality

CHOICES = [
    {"weight_power": w, "class_balance": b, "C": c}
    for w, b, c in (
        (0.5, 0.25, 1.0),
        (0.5, 0.5, 1.0),
        (1.0, 0.25, 1.0),
        (1.0, 0.5, 1.0),
        (1.0, 0.75, 1.0),
        (0.5, 0.5, 10.0),
    )
]
NODE_ONLY = {"weight_power": 0.5, "class_balance": 0.5, "C": 10.0}
"""The best row of node-only in ``--choose``."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--model", type=Path, help="where to save the model")
    parser.add_argument("--choose", action="store_true")
    given = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    train, test = load_oakland(given.shared / "data" / "oakland")
    if given.choose:
        choose(train, given.jobs)
        return
    start, cpu = time.monotonic(), time.process_time()
    trained = train_scenes(
        train, options=TrainingOptions(n_jobs=given.jobs), say=lambda line: print(line, file=sys.stderr)
    )
    print(f"training: {time.monotonic() - start:.0f} s wall, {time.process_time() - cpu:.0f} s CPU")
    print(f"certificate: {trained.model.learner.certificate_}")
    if given.model:
        trained.model.save(given.model)
    rows = compare(trained, train, test, given.jobs)
    print(markdown(rows, list(trained.model.names.values())))
    if given.json:
        given.json.write_text(
            json.dumps({n: [s.accuracy, s.macro_f1, s.confusion.tolist()] for n, s in rows.items()})
        )
    if given.report:
        report(trained, test, given.report, given.jobs)


def compare(
    trained: TrainedScenes, train: list[PointCloud], test: list[PointCloud], jobs: int
) -> dict[str, Scores]:
    """Scores over all labelled points of the test scans."""
    model = trained.model
    k = len(model.numbers)
    scans = [segment_scan(c, model.settings, (), label_codes(c, model.numbers), jobs) for c in test]
    for scan in scans:
        known = scan.labels >= 0
        quality = segment_quality(scan.point_segment[known], scan.labels[known])
        print(f"{scan.name}: {quality}")
    chances = [of_segments(model.forest, s, jobs) for s in scans]
    options = TrainingOptions(n_jobs=jobs)
    found = [model.label(c, jobs) for c in test]
    seen = replace(model, temperature=seen_temperature(trained))
    for name, one in (("seen the scans", seen), ("not seen the scans", model)):
        print(f"temperature of weights that have {name}: {one.temperature:.3g}")
        print(calibration([one.label(c, jobs) for c in test], test))
    rows = {"point-wise forest": point_wise(trained, train, test, scans, jobs)}
    rows["forest, mean of the segment"] = scored(scans, [p.argmax(axis=1) for p in chances], k)
    for name, changes in (("node-only, same settings", {}), ("node-only, its best settings", NODE_ONLY)):
        rows[name] = node_only(trained, scans, chances, replace(options, **changes))
    rows["certified model"] = scored(scans, [np.asarray(f.solution.labels) for f in found], k)
    return rows


def node_only(
    trained: TrainedScenes, scans: list[SegmentedScan], chances: list[np.ndarray], options: TrainingOptions
) -> Scores:
    """The same learner on the same segments and held-out distributions, without edges."""
    model = trained.model
    k = len(model.numbers)
    held = [np.asarray(g.node_features)[:, :k] for g in trained.graphs]
    train, tests = (
        edgeless(scan_graphs(some, p, model.settings, model.class_names, weight_power=options.weight_power))
        for some, p in ((trained.scans, held), (scans, chances))
    )
    svm = learn_weights(train, range(k), options)
    return scored(scans, [np.asarray(y, dtype=np.int64) for y in svm.predict(tests)], k)


def point_wise(
    trained: TrainedScenes,
    train: list[PointCloud],
    test: list[PointCloud],
    scans: list[SegmentedScan],
    jobs: int,
) -> Scores:
    """A forest on the point features alone: no segments, no neighbours in the graph. As many trees as ours has, of
    leaves as small, grown on no fewer points, drawn from all points by the same rule."""
    model, options = trained.model, TrainingOptions(n_jobs=jobs)
    k = len(model.numbers)
    everything = replace(model.settings, per_segment=10**9)
    labels = [label_codes(c, model.numbers) for c in train]
    described = [segment_scan(c, everything, (), y, jobs) for c, y in zip(train, labels, strict=True)]
    codes = [y[s.kept[s.sample]] for y, s in zip(labels, described, strict=True)]
    chance, ours = no_fewer_points(trained, codes, options)
    rng = np.random.default_rng(0)
    x, y = [], []
    for scan, code in zip(described, codes, strict=True):
        drawn = (code >= 0) & (rng.random(len(code)) < np.append(chance, 0.0)[code])
        x.append(scan.values[drawn])
        y.append(code[drawn])
    forest = RandomForestClassifier(
        options.n_trees, min_samples_leaf=options.least_leaf, random_state=0, n_jobs=jobs
    ).fit(np.concatenate(x), np.concatenate(y))
    print(
        f"forests: {options.n_trees} trees each; ours of about {ours:,.0f} points, point-wise of {sum(map(len, y)):,}"
    )
    truth, guess = [], []
    for cloud, scan in zip(test, scans, strict=True):
        whole = segment_scan(cloud, everything, (), None, jobs)
        kept = np.empty(len(whole.kept), dtype=np.int64)
        kept[whole.sample] = forest.classes_[forest.predict_proba(whole.values).argmax(axis=1)]
        keeper = thin(cloud.local, model.settings.lengths["voxel"], jobs).keeper
        known = scan.labels >= 0
        truth.append(scan.labels[known])
        guess.append(kept[keeper][known])
    return score_labels(truth, guess, np.arange(k))


def no_fewer_points(
    trained: TrainedScenes, codes: list[np.ndarray], options: TrainingOptions
) -> tuple[np.ndarray, float]:
    """Chances of drawing a point of each class, so that at least as many are expected as our forest was grown on, and
    that number. Classes with few points give all they have, so that the others must give more."""
    k = len(trained.model.numbers)

    def counts(parts: list[np.ndarray]) -> np.ndarray:
        return np.bincount(np.concatenate([c[c >= 0] for c in parts]), minlength=k)

    sampled = counts([s.labels[s.kept[s.sample]] for s in trained.scans])
    ours = float(drawing_chances(sampled, options.rows, options.balance) @ sampled)
    every, rows = counts(codes), float(options.rows)
    while drawing_chances(every, rows, options.balance) @ every < min(1.02 * ours, every.sum()):
        rows *= 1.05
    return drawing_chances(every, rows, options.balance), ours


def scored(scans: list[SegmentedScan], codes: list[np.ndarray], n_classes: int) -> Scores:
    """Per-point scores of labels given to segments."""
    truth = [s.labels[s.labels >= 0] for s in scans]
    guess = [c[s.point_segment][s.labels >= 0] for s, c in zip(scans, codes, strict=True)]
    return score_labels(truth, guess, np.arange(n_classes))


def edgeless(graphs: GraphSet) -> GraphSet:
    return GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)


def seen_temperature(trained: TrainedScenes) -> float:
    """The temperature that the model's own weights would have, which were learned from these very graphs."""
    svm, graphs = trained.model.learner, trained.graphs
    solutions = svm.solutions(graphs)
    flips = [
        flip_energies(svm.energy(g), np.asarray(s.labels)) for g, s in zip(graphs, solutions, strict=True)
    ]
    truth = [np.where(g.labelled, g.labels, -1).astype(np.int64) for g in graphs]
    weights = [np.asarray(g.node_weights) for g in graphs]
    return fit_temperature(np.concatenate(flips), np.concatenate(truth), np.concatenate(weights))


def calibration(found: list, test: list[PointCloud]) -> str:
    """How often points are right, by confidence, and the expected calibration error: the mean difference of both."""
    sure = np.concatenate([f.confidence[c.labels >= 0] for f, c in zip(found, test, strict=True)])
    right = np.concatenate([(f.labels == c.labels)[c.labels >= 0] for f, c in zip(found, test, strict=True)])
    lines = ["| confidence | share of the points | mean confidence | right |", "| --- | --- | --- | --- |"]
    error = 0.0
    for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01)):
        inside = (sure >= low) & (sure < high)
        if inside.any():
            share, mean, true = inside.mean(), sure[inside].mean(dtype=np.float64), right[inside].mean()
            error += share * abs(mean - true)
            cells = f"{100 * share:.1f} % | {mean:.3f} | {100 * true:.1f} %"
            lines.append(f"| {low:.2f} to {min(high, 1):.2f} | {cells} |")
    return "\n".join([*lines, f"expected calibration error {error:.4f}"])


def choose(train: list[PointCloud], jobs: int) -> None:
    """Five folds of two scans inside part 2; no test scan is looked at."""
    numbers, names = label_set(train)
    settings = SceneSettings().for_scans([c.local for c in train])
    scans = [segment_scan(c, settings, (), label_codes(c, numbers), jobs) for c in train]
    held = held_out_distributions(scans, scan_folds(scans, 5), len(numbers), TrainingOptions(n_jobs=jobs))
    print("forest:", line(scored(scans, [p.argmax(axis=1) for p in held], len(numbers))))
    for choice in CHOICES:
        for name, change in (("node-only", edgeless), ("with edges", lambda g: g)):
            print(
                choice,
                name,
                line(cross_validated(scans, held, numbers, names, settings, choice, change, jobs)),
                flush=True,
            )


def cross_validated(
    scans: list[SegmentedScan],
    held: list[np.ndarray],
    numbers: list[int],
    names: dict[int, str],
    settings: SceneSettings,
    choice: dict[str, float],
    change: Callable[[GraphSet], GraphSet],
    jobs: int,
) -> Scores:
    options = TrainingOptions(n_jobs=jobs, gap=0.04, **choice)
    graphs = change(
        scan_graphs(scans, held, settings, list(names.values()), weight_power=options.weight_power)
    )
    codes = [np.empty(0)] * len(scans)
    for fold in range(5):
        svm = learn_weights(
            graphs[[i for i in range(len(scans)) if i % 5 != fold]], range(len(numbers)), options
        )
        for i in range(fold, len(scans), 5):
            codes[i] = np.asarray(svm.predict([graphs[i]])[0], dtype=np.int64)
    return scored(scans, codes, len(numbers))


def line(scores: Scores) -> str:
    each = " ".join(f"{c.f1:.3f}" for c in scores.classes)
    return f"accuracy {scores.accuracy:.4f} macro F1 {scores.macro_f1:.4f} [{each}]"


def markdown(rows: dict[str, Scores], names: list[str]) -> str:
    head = ["labelled by", "accuracy", "macro F1", *(f"F1 {name}" for name in names)]
    lines = [head, ["---"] * len(head)]
    for name, s in rows.items():
        cells = [f"{100 * s.accuracy:.2f} %", f"{s.macro_f1:.4f}", *(f"{c.f1:.3f}" for c in s.classes)]
        lines.append([name, *cells])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def report(trained: TrainedScenes, test: list[PointCloud], folder: Path, jobs: int) -> None:
    from gapcut.report.run import RunScene, write_report

    model = trained.model
    found = [(cloud, model.label(cloud, jobs)) for cloud in test]
    scenes = [RunScene(labelled.on(c, model.names), reasons=labelled.reasons) for c, labelled in found]
    write_report(folder, "Oakland, part 3", scenes, model.learner, model.class_names)


if __name__ == "__main__":
    main()

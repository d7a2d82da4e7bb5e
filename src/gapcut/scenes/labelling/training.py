"""From labelled scans to a model: segments, forest, held-out distributions, certified learning, temperature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from gapcut.certificates import Callback
from gapcut.data import GraphSet
from gapcut.engines import Deadline, thread_count
from gapcut.inference.confidence import fit_temperature, flip_energies
from gapcut.machine import Machine
from gapcut.metrics import confusion_scores
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.labelling.context import grow_context, held_out_context
from gapcut.scenes.labelling.familiar import Familiar
from gapcut.scenes.labelling.forest import grow_forest, held_out_distributions
from gapcut.scenes.labelling.graphs import edge_names, node_names, scan_graph
from gapcut.scenes.labelling.model import SceneModel
from gapcut.scenes.labelling.scene import (
    CHANNELS,
    USUAL,
    Say,
    SegmentedScan,
    Stopwatch,
    raw_channel,
    segment_scan,
)
from gapcut.scenes.labelling.settings import SceneSettings, TrainingOptions
from gapcut.typing import AnyArray, FloatArray, IntArray

_LOOSE = 0.04


@dataclass(frozen=True, eq=False)
class TrainedScenes:
    """The ``model``; the training ``scans`` and ``graphs`` whose distributions come from forests that had not seen
    them; ``seconds`` by step."""

    model: SceneModel
    scans: list[SegmentedScan]
    graphs: GraphSet
    seconds: dict[str, float]


def train_scenes(
    clouds: Sequence[PointCloud],
    settings: SceneSettings | None = None,
    options: TrainingOptions | None = None,
    say: Say | None = None,
) -> TrainedScenes:
    """Learn to label from labelled scans.

    Fewer scans than folds are cut into slabs first (:func:`cut_scan`), so that every fold has some of each class.

    Raises ValueError: no scans, a scan without labels, labels whose names differ from scan to scan, fewer than two
    classes, a channel that a scan lacks.
    """
    wanted, clock, tell = options or TrainingOptions(), Stopwatch(), say or (lambda line: None)
    numbers, names = label_set(clouds)
    channels = _channels(clouds, wanted.channels)
    sizes = (settings or SceneSettings()).for_scans([cloud.local for cloud in clouds])
    threads = thread_count(wanted.n_jobs)
    clock.begin("segments and features")
    clouds = [part for cloud in clouds for part in cut_scan(cloud, -(-wanted.folds // len(clouds)))]
    scans = []
    for i, cloud in enumerate(clouds):
        tell(f"scan {i + 1} of {len(clouds)}: segments and features")
        scans.append(segment_scan(cloud, sizes, channels, label_codes(cloud, numbers), threads))
    clock.begin(None)
    trained = learn_scenes(scans, sizes, channels, names, wanted, say)
    return replace(trained, seconds=clock.seconds | trained.seconds)


def learn_scenes(
    scans: list[SegmentedScan],
    settings: SceneSettings,
    channels: Sequence[str],
    names: Mapping[int, str],
    options: TrainingOptions,
    say: Say | None = None,
) -> TrainedScenes:
    """:func:`train_scenes` of scans that are segmented, under ``settings`` with every length set; their codes are
    places in ``names`` {number: name}.

    ``options.time_limit`` is for the held-out weights, which get half of it at most, and those of all scans together.
    Raises KeyboardInterrupt after a Ctrl-C before the last; one in the last ends it early.
    """
    clock, tell, k = Stopwatch(), say or (lambda line: None), len(names)
    clock.begin("forests")
    beliefs = held_out_beliefs(scans, k, options, tell)
    tell("forests of all scans")
    forest = grow_forest(scans, k, options)
    context = grow_context(scans, [first for first, _ in beliefs], k, options)
    clock.begin("learning")
    held = [both for _, both in beliefs]
    graphs = scan_graphs(scans, held, settings, list(names.values()), channels, options.weight_power)
    limit = Deadline(options.time_limit)
    chosen, unseen = choose(scans, graphs, k, options, tell)
    tell("weights of all scans")
    learner = learn_weights(graphs, range(k), replace(chosen, time_limit=limit.left))
    learner.set_params(time_limit=options.time_limit)  # what was asked for, not what was left of it
    clock.begin("rows to compare with")
    model = SceneModel(
        settings=settings,
        channels=tuple(channels),
        numbers=tuple(names),
        names=names,
        forest=forest,
        context=context,
        learner=learner,
        temperature=unseen.temperature,
        familiar=Familiar.of(scans),
    )
    clock.begin(None)
    return TrainedScenes(model, scans, graphs, clock.seconds)


def held_out_beliefs(
    scans: Sequence[SegmentedScan], n_classes: int, options: TrainingOptions, say: Say | None = None
) -> list[tuple[FloatArray, FloatArray]]:
    """(S, K) class distributions of every scan's segments by the first forest and by both together, which have not seen
    it."""
    folds = scan_folds(scans, options.folds)
    first = held_out_distributions(scans, folds, n_classes, options, say)
    both = held_out_context(scans, [int(fold[0]) for fold in folds], first, n_classes, options)
    return list(zip(first, both, strict=True))


def label_set(clouds: Sequence[PointCloud]) -> tuple[list[int], dict[int, str]]:
    """The label numbers that occur, ascending, and their names."""
    if not clouds:
        raise ValueError("no scans to learn from")
    numbers: set[int] = set()
    names: dict[int, str] = {}
    for i, cloud in enumerate(clouds):
        if cloud.labels is None:
            raise ValueError(f"scan {cloud.name or i} holds no labels: leave it out of the training scans")
        present = np.unique(cloud.labels[cloud.labelled]).tolist()
        for number in present:
            name = cloud.name_of(number)
            if names.setdefault(number, name) != name:
                raise ValueError(
                    f"scan {cloud.name or i}: label {number} is {name!r}, but {names[number]!r} in another scan"
                )
        numbers |= set(present)
    if len(numbers) < 2:
        raise ValueError("all labelled points of the training scans have the same label: need two or more")
    return sorted(numbers), {number: names[number] for number in sorted(numbers)}


def label_codes(cloud: PointCloud, numbers: Sequence[int]) -> IntArray:
    """(N,) places of the labels in ``numbers`` (ascending), -1 where unlabelled or not among them."""
    if cloud.labels is None:
        return np.full(cloud.n_points, -1)
    known = np.asarray(numbers)
    place = np.minimum(np.searchsorted(known, cloud.labels), len(known) - 1)
    return np.where(known[place] == cloud.labels, place, -1)


def cut_scan(cloud: PointCloud, parts: int) -> list[PointCloud]:
    """The scan in slabs across its longer horizontal side, with as many labelled points each."""
    known = np.flatnonzero(cloud.labelled)
    if parts < 2 or len(known) < 100 * parts:
        return [cloud]
    axis = int(np.argmax(np.ptp(cloud.xyz[:, :2], axis=0)))
    along = cloud.xyz[:, axis]
    ends = np.quantile(along[known], np.linspace(0, 1, parts + 1)[1:-1])
    slab = np.searchsorted(ends, along, side="right")
    slabs = [cloud.select(slab == i) for i in range(parts) if (slab[known] == i).any()]
    return [s.replace(name=f"{cloud.name or 'scan'}, part {i + 1}") for i, s in enumerate(slabs)]


def scan_folds(scans: Sequence[SegmentedScan], folds: int) -> list[IntArray]:
    """Folds of whole scans, taken in turn. Raises ValueError for fewer than two scans."""
    n = min(folds, len(scans))
    if n < 2:
        raise ValueError("one small scan is too little to learn from: give several scans, or a larger one")
    return [np.full(scan.n_segments, i % n) for i, scan in enumerate(scans)]


def scan_graphs(
    scans: Sequence[SegmentedScan],
    distributions: Sequence[FloatArray],
    settings: SceneSettings,
    class_names: Sequence[str],
    channels: Sequence[str] = (),
    weight_power: float = 1.0,
    classes: AnyArray | None = None,
) -> GraphSet:
    """Graphs of scans with the class distributions given; see :func:`gapcut.scenes.labelling.graphs.scan_graph`."""
    return GraphSet(
        (
            scan_graph(scan, p, settings, weight_power, classes)
            for scan, p in zip(scans, distributions, strict=True)
        ),
        node_feature_names=node_names(class_names, channels, settings),
        edge_feature_names=edge_names(channels, settings),
    )


def learn_weights(
    graphs: GraphSet, classes: Sequence[Any], options: TrainingOptions, callback: Callback | None = None
) -> Machine:
    """The certified learner on these graphs, whose labels are among ``classes``; ``callback``: may end it early.

    With ``options.own="fixed"`` nodes have the features of ``SceneSettings(nodes="belief")`` and no others.
    """
    k = len(classes)
    fixed = {"unary": np.column_stack([np.eye(k), np.zeros(k)])} if options.own == "fixed" else None
    return Machine(
        C=options.C,
        gap=options.gap,
        oracle=options.oracle,
        degree_scale=options.degree_scale,
        incidence=options.incidence,
        standardize=fixed is None,
        frozen=fixed,
        classes=list(classes),
        class_weight=_class_weights(graphs, classes, options.class_balance),
        time_limit=options.time_limit,
        callback=callback,
        n_jobs=options.n_jobs,
        random_state=options.seed,
    ).fit(graphs)


def _class_weights(graphs: GraphSet, classes: Sequence[Any], power: float) -> dict[Any, float]:
    """Mean 1 over classes that occur."""
    place = {label: k for k, label in enumerate(classes)}
    total = np.zeros(len(place))
    for g in graphs:
        if g.labels is not None:
            codes = np.array([place[label] for label in g.labels[g.labelled].tolist()], dtype=np.int64)
            weights = None if g.node_weights is None else g.node_weights[g.labelled]
            total += np.bincount(codes, weights, len(place))
    weight = np.where(total > 0, np.maximum(total, 1.0) ** -power, 0.0)
    weight /= weight[total > 0].mean()
    return {label: float(weight[k]) if total[k] > 0 else 1.0 for label, k in place.items()}


def _channels(clouds: Sequence[PointCloud], wanted: Sequence[str] | None) -> tuple[str, ...]:
    if wanted is None:
        return tuple(c for c in USUAL if all(raw_channel(cloud, c) is not None for cloud in clouds))
    unknown = [c for c in wanted if c not in CHANNELS]
    if unknown:
        raise ValueError(f"unknown channel {unknown[0]!r}: use {', '.join(CHANNELS)}")
    return tuple(c for c in CHANNELS if c in wanted)


def choose(
    scans: Sequence[SegmentedScan],
    graphs: GraphSet,
    n_classes: int,
    options: TrainingOptions,
    say: Say | None = None,
) -> tuple[TrainingOptions, HeldOut]:
    """``options`` with the C of ``C_values`` that :func:`clearly_best` names, by what its weights say of graphs that
    they have not seen, and that. Together they get half of ``options.time_limit`` at most."""
    values = options.C_values or (options.C,)
    limit = None if options.time_limit is None else options.time_limit / 2 / len(values)
    tried = [replace(options, C=C) for C in values]
    found = [held_out(graphs, n_classes, replace(one, time_limit=limit), say) for one in tried]
    usual = values.index(options.C) if options.C in values else 0
    confusions = [_confusions(scans, one.labels, n_classes) for one in found]
    best = clearly_best(np.stack(confusions), usual)
    return tried[best], found[best]


def clearly_best(confusions: IntArray, usual: int) -> int:
    """Which of several models of n scans is the best: the place ``usual``, unless others are clearly better; then the
    best of these. ``confusions`` (models, n, K, K): points by true class and label of each scan.

    The mark is the mean of accuracy and macro F1 of all points. It is clearly better where the difference is beyond
    its 95 % interval (Student's t, the standard error of the jackknife over scans, Efron 1982): a rare class stands in
    a few scans, often in one, and what one scan says alone is no reason.
    """
    n = confusions.shape[1]
    whole = confusions.sum(axis=1)

    def lead(sums: IntArray) -> FloatArray:
        marks = np.array([_mark(one) for one in sums])
        return np.asarray(marks - marks[usual])

    without = np.array([lead(whole - confusions[:, i]) for i in range(n)])
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    ahead = lead(whole)
    clear = np.where(ahead > stdtrit(n - 1, 0.975) * error, ahead, 0.0)
    return int(clear.argmax()) if clear.max() > 0.0 else usual


def _mark(confusion: IntArray) -> float:
    scores = confusion_scores(range(len(confusion)), confusion.astype(np.float64))
    return (scores.accuracy + scores.macro_f1) / 2


def _confusions(scans: Sequence[SegmentedScan], labels: Sequence[IntArray], n_classes: int) -> IntArray:
    """(scans, K, K) points of each true class (rows) and label."""
    found = []
    for scan, codes in zip(scans, labels, strict=True):
        guess = np.append(codes, -1)[scan.point_segment]
        known = (scan.labels >= 0) & (guess >= 0)
        pairs = scan.labels[known] * n_classes + guess[known]
        found.append(np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes))
    return np.stack(found)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What weights say of graphs that they have not seen: ``labels`` (V,) codes of each graph; the ``temperature`` at
    which the true labels of their points are most likely."""

    labels: list[IntArray]
    temperature: float


def held_out(graphs: GraphSet, n_classes: int, options: TrainingOptions, say: Say | None = None) -> HeldOut:
    """By weights learned once a fold of graphs, to a gap of 4 % or ``options.gap`` if that is larger: they only say how
    far to trust the energies. Together the folds get no more than ``options.time_limit``. Raises KeyboardInterrupt
    after a Ctrl-C."""
    n, folds = len(graphs), min(options.folds, len(graphs))
    limit = None if options.time_limit is None else options.time_limit / folds
    loose = replace(options, gap=max(options.gap, _LOOSE), time_limit=limit)
    labels, flips = [np.empty(0, dtype=np.int64)] * n, [np.empty((0, n_classes))] * n
    for f in range(folds):
        if say is not None:
            say(f"weights {f + 1} of {folds} for held-out scans")
        svm = learn_weights(graphs[[i for i in range(n) if i % folds != f]], range(n_classes), loose)
        if svm.interrupted_:  # weights cut short say too little of C and temperature
            raise KeyboardInterrupt
        for i in range(f, n, folds):
            energy = svm.energy(graphs[i])
            labels[i] = np.asarray(svm.solutions([graphs[i]])[0].labels, dtype=np.int64)
            flips[i] = flip_energies(energy, labels[i])
    truth = [np.full(g.n_nodes, -1) for g in graphs]
    for code, g in zip(truth, graphs, strict=True):
        if g.labels is not None:
            code[g.labelled] = g.labels[g.labelled].astype(np.int64)
    # What is said of confidences is about points, and nodes weigh as these to a power.
    power = 1.0 / options.weight_power if options.weight_power else 0.0
    weights = [np.ones(g.n_nodes) if g.node_weights is None else g.node_weights**power for g in graphs]
    return HeldOut(
        labels, fit_temperature(np.concatenate(flips), np.concatenate(truth), np.concatenate(weights))
    )

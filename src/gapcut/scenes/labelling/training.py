"""From labelled scans to a model: segments, forest, held-out distributions, certified learning, temperature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gapcut.certificates import Callback
from gapcut.data import GraphSet
from gapcut.engines import thread_count
from gapcut.inference.confidence import fit_temperature, flip_energies
from gapcut.machine import Machine
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.labelling.familiar import Familiar
from gapcut.scenes.labelling.forest import grow_forest, held_out_distributions
from gapcut.scenes.labelling.graphs import edge_names, node_names, scan_graph
from gapcut.scenes.labelling.model import SceneModel
from gapcut.scenes.labelling.scene import CHANNELS, Say, SegmentedScan, Stopwatch, segment_scan
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
    clock.begin("forests")
    held = held_out_distributions(scans, scan_folds(scans, wanted.folds), len(numbers), wanted, tell)
    tell("forest of all scans")
    forest = grow_forest(scans, len(numbers), wanted)
    clock.begin("learning")
    tell("learning")
    graphs = scan_graphs(scans, held, sizes, list(names.values()), channels, wanted.weight_power)
    learner = learn_weights(graphs, range(len(numbers)), wanted)
    clock.begin("temperature")
    model = SceneModel(
        settings=sizes,
        channels=channels,
        numbers=tuple(numbers),
        names=names,
        forest=forest,
        learner=learner,
        temperature=held_out_temperature(graphs, len(numbers), wanted, tell),
        familiar=Familiar.of(scans),
    )
    clock.begin(None)
    return TrainedScenes(model, scans, graphs, clock.seconds)


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
    """The certified learner on these graphs, whose labels are among ``classes``; ``callback``: may end it early."""
    return Machine(
        C=options.C,
        gap=options.gap,
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
        return tuple(c for c in CHANNELS if all(getattr(cloud, c) is not None for cloud in clouds))
    unknown = [c for c in wanted if c not in CHANNELS]
    if unknown:
        raise ValueError(f"unknown channel {unknown[0]!r}: use {' or '.join(CHANNELS)}")
    return tuple(c for c in CHANNELS if c in wanted)


def held_out_temperature(graphs: GraphSet, n_classes: int, options: TrainingOptions, say: Say) -> float:
    """The temperature at which the true labels of graphs are most likely under weights that have not seen them.

    Weights are learned once a fold, to a gap of 4 % or ``options.gap`` if that is larger: they only say how far to
    trust the energies. Together the folds get no more than ``options.time_limit``.
    """
    folds = min(options.folds, len(graphs))
    limit = None if options.time_limit is None else options.time_limit / folds
    loose = replace(options, gap=max(options.gap, _LOOSE), time_limit=limit)
    flips, truth, weights = [], [], []
    for f in range(folds):
        say(f"temperature: weights {f + 1} of {folds} for held-out scans")
        svm = learn_weights(
            graphs[[i for i in range(len(graphs)) if i % folds != f]], range(n_classes), loose
        )
        for g in graphs[[i for i in range(len(graphs)) if i % folds == f]]:
            energy = svm.energy(g)
            flips.append(flip_energies(energy, np.asarray(svm.solutions([g])[0].labels, dtype=np.int64)))
            code = np.full(g.n_nodes, -1)
            if g.labels is not None:
                code[g.labelled] = g.labels[g.labelled].astype(np.int64)
            truth.append(code)
            weights.append(np.ones(g.n_nodes) if g.node_weights is None else g.node_weights)
    return fit_temperature(np.concatenate(flips), np.concatenate(truth), np.concatenate(weights))

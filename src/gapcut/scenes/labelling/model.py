"""A model of scenes: everything between a scan and its labels, in one value and one file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.classifiers import TreeForest
from gapcut.files import ModelFileError, blame, read_container, write_container
from gapcut.inference import Solution, solve
from gapcut.inference.confidence import flip_energies, label_probabilities
from gapcut.machine import Machine
from gapcut.scenes.clouds import NO_LABEL, PointCloud
from gapcut.scenes.labelling.context import Context
from gapcut.scenes.labelling.familiar import Familiar
from gapcut.scenes.labelling.forest import of_segments
from gapcut.scenes.labelling.graphs import scan_graph
from gapcut.scenes.labelling.reasons import Reasons, explain
from gapcut.scenes.labelling.scene import CHANNELS, Say, SegmentedScan, Stopwatch, segment_scan
from gapcut.scenes.labelling.settings import SceneSettings
from gapcut.typing import AnyArray, Float32Array, FloatArray, Int32Array, IntArray
from gapcut.version import __version__

_KIND, _FORMAT = "scenes", 4
_FOREST, _CONTEXT, _LEARNER, _FAMILIAR = "forest.", "context.", "learner.", "familiar."
TRUTH, CONFIDENCE = "truth", "confidence"
"""Names of the attributes that a labelled scan carries beside label and segment."""


@dataclass(frozen=True, eq=False)
class LabelledScan:
    """``labels`` (N,) numbers, ``confidence`` (N,) in (0, 1], ``segments`` (N,); ``solution`` of the scan's energy (its
    labels are codes of the segments); counts; ``strange``: share of its points unlike all of training
    (:class:`gapcut.scenes.labelling.familiar.Familiar`); ``reasons`` of the segments, which have the labels' numbers;
    ``seconds`` of wall clock and ``cpu_seconds`` by step."""

    labels: IntArray
    confidence: Float32Array
    segments: Int32Array
    solution: Solution[IntArray]
    n_segments: int
    n_edges: int
    n_kept: int
    strange: float
    reasons: Reasons
    seconds: dict[str, float]
    cpu_seconds: dict[str, float]

    def on(self, cloud: PointCloud, names: Mapping[int, str]) -> PointCloud:
        """The cloud with label, segment and confidence of every point.

        Labels it had before become ``truth``, by name: a label that is called as one of ``names`` gets its number, as
        does one without a name that has the number; any other one gets a number that is not among ``names``. Labels
        of an earlier labelling are no truth; what was truth then stays. Attributes that have the names of ours are kept
        as ``other_<name>``.
        """
        extra = {
            k if k not in (TRUTH, CONFIDENCE) else f"other_{k}": v
            for k, v in cloud.extra.items()
            if k not in cloud.added
        }
        if cloud.segments is not None and "segment" not in cloud.added:
            extra["other_segment"] = cloud.segments
        all_names, added = dict(names), ["label", "segment", CONFIDENCE]
        before = cloud.labels if "label" not in cloud.added else None
        before = cloud.extra[TRUTH] if TRUTH in cloud.added else before
        if before is not None:
            extra[TRUTH], more = renumber_labels(before, cloud.label_names, names)
            all_names |= more
            added.append(TRUTH)
        return cloud.replace(
            labels=self.labels,
            label_names=all_names,
            segments=self.segments,
            extra={**extra, CONFIDENCE: self.confidence},
            added=tuple(added),
        )


@dataclass(frozen=True, eq=False)
class Decision:
    """Of the segments of a scan: ``solution``, whose labels are codes, ``labels`` (S,) as numbers, ``confidence`` (S,),
    and why."""

    solution: Solution[IntArray]
    labels: IntArray
    confidence: Float32Array
    reasons: Reasons


@dataclass(frozen=True, eq=False)
class SceneModel:
    """``settings`` with every length set; ``channels`` a scan must have; ``numbers`` label of each class, and their
    ``names``; ``forest`` of points, ``context`` of segments by what they touch; ``learner`` fitted; ``temperature`` of
    the confidences; ``familiar``: what scans are like those of training."""

    settings: SceneSettings
    channels: tuple[str, ...]
    numbers: tuple[int, ...]
    names: Mapping[int, str]
    forest: TreeForest
    context: Context
    learner: Machine
    temperature: float
    familiar: Familiar

    @property
    def class_names(self) -> list[str]:
        """One a class."""
        return [self.names.get(number, str(number)) for number in self.numbers]

    def label(
        self, cloud: PointCloud, n_threads: int = 1, time_limit: float | None = 300.0, say: Say | None = None
    ) -> LabelledScan:
        """Label every point, in order.

        The segments' labels minimise the energy as far as ``Solution`` says, by the method ``learner.inference``;
        ``time_limit`` in seconds of that search. A point without a segment (where segments are given) has label -1.
        Confidence of a point: with all other segments' labels kept, the probability of its segment's label under
        ``exp(-energy / temperature)``, the temperature fitted on the training scans. Raises ValueError for a scan
        without a channel that the model needs.
        """
        scan = segment_scan(cloud, self.settings, self.channels, n_threads=n_threads, say=say)
        return self.label_segments(scan, n_threads, time_limit, say)

    def label_segments(
        self,
        scan: SegmentedScan,
        n_threads: int = 1,
        time_limit: float | None = 300.0,
        say: Say | None = None,
    ) -> LabelledScan:
        """:meth:`label` of a scan that is segmented under ``settings``, with ``channels``."""
        clock = Stopwatch(say)
        clock.seconds, clock.cpu = dict(scan.seconds), dict(scan.cpu_seconds)
        clock.begin("forest")
        found = self.decide(scan, of_segments(self.forest, scan, n_threads), clock, time_limit, n_threads)
        return LabelledScan(
            labels=np.append(found.labels, NO_LABEL)[scan.point_segment],  # the last is that of segment -1
            confidence=np.append(found.confidence, np.float32(1.0))[scan.point_segment],
            segments=scan.point_segment,
            solution=found.solution,
            n_segments=scan.n_segments,
            n_edges=len(scan.contacts.edges),
            n_kept=len(scan.kept),
            strange=self.familiar.strange(scan),
            reasons=found.reasons,
            seconds=clock.seconds,
            cpu_seconds=clock.cpu,
        )

    def decide(
        self,
        scan: SegmentedScan,
        alone: FloatArray,
        clock: Stopwatch,
        time_limit: float | None,
        n_threads: int = 1,
    ) -> Decision:
        """Labels that minimise the energy of segments with this class distribution (S, K) by the first forest."""
        distribution = self.context.beliefs(scan, alone, n_threads)
        clock.begin("energy")
        energy = self.learner.energy(scan_graph(scan, distribution, self.settings))
        clock.begin("inference")
        solution = solve(energy, method=self.learner.inference, time_limit=time_limit)
        clock.begin("confidence")
        flips = flip_energies(energy, solution.labels)
        chances = label_probabilities(flips, self.temperature)
        sure = chances[np.arange(len(chances)), solution.labels].astype(np.float32)
        numbers = np.asarray(self.numbers, dtype=np.int64)
        clock.begin("reasons")
        # made twice, so that there is room for the energy and for copies of it while it is minimised
        del energy
        graph = scan_graph(scan, distribution, self.settings)
        reasons = explain(self.learner, graph, solution.labels, flips, self.temperature)
        clock.begin(None)
        return Decision(solution, numbers[solution.labels], sure, reasons.renumbered(numbers))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one checked file (safetensors with a digest, no pickle), whole or not at all."""
        arrays, learner = self.learner.to_state()
        document = {
            "kind": _KIND,
            "format": _FORMAT,
            "gapcut": __version__,
            "settings": self.settings.to_state(),
            "channels": list(self.channels),
            "labels": [[number, name] for number, name in zip(self.numbers, self.class_names, strict=True)],
            "features": [self.forest.n_features, self.context.forest.n_features],
            "share": self.context.share.tolist(),
            "temperature": self.temperature,
            "familiar": [self.familiar.radius, self.familiar.usual],
            "learner": learner,
        }
        stored: dict[str, AnyArray] = {_LEARNER + k: v for k, v in arrays.items()}
        stored |= {_FOREST + k: v for k, v in self.forest.to_arrays().items()}
        stored |= {_CONTEXT + k: v for k, v in self.context.forest.to_arrays().items()}
        stored |= {f"{_FAMILIAR}rows": self.familiar.rows, f"{_FAMILIAR}scale": self.familiar.scale}
        write_container(Path(path), stored, document)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SceneModel:
        """Read a model file. Raises :class:`gapcut.ModelFileError` if it is none, or was damaged or altered."""
        place = Path(path)
        arrays, document = read_container(place)
        if document.get("kind") != _KIND:
            raise ModelFileError(
                f"{path}: a model of graphs, not of scenes: make one with gapcut scenes train"
            )
        if document.get("format") != _FORMAT:
            raise ModelFileError(
                f"{path}: not in the format of gapcut {__version__}: train the model again, or update gapcut"
            )
        with blame(place):
            return _unpack(cls, arrays, document)


def renumber_labels(
    labels: IntArray, old: Mapping[int, str], names: Mapping[int, str]
) -> tuple[Int32Array, dict[int, str]]:
    """(N,) labels called ``old`` in the numbers of ``names``, matched by name, and names of those not among them. One
    that has no name of its own is called as its number is in ``names``."""
    number_of = {name: number for number, name in names.items()}
    free = max(number_of.values(), default=-1) + 1
    values, place = np.unique(labels, return_inverse=True)
    more: dict[int, str] = {}
    numbers = []
    for value in values.tolist():
        name = old.get(value, names.get(value, str(value)))
        if value == NO_LABEL or name in number_of:
            numbers.append(NO_LABEL if value == NO_LABEL else number_of[name])
            continue
        number = value if value not in names and value not in more else free
        more[number] = name
        free = max(free, number + 1)
        numbers.append(number)
    return np.asarray(numbers, dtype=np.int32)[place], more


def agreement(labelled: PointCloud, numbers: Sequence[int]) -> tuple[float | None, int]:
    """Share of the points labelled before, as one of the model's classes, that have the same label now (None without
    any), and their number."""
    truth = labelled.extra.get(TRUTH)
    if truth is None or labelled.labels is None:
        return None, 0
    known = np.isin(truth, numbers)
    return (float((truth == labelled.labels)[known].mean()) if known.any() else None), int(known.sum())


def _unpack(cls: type[SceneModel], arrays: dict[str, AnyArray], document: dict[str, Any]) -> SceneModel:
    def part(prefix: str) -> dict[str, AnyArray]:
        return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

    strangers = [k for k in arrays if not k.startswith((_FOREST, _CONTEXT, _LEARNER, _FAMILIAR))]
    if strangers:
        raise ValueError(f"unknown array {strangers[0]!r}")
    labels = [(int(number), str(name)) for number, name in document["labels"]]
    channels = tuple(document["channels"])
    radius, usual = document["familiar"]
    described, near = document["features"]
    share = np.array([float(value) for value in document["share"]])
    if any(c not in CHANNELS for c in channels) or any(number <= NO_LABEL for number, _ in labels):
        raise ValueError("channels or labels are not what a scene model holds")
    model = cls(
        settings=SceneSettings.from_state(document["settings"]),
        channels=channels,
        numbers=tuple(number for number, _ in labels),
        names=dict(labels),
        forest=TreeForest.from_arrays(part(_FOREST), int(described)),
        context=Context(TreeForest.from_arrays(part(_CONTEXT), int(near)), share),
        learner=Machine.from_state(part(_LEARNER), document["learner"]),
        temperature=float(document["temperature"]),
        familiar=Familiar(**part(_FAMILIAR), radius=float(radius), usual=float(usual)),
    )
    if not ((share >= 0.0) & (share <= 0.5)).all():
        raise ValueError("shares of the second forest are not between 0 and a half")
    known = len(labels)
    counts = {model.forest.n_classes, model.context.forest.n_classes, len(share)}
    if counts != {known} or model.learner.classes_.tolist() != list(range(known)):
        raise ValueError("forests, learner and labels speak of different classes")
    seen, scale = model.familiar.rows, model.familiar.scale
    if not (seen.ndim == 2 and len(seen) and seen.shape[1:] == scale.shape == (model.forest.n_features,)):
        raise ValueError("the rows kept of training are not those of the forest")
    if not (model.settings.lengths and 0 < model.temperature < float("inf")):
        raise ValueError("the temperature is no positive number")
    return model

"""Training graphs labelled by models that have not seen them: what choices and calibration rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from gapcut.data import connected_parts
from gapcut.engines.disk import NO_ROOM
from gapcut.engines.shards import open_shards
from gapcut.inference import Energy, solve_many
from gapcut.inference.confidence import fit_temperature, flip_energies
from gapcut.learners import CutOff
from gapcut.model.chosen import Trial
from gapcut.model.fitted import FittedModel
from gapcut.model.settings import Settings
from gapcut.model.training import TrainingSet, build_problem, learn_path
from gapcut.parameters import OracleName
from gapcut.typing import FloatArray, IntArray

_LOOSE, _PASSES, _OPEN, _BEGUN = 0.05, 12, 0.2, 0.5
"""Where a fold's training ends: this gap, or so many certificates of first-order steps. Where the first fold has more
than the third then, its C is too large to be learned, and no other is tried above. Above the last gap a model that a
time limit cut off says nothing of its C."""
_AT_ONCE = 1 << 23
"""Numbers of energies that are solved together, about."""
FOLDS = 3
CLEARLY = 3.0
"""Standard errors of a clear difference."""
NEARLY_ALL = 0.99
"""Held-out accuracy above which nothing more is tried: another model could gain little, and its folds take time."""


@dataclass(frozen=True, eq=False)
class Folds:
    """The graphs of a training set, and the fold (n,) in which each is held out, from 0 on."""

    data: TrainingSet
    fold: IntArray

    @classmethod
    def of(cls, data: TrainingSet, seed: int) -> Folds | None:
        """At most three folds of whole graphs, shuffled; of groups of connected parts where there is one graph. None
        where that is connected. What has no weight tells no two models apart and is left out.
        """
        weights = [data.node_weights(i) for i in range(len(data.graphs))]
        places = [i for i, weight in enumerate(weights) if weight.sum() > 0]
        n = len(places)
        if n > 1:
            kept = data if n == len(weights) else data.some(places)
            return cls(kept, np.random.default_rng(seed).permutation(n) % min(FOLDS, n))
        if not n:
            return None
        graph, code, weight = data.graphs[places[0]], data.codes[places[0]], weights[places[0]]
        group = _balanced(connected_parts(graph))
        groups = (group == f for f in range(int(group.max(initial=0)) + 1))
        parts = [part for part in groups if weight[part].sum() > 0]
        if len(parts) < 2:
            return None
        graphs, codes = tuple(graph.induced(part) for part in parts), tuple(code[part] for part in parts)
        return cls(replace(data, graphs=graphs, codes=codes), np.arange(len(parts)))

    def __len__(self) -> int:
        return int(self.fold.max()) + 1

    def without(self, f: int) -> TrainingSet:
        """The graphs of the other folds."""
        return self.data.some(np.flatnonzero(self.fold != f).tolist())


def _balanced(part: IntArray) -> IntArray:
    """Parts (V,) in at most three groups of about equally many nodes."""
    sizes = np.bincount(part)
    groups = np.zeros(min(FOLDS, len(sizes)), dtype=np.int64)
    place = np.empty(len(sizes), dtype=np.int64)
    for i in np.argsort(-sizes, kind="stable").tolist():
        place[i] = int(groups.argmin())
        groups[place[i]] += sizes[i]
    return np.asarray(place[part])


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the models (one a fold) of a value of ``C`` say of graphs they have not seen: codes of ``labels``, one array
    a graph; ``right`` and ``weight`` (n,): the weight of each graph's nodes that are right, and of all."""

    C: float
    folds: Folds
    models: tuple[FittedModel, ...]
    labels: tuple[IntArray, ...]
    right: FloatArray
    weight: FloatArray

    @property
    def accuracy(self) -> float:
        """Over all nodes."""
        return float(self.right.sum() / self.weight.sum())

    @property
    def certified(self) -> bool:
        """Whether every fold reached its gap."""
        return all(model.certificate.status == "certified" for model in self.models)

    @property
    def by_fold(self) -> tuple[float, ...]:
        """Accuracy on each fold."""
        right, weight = (np.bincount(self.folds.fold, values) for values in (self.right, self.weight))
        return tuple((right / np.where(weight > 0, weight, 1.0)).tolist())

    def gain_over(self, other: HeldOut) -> tuple[float, float]:
        """Difference in accuracy over the same graphs, and its standard error: that of a ratio of sums over graphs."""
        return paired(self.right - other.right, self.weight)


def paired(gain: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Gain in accuracy over graphs of these weights (n,), and its standard error: that of a ratio of sums over graphs.
    Infinite error where one graph is all there is.
    """
    total, n = weight.sum(), len(weight)
    mean = float(gain.sum() / total)
    if n < 2:
        return mean, float("inf")
    return mean, float(np.sqrt(((gain - mean * weight) ** 2).sum() * n / (n - 1)) / total)


def held_out_temperature(held: HeldOut) -> float:
    """The temperature that makes the true labels of graphs most likely under models that have not seen them."""
    data, flips = held.folds.data, []
    for graph, fold, labels in zip(data.graphs, held.folds.fold.tolist(), held.labels, strict=True):
        flips.append(flip_energies(held.models[fold].energy_of(graph), labels))
    weights = np.concatenate([data.node_weights(i) for i in range(len(data.graphs))])
    return fit_temperature(np.concatenate(flips), np.concatenate(data.codes), weights)


def held_out_path(folds: Folds, settings: Settings, values: Sequence[float]) -> list[HeldOut]:
    """:func:`other_folds` after :func:`first_fold`."""
    return other_folds(folds, settings, first_fold(folds, settings, values))


def first_fold(
    folds: Folds, settings: Settings, values: Sequence[float], certified: bool = False
) -> list[Fold]:
    """The first fold, trained once along the values of C, to a gap of 5 % or the target if that is larger. The path
    ends where it got worse and, if all are to be ``certified``, before the first that did not reach its gap. Ctrl-C
    ends all of it.
    """
    path = _along(folds, 0, _loose(settings), values)
    return list(takewhile(lambda f: not certified or f.model.certificate.status == "certified", path))


def other_folds(folds: Folds, settings: Settings, first: Sequence[Fold], wide: bool = False) -> list[HeldOut]:
    """The other folds at the C that was best on the first and at its neighbours; ``wide``: at every C that is not
    clearly behind there. One entry per C, ascending."""
    first = _hopeful(first) if wide else _near_best(first)
    values = [fold.C for fold in first]
    tried = [list(first)]
    tried += [list(_along(folds, f, _loose(settings), values)) for f in range(1, len(folds))]
    weight = np.array([folds.data.node_weights(i).sum() for i in range(len(folds.data.graphs))])
    out = []
    for C, at_C in zip(values, zip(*tried, strict=True), strict=True):
        known = {i: labels for fold in at_C for i, labels in fold.labels.items()}
        labels = tuple(known[i] for i in range(len(weight)))
        right = np.array([_right(folds.data, i, y) for i, y in enumerate(labels)])
        out.append(HeldOut(C, folds, tuple(fold.model for fold in at_C), labels, right, weight))
    return out


def _near_best(first: Sequence[Fold]) -> Sequence[Fold]:
    best = max(range(len(first)), key=lambda i: first[i].accuracy)
    return first[max(0, best - 1) : best + 2]


def _hopeful(first: Sequence[Fold]) -> Sequence[Fold]:
    best = best_of(first)
    gains = [(fold, *paired(fold.right - best.right, fold.weight)) for fold in first]
    return [fold for fold, gain, error in gains if fold is best or gain >= -CLEARLY * error]


def trials_of(
    first: Sequence[Fold], path: Sequence[HeldOut], base: bool, oracle: OracleName, context: bool = False
) -> list[Trial]:
    """What was tried, ascending in C: the scores of all folds where they were learned, else of the first."""
    known = {held.C: held.by_fold for held in path}
    return [Trial(fold.C, base, oracle, known.get(fold.C, (fold.accuracy,)), context) for fold in first]


def best_of(path: Sequence[Fold]) -> Fold:
    """The most accurate."""
    return max(path, key=lambda fold: fold.accuracy)


def most_accurate(path: Iterable[HeldOut]) -> HeldOut | None:
    """The first of these, None where there is none."""
    return max(path, key=lambda held: held.accuracy, default=None)


def seen_path(data: TrainingSet, settings: Settings, values: Sequence[float]) -> list[float]:
    """Accuracy on the graphs of the set itself at each value of C, learned to a gap of 5 % or the target if larger."""
    models = _path(data, _loose(settings), values)
    everything = range(len(data.graphs))
    total = sum(float(data.node_weights(i).sum()) for i in everything)
    return [
        float(_all_right(data, _labels(model, data, everything, settings)).sum()) / (total or 1.0)
        for model in models
    ]


@dataclass(frozen=True, eq=False)
class Fold:
    """The model that has not seen a fold, its labels of the graphs in it, by their numbers, and (m,) the weight of each
    one's nodes that are right, and of all."""

    C: float
    model: FittedModel
    labels: dict[int, IntArray]
    right: FloatArray
    weight: FloatArray

    @property
    def learned(self) -> bool:
        """Whether the model is more than a beginning."""
        return self.model.certificate.relative_gap < _BEGUN

    @property
    def accuracy(self) -> float:
        """Over the fold's nodes."""
        return float(self.right.sum() / self.weight.sum())


def _along(folds: Folds, f: int, settings: Settings, values: Sequence[float]) -> Iterator[Fold]:
    """One fold along the values of C."""
    asked = np.flatnonzero(folds.fold == f).tolist()
    weight = np.array([folds.data.node_weights(i).sum() for i in asked])
    scores: list[float] = []
    for C, model in zip(values, _path(folds.without(f), settings, values), strict=False):
        if f == 0 and scores and model.certificate.relative_gap > _OPEN:
            return
        labels = _labels(model, folds.data, asked, settings)
        right = _all_right(folds.data, labels)
        yield Fold(C, model, labels, right, weight)
        scores.append(float(right.sum()))
        if f == 0 and scores[-1] < max(scores):
            return


def _labels(
    model: FittedModel, data: TrainingSet, asked: Sequence[int], settings: Settings
) -> dict[int, IntArray]:
    """Label codes of the graphs ``asked`` for, ascending, by their numbers; memory holds the energies of a few."""
    method = "trws" if settings.inference == "auto" else settings.inference
    found: dict[int, IntArray] = {}
    some: dict[int, Energy] = {}
    size = 0
    for count, i in enumerate(asked, 1):
        graph = data.graphs[i]
        some[i] = model.energy_of(graph)
        size += (graph.n_nodes + graph.n_edges * data.coder.n_labels) * data.coder.n_labels
        if size >= _AT_ONCE or count == len(asked):
            solved = solve_many(list(some.values()), method=method, n_threads=settings.threads)
            found |= {i: solution.labels for i, solution in zip(some, solved, strict=True)}
            some, size = {}, 0
    return found


def _loose(settings: Settings) -> Settings:
    passes = settings.max_passes
    if settings.learner == "primal-dual":
        passes = _PASSES if passes is None else min(passes, _PASSES)
    gap = max(settings.gap, _LOOSE)
    return replace(settings, gap=gap, eps=None, max_passes=passes, callback=None, checkpoint=None)


def _path(data: TrainingSet, settings: Settings, values: Sequence[float]) -> Iterator[FittedModel]:
    problem = build_problem(data, replace(settings, C=values[0]))
    engine = open_shards("disk", settings.address) if settings.engine == "disk" else None
    for model in learn_path(data, problem, settings, values, engine):
        if model.cut_off is CutOff.BY_USER:
            raise KeyboardInterrupt
        if NO_ROOM in model.message:
            raise OSError(model.message.removeprefix("stopped: "))
        if model.cut_off is CutOff.BY_MEMORY:  # what is cut off there says nothing of its C
            raise MemoryError(
                "not enough memory for a fold: name C, and base=None or a base, to do without folds"
            )
        yield model


def _all_right(data: TrainingSet, labels: Mapping[int, IntArray]) -> FloatArray:
    """(n,) weight of the nodes that are right in each of these graphs."""
    return np.array([_right(data, i, y) for i, y in labels.items()])


def _right(data: TrainingSet, i: int, labels: IntArray) -> float:
    return float(data.node_weights(i)[labels == data.codes[i]].sum())

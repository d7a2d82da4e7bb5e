"""Bridges as graphs: generated, scanned, described, joined; needs the extra ``scan``."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from gapcut.data import GraphSet
from gapcut.scenes.experiment import ExperimentSettings, describe_bridges, fold_graphs
from gapcut.scenes.experiment.folds import bridge_graphs, distributions


def make_bridges(
    n: int = 25,
    seed: int = 0,
    *,
    quick: bool = False,
    cache: str | PathLike[str] | None = None,
    n_jobs: int = 1,
) -> GraphSet:
    """Scans of n bridges as graphs, bridge ``i`` of the type ``gapcut.scenes.bridges.TYPES[i % 5]``.

    Nodes: parts seen; labels: names of the 11 classes; node features: class distribution and log-odds by a random
    forest that has not seen the bridge; edges: touching parts, both ways; node weights: points. ``quick``: coarse
    scans, seconds instead of half a minute a bridge. ``cache``: folder in which scans, descriptions and
    distributions are kept; ``n_jobs``: processes.

    The forest behind one graph has seen the labels of the others. To judge a learner on bridges that nothing in its
    training has seen, use :func:`make_bridge_folds`. Equal arguments give equal graphs. Raises ValueError for
    fewer than two bridges, ImportError without embreex.
    """
    if n < 2:
        raise ValueError(f"{n} bridges: a forest needs others to learn from, ask for 2 or more")
    settings = replace(_settings(seed, quick, n_jobs), n_bridges=n, train=None)
    folder = None if cache is None else Path(cache)
    bridges = describe_bridges(settings, seed, folder, n_jobs)
    step = 5 if n >= 10 else 1  # bridges that are kept from a forest together
    folds = [np.full(bridge.scan.n_segments, i // step) for i, bridge in enumerate(bridges)]
    known = distributions(bridges, range(n), folds, settings, folder)
    return bridge_graphs(bridges, known, settings)


def make_bridge_folds(
    seed: int = 0,
    *,
    quick: bool = False,
    cache: str | PathLike[str] | None = None,
    n_jobs: int = 1,
) -> list[tuple[GraphSet, GraphSet]]:
    """Graphs to train and to test on of the five folds of the bridge experiment (with ``quick`` one coarse fold).

    As :func:`make_bridges`, but no forest behind a training graph has seen a test bridge.
    """
    settings = _settings(seed, quick, n_jobs)
    folder = None if cache is None else Path(cache)
    folds = fold_graphs(describe_bridges(settings, seed, folder, n_jobs), settings, folder)
    return [(fold.training, fold.tests) for fold in folds]


def _settings(seed: int, quick: bool, n_jobs: int) -> ExperimentSettings:
    settings = ExperimentSettings.quick() if quick else ExperimentSettings()
    training = replace(settings.training, seed=seed, n_jobs=n_jobs)
    return replace(settings, training=training)

"""Bridges as graphs: generated, scanned, described, joined; needs the extra ``scan``."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from gapcut.data import GraphSet


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
    from dataclasses import replace

    from gapcut.scenes.experiment import ExperimentSettings, describe_bridges
    from gapcut.scenes.experiment.beliefs import Beliefs
    from gapcut.scenes.experiment.graphs import bridge_graphs

    if n < 2:
        raise ValueError(f"{n} bridges: a forest needs others to learn from, ask for 2 or more")
    settings = replace(ExperimentSettings.quick() if quick else ExperimentSettings(), n_bridges=n, train=None)
    folder = None if cache is None else Path(cache)
    bridges = describe_bridges(settings, seed, folder, n_jobs)
    step = 5 if n >= 10 else 1
    groups = [range(i, min(i + step, n)) for i in range(0, n, step)]
    beliefs = Beliefs(bridges, settings, seed, n_jobs, folder).held_out(groups)
    return bridge_graphs(bridges, beliefs, settings)


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
    from gapcut.scenes.experiment import ExperimentSettings, describe_bridges, fold_graphs

    settings = ExperimentSettings.quick() if quick else ExperimentSettings()
    folder = None if cache is None else Path(cache)
    bridges = describe_bridges(settings, seed, folder, n_jobs)
    folds = fold_graphs(bridges, settings, seed, n_jobs, folder)
    return [(fold.training, fold.tests) for fold in folds]

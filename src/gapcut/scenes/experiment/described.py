"""Bridges scanned and described: what does not depend on the fold, computed once a bridge and kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import gapcut
from gapcut.scenes.adjacency import adjacency, edge_features, segment_shapes
from gapcut.scenes.bridges import bridge_specs, make_bridge
from gapcut.scenes.experiment.store import Arrays, bridge_digest, digest, kept, pack_scan, unpack_scan
from gapcut.scenes.points import PointDescriber
from gapcut.scenes.scanner import Scan, ScannerSettings, scan_bridge
from gapcut.scenes.shot import Float32Array
from gapcut.typing import FloatArray, IntArray

Progress = Callable[[int, int], None]
_SCANS, _DESCRIPTIONS = 1, 3  # a new number where code gives other results: old files are left alone


@dataclass(frozen=True)
class ExperimentSettings:
    """``scanner``; ``tolerance`` m between touching parts (at least two
    voxels of the scan); ``per_part`` points of a part that are described;
    ``radius`` m of SHOT (None: five point spacings); ``n_trees`` and ``per_class`` of the forest; ``extra`` also the
    edge features that the paper does not have; ``n_bridges`` in all, of which every fold tests five in a row, or,
    where ``train`` is given, one fold that trains on the first ``train`` and tests the others; ``C`` of the learner."""

    scanner: ScannerSettings = field(default_factory=ScannerSettings)
    tolerance: float = 0.2
    per_part: int = 60
    radius: float | None = None
    n_trees: int = 100
    per_class: int = 4000
    extra: bool = False
    n_bridges: int = 25
    train: int | None = None
    C: float = 1.0

    @classmethod
    def quick(cls) -> ExperimentSettings:
        """One fold: five bridges to train, three to test, coarse scans."""
        scanner = ScannerSettings(angular_step=0.4, max_stations=8, points=60_000, spacing=12.0)
        return cls(scanner, per_part=25, n_trees=40, per_class=1000, n_bridges=8, train=5)

    def folds(self) -> list[tuple[list[int], list[int]]]:
        """Numbers of the training and of the test bridges of each fold. Raises ValueError for fewer than two."""
        everything = range(self.n_bridges)
        if self.train is not None:
            if not 2 <= self.train < self.n_bridges:
                raise ValueError(f"{self.train} of {self.n_bridges} bridges to train: need 2 and one to test")
            return [(list(everything[: self.train]), list(everything[self.train :]))]
        if self.n_bridges < 10:
            raise ValueError(f"{self.n_bridges} bridges make no two folds of five: ask for 10 or more")
        tests = [list(everything[i : i + 5]) for i in range(0, self.n_bridges, 5)]
        return [([i for i in everything if i not in test], test) for test in tests]


@dataclass(frozen=True, eq=False)
class DescribedBridge:
    """A scan as parts: the nodes are the parts seen, in order of their ids.

    ``part`` (V,) ids; ``label`` (V,) classes; ``weight`` (V,) points; ``edges`` (E, 2) and ``edge_features`` of
    them; ``values`` (M, 357) features of sampled points and ``node`` (M,) where each belongs; ``xyz`` (N, 3) and
    ``point_node`` (N,) all points (-1 terrain), to look at; ``unseen`` parts that have no node.
    """

    name: str
    part: IntArray
    label: IntArray
    weight: IntArray
    edges: IntArray
    edge_features: FloatArray
    values_: Float32Array
    node: IntArray
    xyz: Float32Array
    point_node: IntArray
    unseen: IntArray

    @property
    def n_points(self) -> int:
        """Number of points that are described (what a forest asks for)."""
        return len(self.node)

    def values(self, at: IntArray | None = None) -> Float32Array:
        """Features of the described points ``at``, of all without it."""
        rows = self.values_ if at is None else self.values_[at]
        return np.asarray(rows, dtype=np.float32)


def scan_number(number: int, seed: int, scanner: ScannerSettings, cache: Path | None = None) -> Scan:
    """Scan of bridge ``number`` of a seed, kept in the folder ``cache``."""
    kind, variant = bridge_specs(number + 1)[number]
    bridge = make_bridge(kind, seed, variant)
    key = digest("scan", _SCANS, gapcut.__version__, bridge_digest(bridge), seed, asdict(scanner))
    path = None if cache is None else cache / f"scan-{bridge.name}-{key}.npz"
    return kept(path, lambda: scan_bridge(bridge, seed, scanner), pack_scan, unpack_scan)


def describe_bridges(
    settings: ExperimentSettings,
    seed: int = 0,
    cache: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[DescribedBridge]:
    """All bridges of the experiment, in ``jobs`` processes, kept in the folder ``cache``.

    Results depend on neither. Files of other settings or seeds are left alone; damaged ones are made anew.
    """
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
    numbers = range(settings.n_bridges)
    tasks = [(i, seed, settings, cache) for i in numbers]
    return run_parallel(_cached, tasks, jobs, progress)


def run_parallel(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int, progress: Progress | None = None
) -> list[Any]:
    """Results of ``work(*task)`` in order, in up to ``jobs`` processes."""
    results: list[Any] = [None] * len(tasks)
    if jobs == 1 or len(tasks) < 2:
        for i, task in enumerate(tasks):
            results[i] = work(*task)
            if progress is not None:
                progress(i + 1, len(tasks))
        return results
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
        places = {pool.submit(work, *task): i for i, task in enumerate(tasks)}
        try:
            for done, future in enumerate(as_completed(places), 1):
                results[places[future]] = future.result()
                if progress is not None:
                    progress(done, len(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def _cached(number: int, seed: int, settings: ExperimentSettings, cache: Path | None) -> DescribedBridge:
    scan = scan_number(number, seed, settings.scanner, cache)
    key = digest(
        "description",
        _DESCRIPTIONS,
        gapcut.__version__,
        *(scan.xyz, scan.part, scan.label, scan.station, scan.stations),
        *(settings.tolerance, settings.per_part, settings.radius, settings.extra),
    )
    path = None if cache is None else cache / f"described-{scan.name}-{key}.npz"
    return kept(path, lambda: _describe(scan, number, seed, settings), _pack, _unpack)


def _pack(bridge: DescribedBridge) -> Arrays:
    return {key: np.asarray(value) for key, value in vars(bridge).items()}


def _unpack(arrays: Arrays) -> DescribedBridge:
    return DescribedBridge(**{**arrays, "name": str(arrays["name"])})  # type: ignore[arg-type]


def _describe(scan: Scan, number: int, seed: int, settings: ExperimentSettings) -> DescribedBridge:
    solid = scan.part >= 0
    part, first, node = np.unique(scan.part[solid], return_index=True, return_inverse=True)
    point_node = np.full(scan.n_points, -1, dtype=np.int64)
    point_node[solid] = node
    tolerance = max(settings.tolerance, 2.0 * scan.voxel)
    found = adjacency(scan.xyz, point_node, tolerance, max(0.5, tolerance), n_segments=len(part))
    features, _ = edge_features(
        found, segment_shapes(scan.xyz, point_node, n_segments=len(part)), settings.extra
    )
    rows = _sample(point_node, settings.per_part, np.random.default_rng([seed, number, 7]))
    points = PointDescriber(scan.xyz, scan.stations[scan.station], radius=settings.radius)
    return DescribedBridge(
        name=scan.name,
        part=part,
        label=scan.label[solid][first],
        weight=np.bincount(node, minlength=len(part)),
        edges=found.edges,
        edge_features=features,
        values_=points.values(rows),
        node=point_node[rows],
        xyz=scan.xyz.astype(np.float32),
        point_node=point_node,
        unseen=np.array(scan.unseen, dtype=np.int64),
    )


def _sample(node: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """Rows of at most ``most`` random points of each node, ascending."""
    rows = rng.permutation(np.flatnonzero(node >= 0))
    order = rows[np.argsort(node[rows], kind="stable")]
    count = np.bincount(node[order])
    rank = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    return np.sort(order[rank < most])

"""Bridges scanned and described: what does not depend on the fold, computed once a bridge and kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gapcut.scenes.adjacency import adjacency, edge_features, segment_shapes
from gapcut.scenes.bridges import Bridge, bridge_specs, make_bridge
from gapcut.scenes.experiment.point_features import shape_values, shot_values
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.scenes.experiment.store import Arrays, bridge_digest, digest, kept, pack_scan, unpack_scan
from gapcut.scenes.scanner import Scan, ScannerSettings, scan_bridge
from gapcut.scenes.shot import Float32Array
from gapcut.typing import FloatArray, IntArray
from gapcut.version import __version__

Progress = Callable[[int, int], None]
_SCANS, _DESCRIPTIONS = 1, 6  # a new number where code gives other results: old files are left alone


@dataclass(frozen=True, eq=False)
class DescribedBridge:
    """A scan as parts: the nodes are the parts seen, in order of their ids.

    - ``part`` (V,) ids, ``label`` (V,) classes, ``weight`` (V,) points; ``unseen`` ids of parts without a node;
    - ``edges`` (E, 2) and ``edge_features`` of them;
    - ``shot`` (M, 352) and ``shape`` (M, F) features of sampled points, ``node`` (M,) where each belongs;
    - ``xyz`` (N, 3) and ``point_node`` (N,) all points (-1: terrain), ``voxel`` m: to look at;
    - ``key``: digits that two bridges share only if they were described from equal scans in the same way.
    """

    name: str
    key: str
    voxel: float
    part: IntArray
    label: IntArray
    weight: IntArray
    edges: IntArray
    edge_features: FloatArray
    shot: npt.NDArray[np.float16]
    shape: npt.NDArray[np.float16]
    node: IntArray
    xyz: Float32Array
    point_node: IntArray
    unseen: IntArray


def scan_number(number: int, seed: int, scanner: ScannerSettings, cache: Path | None = None) -> Scan:
    """Scan of bridge ``number`` of a seed, kept in the folder ``cache``."""
    bridge = _bridge(number, seed)
    return _scan(bridge, _scan_key(bridge, seed, scanner), seed, scanner, cache)


def _bridge(number: int, seed: int) -> Bridge:
    kind, variant = bridge_specs(number + 1)[number]
    return make_bridge(kind, seed, variant)


def _scan_key(bridge: Bridge, seed: int, scanner: ScannerSettings) -> str:
    return digest("scan", _SCANS, __version__, bridge_digest(bridge), seed, asdict(scanner))


def _scan(bridge: Bridge, key: str, seed: int, scanner: ScannerSettings, cache: Path | None) -> Scan:
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
    bridge = _bridge(number, seed)
    scan_key = _scan_key(bridge, seed, settings.scanner)
    key = digest(
        *("description", _DESCRIPTIONS, __version__, scan_key, number, seed),
        *(settings.tolerance, settings.per_part, settings.extra, settings.shot_radius, settings.shape_radii),
    )
    path = None if cache is None else cache / f"described-{bridge.name}-{key}.npz"

    def make() -> DescribedBridge:
        scan = _scan(bridge, scan_key, seed, settings.scanner, cache)
        return _describe(scan, key, number, seed, settings)

    return kept(path, make, _pack, _unpack)


def _pack(bridge: DescribedBridge) -> Arrays:
    return {key: np.asarray(value) for key, value in vars(bridge).items()}


def _unpack(arrays: Arrays) -> DescribedBridge:
    plain = {"name": str(arrays["name"]), "key": str(arrays["key"]), "voxel": float(arrays["voxel"])}
    return DescribedBridge(**{**arrays, **plain})  # type: ignore[arg-type]


def _describe(scan: Scan, key: str, number: int, seed: int, settings: ExperimentSettings) -> DescribedBridge:
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
    return DescribedBridge(
        name=scan.name,
        key=key,
        voxel=scan.voxel,
        part=part,
        label=scan.label[solid][first],
        weight=np.bincount(node, minlength=len(part)),
        edges=found.edges,
        edge_features=features,
        shot=shot_values(scan, rows, settings.shot_radius).astype(np.float16),
        shape=shape_values(scan, rows, settings.shape_radii).astype(np.float16),
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

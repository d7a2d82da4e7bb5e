"""Bridges scanned and described: what does not depend on the fold, computed once a bridge and kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.scenes.bridges import CLASSES, LABELS, Bridge
from gapcut.scenes.bridges.make import numbered_bridge
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.scenes.experiment.store import bridge_digest, digest, kept
from gapcut.scenes.labelling import SceneSettings, SegmentedScan, segment_scan
from gapcut.scenes.scanner import Scan, ScannerSettings, scan_bridge, thin_scan
from gapcut.typing import IntArray
from gapcut.version import __version__

Progress = Callable[[int, int], None]
_OF_GRAPHS = ("nodes", "edges")  # settings that descriptions do not depend on
_bridge = lru_cache(maxsize=25)(numbered_bridge)
_SCANS, _DESCRIPTIONS = 3, 9  # a new number where code gives other results: old files are left alone


@dataclass(frozen=True, eq=False)
class BridgeScan:
    """A scan whose segments are the parts and surroundings that were seen, in order of their numbers.

    ``name`` of the bridge; ``key``: digits that two scans share only if they were made and described in the same way;
    ``voxel`` m; ``scan``; ``unseen`` number of parts that no point shows; ``measured`` points of the scan, of which
    those of ``scan`` are one per voxel.
    """

    name: str
    key: str
    voxel: float
    scan: SegmentedScan
    unseen: int
    measured: int

    @property
    def labels(self) -> IntArray:
        """(S,) index in ``LABELS`` of each segment."""
        return np.asarray(self.scan.label_counts(len(LABELS)).argmax(axis=1))


def _scan_key(bridge: Bridge, seed: int, scanner: ScannerSettings) -> str:
    return digest("scan", _SCANS, __version__, bridge_digest(bridge), seed, asdict(scanner))


def _scan(bridge: Bridge, key: str, seed: int, scanner: ScannerSettings, cache: Path | None) -> Scan:
    path = None if cache is None else cache / f"scan-{bridge.name}-{key}.npz"
    return kept(path, Scan, lambda: scan_bridge(bridge, seed, scanner))


def describe_bridges(
    settings: ExperimentSettings,
    seed: int = 0,
    cache: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[BridgeScan]:
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


def _cached(number: int, seed: int, settings: ExperimentSettings, cache: Path | None) -> BridgeScan:
    bridge = _bridge(number, seed, settings.difficulty)
    scan_key = _scan_key(bridge, seed, settings.scanner)
    seen = {k: v for k, v in settings.scene.to_state().items() if k not in _OF_GRAPHS}
    key = digest("description", _DESCRIPTIONS, scan_key, seen)
    path = None if cache is None else cache / f"described-{bridge.name}-{key}.npz"

    def make() -> BridgeScan:
        found = _scan(bridge, scan_key, seed, settings.scanner, cache)
        measured = found.n_points
        if settings.scanner.raw_points is not None:
            found = thin_scan(found, seed, settings.scanner)
        scan = describe_scan(found, settings.scene_of(found.voxel))
        unseen = sum(i < bridge.n_parts for i in found.unseen)
        return BridgeScan(found.name, key, found.voxel, scan, unseen, measured)

    return kept(path, BridgeScan, make)


def describe_scan(scan: Scan, settings: SceneSettings) -> SegmentedScan:
    """Described at its place on earth, with every length of ``settings`` set, normals turned to its stations; the
    result has the scan's ``xyz`` again."""
    cloud = scan_cloud(scan)
    seen_from = scan.stations + (scan.origin - cloud.shift)  # in the frame of cloud.local
    found = segment_scan(cloud, settings, codes=scan.label, viewpoints=seen_from[scan.station])
    return replace(found, xyz=scan.xyz[found.kept])


def scan_cloud(scan: Scan) -> PointCloud:
    """A scan as a labelled cloud whose segments are the parts (and surroundings), at its place on earth."""
    return PointCloud(
        scan.xyz + scan.origin if scan.origin.any() else scan.xyz,
        labels=scan.label,
        label_names=dict(enumerate(LABELS if scan.label.max() >= len(CLASSES) else CLASSES)),
        segments=scan.part,
        intensity=scan.intensity,
        extra={"station": scan.station.astype(np.int32)},
        name=scan.name,
    )

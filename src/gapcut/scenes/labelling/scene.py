"""A scan as segments, with everything about them that does not depend on the model's weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.forest import segment_means
from gapcut.scenes.groups import spread_sample
from gapcut.scenes.labelling.contacts import Contacts, find_contacts
from gapcut.scenes.labelling.relations import SegmentTable, describe_segments
from gapcut.scenes.labelling.settings import SceneSettings
from gapcut.scenes.labelling.surroundings import columns, feature_names, ground_heights, shapes_at_scale
from gapcut.scenes.labelling.thinning import thin
from gapcut.scenes.regions import grow_regions
from gapcut.scenes.shot import Float32Array
from gapcut.typing import BoolArray, FloatArray, Int32Array, IntArray

Say = Callable[[str], None]
CHANNELS = {"intensity": ("intensity",), "colour": ("red", "green", "blue")}
"""What a scan may carry beside places, and the point features made of it."""


class Stopwatch:
    """Seconds of wall clock and of this process's CPU by step; tells ``say`` what begins."""

    def __init__(self, say: Say | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self._say = say
        self._step: str | None = None
        self._start, self._cpu_start = 0.0, 0.0

    def begin(self, step: str | None) -> None:
        """End the step at hand and begin another (None: none)."""
        now, cpu = time.monotonic(), time.process_time()
        if self._step is not None:
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._start
            self.cpu[self._step] = self.cpu.get(self._step, 0.0) + cpu - self._cpu_start
        self._step, self._start, self._cpu_start = step, now, cpu
        if step is not None and self._say is not None:
            self._say(f"{step} ...")


@dataclass(frozen=True, eq=False)
class SegmentedScan:
    """A scan of N points, M of them kept, in S segments.

    ``point_segment`` (N,) segment of every point; ``xyz`` (M, 3), ``segment`` (M,) and ``kept`` (M,) rows of the scan;
    ``sample`` (R,) places among the kept points that are described, ``values`` (R, F) their features named by
    :func:`point_feature_names`; ``table`` segment features; ``contacts``; ``channels`` (S, C) mean intensity and
    colour, in [0, 1]; ``labels`` (N,) codes of the labels, -1 where unknown.
    """

    name: str
    point_segment: Int32Array
    kept: IntArray
    xyz: FloatArray
    segment: IntArray
    sample: IntArray
    values: Float32Array
    table: SegmentTable
    contacts: Contacts
    channels: FloatArray
    labels: IntArray
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def n_segments(self) -> int:
        return len(self.table.values)

    @property
    def size(self) -> IntArray:
        """(S,) points of each segment, of all points."""
        return np.bincount(self.point_segment, minlength=self.n_segments)

    def label_counts(self, n_classes: int, count: BoolArray | None = None) -> IntArray:
        """(S, K) labelled points of each segment by class; ``count`` (N,) leaves out the others."""
        known = self.labels >= 0 if count is None else (self.labels >= 0) & count
        flat = self.point_segment[known].astype(np.int64) * n_classes + self.labels[known]
        return np.bincount(flat, minlength=self.n_segments * n_classes).reshape(-1, n_classes)

    def forest_rows(self, at: IntArray | None = None) -> Float32Array:
        """(R, F + segment features) what the forest sees of the sampled points (or of ``at`` among them)."""
        values = self.values if at is None else self.values[at]
        owner = self.segment[self.sample if at is None else self.sample[at]]
        own = np.column_stack([self.table.values, self.channels]).astype(np.float32)
        return np.column_stack([values, own[owner]])


def segment_scan(
    cloud: PointCloud,
    settings: SceneSettings,
    channels: Sequence[str] = (),
    codes: IntArray | None = None,
    n_threads: int = 1,
    say: Say | None = None,
) -> SegmentedScan:
    """Thin, segment, describe and connect a scan.

    ``settings`` with every length set; ``channels`` of ``CHANNELS`` that the scan must have (ValueError if not);
    ``codes`` (N,) labels as 0 .. K-1 or -1.
    """
    size, clock = settings.lengths, Stopwatch(say)
    extra = channel_values(cloud, channels)
    clock.begin("thinning")
    local = cloud.local
    thinned = thin(local, size["voxel"], n_threads)
    xyz = np.ascontiguousarray(local[thinned.rows])
    extra = extra[thinned.rows]
    del local
    clock.begin("segments")
    regions = grow_regions(xyz, settings.regions, n_threads=n_threads)
    segment, n = regions.segments, regions.n_segments
    clock.begin("ground and columns")
    height = ground_heights(xyz, size["ground_cell"], size["ground_window"])
    sample = spread_sample(segment, n, settings.per_segment, np.random.default_rng(0))
    column = columns(xyz, height, 8.0 * size["voxel"], sample)
    clock.begin("point features")
    scales = [
        shapes_at_scale(xyz, sample, scale * size["voxel"], settings.neighbours, n_threads)
        for scale in settings.scales
    ]
    values = np.column_stack([*scales, column, extra[sample].astype(np.float32)])
    clock.begin("segment features")
    table = describe_segments(xyz, height, segment, n, size["voxel"])
    means = segment_means(extra, segment, n) if extra.shape[1] else np.zeros((n, 0))
    clock.begin("contacts")
    contacts = find_contacts(xyz, segment, size["cell"])
    clock.begin(None)
    return SegmentedScan(
        name=cloud.name or "scan",
        point_segment=segment[thinned.keeper].astype(np.int32),
        kept=thinned.rows,
        xyz=xyz,
        segment=segment,
        sample=sample,
        values=values,
        table=table,
        contacts=contacts,
        channels=means,
        labels=np.full(cloud.n_points, -1) if codes is None else codes,
        seconds=clock.seconds,
        cpu_seconds=clock.cpu,
    )


def channel_values(cloud: PointCloud, channels: Sequence[str]) -> FloatArray:
    """(N, C) in [0, 1]: intensity over the 95th percentile of the scan (at most 1), colours over 255.

    Raises ValueError naming a channel the scan has not got.
    """
    columns = []
    for channel in channels:
        given = getattr(cloud, channel)
        if given is None:
            raise ValueError(
                f"{cloud.name or 'the scan'} has no {channel}, but the model was trained with it"
            )
        if channel == "intensity":
            low = float(given.min())
            top = max(float(np.quantile(given, 0.95)) - low, 1e-12)
            columns.append(np.minimum((given - low) / top, 1.0)[:, None])
        else:
            columns.append(given / 255.0)
    return np.concatenate(columns, axis=1) if columns else np.zeros((cloud.n_points, 0))


def point_feature_names(settings: SceneSettings, channels: Sequence[str]) -> tuple[str, ...]:
    """Names of the columns of :attr:`SegmentedScan.values`."""
    return feature_names(settings.scales, [name for channel in channels for name in CHANNELS[channel]])

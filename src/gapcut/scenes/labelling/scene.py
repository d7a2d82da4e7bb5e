"""A scan as segments, with everything about them that does not depend on the model's weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.groups import segment_means, spread_sample, thin
from gapcut.scenes.labelling.segments import Contacts, SegmentTable, describe_segments, find_contacts
from gapcut.scenes.labelling.settings import SceneSettings
from gapcut.scenes.labelling.surroundings import ground_heights, point_features
from gapcut.scenes.regions import grow_regions
from gapcut.typing import AnyArray, Float32Array, FloatArray, Int32Array, IntArray

Say = Callable[[str], None]
CHANNELS = {"intensity": ("intensity",), "echoes": ("echo", "echoes"), "colour": ("red", "green", "blue")}
"""What a scan may carry beside places, and the point features made of it."""
USUAL = ("intensity", "colour")
"""Those that are used unasked, where all training scans have them: echoes made no tile better (docs/labelling.md)."""
ECHOES = ("return_number", "number_of_returns")
"""As LAS calls what echoes are told by."""


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
    """A scan of N points, M of them worked with, in S segments (-1: in none, surroundings only).

    ``point_segment`` (N,) segment of every point; ``xyz`` (M, 3), ``segment`` (M,) and ``kept`` (M,) rows of the scan;
    ``sample`` (R,) places among the M points that are described, ``values`` (R, F) their features
    (:func:`gapcut.scenes.labelling.surroundings.point_features`); ``table`` segment features; ``contacts``;
    ``channels`` (S, C) mean intensity and colour, in [0, 1]; ``labels`` (N,) codes of the labels, -1 where unknown;
    ``segment_seen``: whether the forest sees the features of a point's segment too.
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
    segment_seen: bool = True
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def n_segments(self) -> int:
        return len(self.table.values)

    @property
    def size(self) -> IntArray:
        """(S,) points of each segment, of all points."""
        inside = self.point_segment[self.point_segment >= 0]
        return np.bincount(inside, minlength=self.n_segments)

    @property
    def sample_segment(self) -> IntArray:
        """(R,) segments of the described points."""
        return self.segment[self.sample]

    def label_counts(self, n_classes: int) -> IntArray:
        """(S, K) labelled points of each segment by class."""
        known = (self.labels >= 0) & (self.point_segment >= 0)
        flat = self.point_segment[known].astype(np.int64) * n_classes + self.labels[known]
        return np.bincount(flat, minlength=self.n_segments * n_classes).reshape(-1, n_classes)

    def forest_rows(self, at: IntArray | None = None) -> Float32Array:
        """(R, F or more) what the forest sees of the described points (or of ``at`` among them)."""
        values = self.values if at is None else self.values[at]
        if not self.segment_seen:
            return values
        owner = self.sample_segment if at is None else self.sample_segment[at]
        own = np.column_stack([self.table.values, self.channels]).astype(np.float32)
        return np.column_stack([values, own[owner]])


def segment_scan(
    cloud: PointCloud,
    settings: SceneSettings,
    channels: Sequence[str] = (),
    codes: IntArray | None = None,
    n_threads: int = 1,
    say: Say | None = None,
    viewpoints: FloatArray | None = None,
) -> SegmentedScan:
    """Thin and segment a scan (or take the segments it carries), describe and connect the segments.

    ``settings`` with every length set; ``channels`` of ``CHANNELS`` that the scan must have (ValueError if not);
    ``codes`` (N,) labels as 0 .. K-1 or -1; ``viewpoints`` (N, 3) where the points were seen from, for normals.
    """
    size, clock = settings.lengths, Stopwatch(say)
    extra = channel_values(cloud, channels)
    if settings.segments == "given":
        clock.begin("segments")
        rows, xyz = np.arange(cloud.n_points), cloud.local
        segment = point_segment = given_segments(cloud)
    else:
        clock.begin("thinning")
        local = cloud.local
        thinned = thin(local, size["voxel"], n_threads)
        rows, xyz = thinned.rows, np.ascontiguousarray(local[thinned.rows])
        del local
        clock.begin("segments")
        segment = grow_regions(xyz, settings.regions, n_threads=n_threads).segments
        point_segment = segment[thinned.keeper]
    n, inside = int(segment.max()) + 1, np.flatnonzero(segment >= 0)
    extra, seen_from = extra[rows], None if viewpoints is None else viewpoints[rows]
    clock.begin("ground")
    height = ground_heights(xyz, size["ground_cell"], size["ground_window"])
    clock.begin("point features")
    sample = inside[spread_sample(segment[inside], n, settings.per_segment, np.random.default_rng(0))]
    values = point_features(xyz, height, sample, settings, extra, seen_from, n_threads)
    clock.begin("segment features")
    solid, owner = xyz[inside], segment[inside]
    table = describe_segments(solid, height[inside], owner, n, size["voxel"])
    means = segment_means(extra, segment, n) if extra.shape[1] else np.zeros((n, 0))
    clock.begin("contacts")
    contacts = find_contacts(solid, owner, size["cell"])
    clock.begin(None)
    return SegmentedScan(
        name=cloud.name or "scan",
        point_segment=point_segment.astype(np.int32),
        kept=rows,
        xyz=xyz,
        segment=segment,
        sample=sample,
        values=values,
        table=table,
        contacts=contacts,
        channels=means,
        labels=np.full(cloud.n_points, -1) if codes is None else codes,
        segment_seen="segment" in settings.points,
        seconds=clock.seconds,
        cpu_seconds=clock.cpu,
    )


def given_segments(cloud: PointCloud) -> IntArray:
    """(N,) the segments that a scan carries, renumbered from 0 without gaps in order of their numbers, -1 for none.

    Raises ValueError for a scan without segments.
    """
    if cloud.segments is None or not (cloud.segments >= 0).any():
        raise ValueError(f"{cloud.name or 'the scan'} carries no segments, but the model takes them as given")
    number = np.full(cloud.n_points, -1)
    inside = cloud.segments >= 0
    number[inside] = np.unique(cloud.segments[inside], return_inverse=True)[1]
    return number


@dataclass(frozen=True)
class IntensityRange:
    """Least, middle and 95th percentile of the intensities of a scan."""

    low: float
    middle: float
    top: float

    @classmethod
    def of(cls, intensity: FloatArray, counts: IntArray | None = None) -> IntensityRange | None:
        """Of values (N,), each as often as ``counts`` says if they are distinct ones, ascending; None without any."""
        known = intensity[np.isfinite(intensity)]
        if not len(known):
            return None
        if counts is not None:  # the same order statistics, in a list of three or four values
            ends = np.cumsum(counts[np.isfinite(intensity)])
            return cls(float(known[0]), *(_quantile_of_counts(known, ends, share) for share in (0.5, 0.95)))
        return cls(float(known.min()), float(np.median(known)), float(np.quantile(known, 0.95)))

    def scaled(self, intensity: FloatArray) -> FloatArray:
        """(N,) in [0, 1]: 1 from the 95th percentile on, the middle where it is unknown."""
        given = np.where(np.isfinite(intensity), intensity, self.middle)
        return np.minimum((given - self.low) / max(self.top - self.low, 1e-12), 1.0)


def _quantile_of_counts(values: FloatArray, ends: IntArray, share: float) -> float:
    place = share * (ends[-1] - 1)
    around = values[np.searchsorted(ends, [np.floor(place), np.ceil(place)], side="right")]
    return float(np.quantile(around, place % 1.0))


def raw_channel(cloud: PointCloud, channel: str) -> AnyArray | None:
    """(N,) or (N, C) as the scan has it, None where it has not. Echoes: which one of its pulse a point is, as a share
    of their number (1: the last, or the only one), and the share of them that are others than one (0: the only one).
    What is no number is as in LAS, where 0 says that it is unknown."""
    if channel != "echoes":
        return np.asarray(getattr(cloud, channel)) if getattr(cloud, channel) is not None else None
    if any(name not in cloud.extra for name in ECHOES):
        return None
    number, count = (np.nan_to_num(cloud.extra[name].astype(np.float64)) for name in ECHOES)
    of = np.maximum(count, 1.0)
    return np.column_stack([np.clip(number / of, 0.0, 1.0), 1.0 - 1.0 / of])


def known_echoes(cloud: PointCloud) -> set[str]:
    """Those of ``ECHOES`` that any point says: zeros, and what is no number, say nothing."""
    return {name for name in ECHOES if name in cloud.extra and np.nan_to_num(cloud.extra[name]).any()}


def channel_values(
    cloud: PointCloud, channels: Sequence[str], intensities: IntensityRange | None = None
) -> FloatArray:
    """(N, C) in [0, 1]: intensity over the 95th percentile of the scan (at most 1), its median where it is unknown;
    echoes as :func:`raw_channel` has them; colours over 255. ``intensities`` of the scan that the cloud is a part of.

    Raises ValueError naming a channel the scan has not got.
    """
    columns = []
    for channel in channels:
        given = raw_channel(cloud, channel)
        if given is None or (channel == "echoes" and len(known_echoes(cloud)) < len(ECHOES)):
            raise ValueError(
                f"{cloud.name or 'the scan'} has no {channel}, but the model was trained with it"
            )
        if channel == "intensity":
            known = intensities or IntensityRange.of(given)
            if known is None:
                raise ValueError(
                    f"{cloud.name or 'the scan'} has no intensity but NaN, and the model needs it"
                )
            columns.append(known.scaled(given)[:, None])
        else:
            columns.append(given / 255.0 if channel == "colour" else given)
    return np.concatenate(columns, axis=1) if columns else np.zeros((cloud.n_points, 0))

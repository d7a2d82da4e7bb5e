"""What is done with one tile: each step reads what steps before it left in the scratch folder, and leaves its own."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from gapcut.scenes.groups import group_order, kept_grid, segment_means, voxel_sample
from gapcut.scenes.labelling.inventory import hull_corners
from gapcut.scenes.labelling.model import SceneModel
from gapcut.scenes.labelling.scene import SegmentedScan
from gapcut.scenes.labelling.segments import (
    Contacts,
    SegmentShapes,
    SegmentTable,
    contact_places,
    height_ends,
    segment_moments,
    summed_by_pair,
)
from gapcut.scenes.labelling.surroundings import point_features
from gapcut.scenes.regions import grow_regions
from gapcut.scenes.tiles.by_place import place_numbers
from gapcut.scenes.tiles.grid import Tile
from gapcut.scenes.tiles.plan import Plan
from gapcut.typing import AnyArray, IntArray

_ROUNDING = 1e-6  # metres

DRAWN, ASKED = 1, 2
"""Of a kept point: that it is described, and that it is asked, too, whether it is strange."""


def thin_tile(plan: Plan, tile: Tile) -> None:
    """One point a voxel is kept: the one that the whole scan would keep. Halos are of such points only."""
    points = plan.points(tile)
    rows = points["row"]
    numbers = place_numbers(points["xyz"], np.asarray(plan.shift)) if plan.by_place else rows
    at = voxel_sample(points["xyz"], plan.settings.lengths["voxel"], 0, numbers)
    channels = points["channels"][at].astype(np.float64)
    if "intensity" in plan.channels and plan.intensities is not None:
        channels[:, 0] = plan.intensities.scaled(channels[:, 0])
    if "colour" in plan.channels:
        channels[:, -3:] /= 255.0
    kept = {"row": rows[at], "xyz": points["xyz"][at], "channels": channels}
    # what the halos of its neighbours may see of it
    rim = np.flatnonzero(plan.grid.margin(tile, kept["xyz"], -plan.halo) <= _ROUNDING)
    plan.scratch.save("rim", tile, **{name: column[rim] for name, column in kept.items()}, at=rim)
    plan.scratch.save("kept", tile, **kept)


def grow_tile(plan: Plan, tile: Tile) -> None:
    """Segments as far as the tile sees them, and the points of the halo by which they are known to its neighbours.

    Smooth components are parts of those of the whole scan wherever they are; rough ones where what they are cut out of
    is known, too.
    """
    view, size = plan.view(tile), plan.settings.regions
    regions = grow_regions(view.xyz, size, margin=view.margin)
    assert size.reach is not None
    assert size.extent is not None
    deep = view.margin >= size.reach + size.extent
    shared = ~view.own & ((regions.step == 1) | ((regions.step == 3) & deep))
    plan.scratch.save(
        "grown",
        tile,
        number=view.number[view.own],
        segment=regions.segments[view.own],
        step=regions.step[view.own],
        shared=view.number[shared],
        shared_segment=regions.segments[shared],
        shared_step=regions.step[shared],
        n_segments=np.array(regions.n_segments),
    )


def describe_tile(plan: Plan, tile: Tile) -> None:
    """Features of the points that are drawn, and the tile's share in everything about its segments."""
    view, size = plan.view(tile), plan.settings.lengths
    segment = plan.scratch.column("segment")[view.number].astype(np.int64)
    own = np.flatnonzero(view.own)
    at = own[plan.scratch.column("drawn")[view.number[own]] > 0]
    values = point_features(
        view.xyz, view.height, at, plan.settings, view.channels, numbers=view.number.astype(np.int64)
    )
    ids, local = np.unique(segment[own], return_inverse=True)
    count, centre, second = segment_moments(view.xyz[own], local, len(ids))
    low, high = height_ends(view.height[own], local, len(ids))
    means = segment_means(np.column_stack([view.height, view.channels])[own], local, len(ids))
    pairs, sums = summed_by_pair(*contact_places(view.xyz, segment, size["cell"], view.own))
    plan.scratch.save(
        "described",
        tile,
        ids=ids,
        count=count,
        centre=centre,
        second=second,
        low=low,
        high=high,
        means=means,
        pairs=pairs,
        sums=sums,
        number=view.number[at],
        owner=segment[at],
        values=values,
    )


def rate_tile(plan: Plan, tile: Tile) -> None:
    """What the forest says of the points that are drawn, summed by segment; the rows that are asked whether they are
    strange."""
    said, table = plan.scratch.load("described", tile), plan.scratch.load("table")
    scan = scan_of(plan, table, said["owner"], said["values"])
    chances = model_of(plan.model).forest.probabilities(scan.forest_rows())
    ids, local = np.unique(said["owner"], return_inverse=True)
    sums = [np.bincount(local, column, len(ids)) for column in chances.T.astype(np.float64)]
    asked = np.flatnonzero(plan.scratch.column("drawn")[said["number"]] == ASKED)
    plan.scratch.save(
        "rated",
        tile,
        ids=ids,
        count=np.bincount(local, minlength=len(ids)),
        sums=np.column_stack(sums),
        rows=scan.forest_rows(asked),
    )


def place_tile(plan: Plan, tile: Tile) -> None:
    """Every point gets the segment of the nearest kept one, at most the diagonal of a voxel away."""
    points = plan.points(tile)
    view = plan.view(tile, 2.0 * plan.settings.lengths["voxel"])
    segment = plan.scratch.column("segment")[view.number]
    mine = points["row"] < plan.n_own
    wanted = np.ascontiguousarray(points["xyz"][mine])
    near = kept_grid(view.xyz, plan.settings.lengths["voxel"]).nearest(wanted, 1, 1)[0][:, 0]
    found = segment[near]
    plan.scratch.column("point_segment")[points["row"][mine]] = found
    plan.scratch.settle("point_segment")
    plan.scratch.save("placed", tile, count=np.array(len(found)))


def list_tile(plan: Plan, tile: Tile) -> None:
    """Of every segment the number of points in the tile, and those that its extent, outline and hull are made of."""
    points = plan.points(tile)
    points = points[points["row"] < plan.n_own]
    ids, local = np.unique(plan.scratch.column("point_segment")[points["row"]], return_inverse=True)
    count = np.bincount(local, minlength=len(ids))
    groups = np.split(group_order(local, len(ids)), np.cumsum(count)[:-1])
    corners = [hull_corners(points["xyz"][rows]) for rows in groups] if len(ids) else []
    plan.scratch.save(
        "listed",
        tile,
        ids=ids.astype(np.int64),
        count=count,
        owner=np.repeat(ids, [len(some) for some in corners]).astype(np.int64),
        corners=np.concatenate([np.empty((0, 3)), *corners]),
    )


def scan_of(
    plan: Plan,
    table: dict[str, AnyArray],
    owner: IntArray,
    values: AnyArray,
    contacts: Contacts | None = None,
) -> SegmentedScan:
    """A scan of the segments in ``table`` with described points (R,) of segments ``owner``. It has one point a segment:
    how many there are has no part in their labels."""
    n = len(table["values"])
    places, none = np.arange(len(owner)), np.empty(0)
    shapes = SegmentShapes(*(table[name] for name in ("centre", "axes", "spread", "count")))
    nothing = Contacts(np.empty((0, 2), dtype=np.int64), none, none, none, none, none, 1.0)
    return SegmentedScan(
        name="scan",
        point_segment=np.arange(n, dtype=np.int32),
        kept=places,
        xyz=np.empty((0, 3)),
        segment=owner,
        sample=places,
        values=values,
        table=SegmentTable(shapes, table["values"], table["mean_height"]),
        contacts=nothing if contacts is None else contacts,
        channels=table["channels"],
        labels=np.full(n, -1),
        segment_seen="segment" in plan.settings.points,
    )


@lru_cache(maxsize=1)
def model_of(path: Path) -> SceneModel:
    """Read once a process."""
    return SceneModel.load(path)

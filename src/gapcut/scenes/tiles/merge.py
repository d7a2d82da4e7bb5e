"""What all tiles together decide: numbers of the points, the ground, segments over seams, features of segments."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gapcut.scenes.groups import group_order, spread_sample
from gapcut.scenes.labelling.familiar import evenly
from gapcut.scenes.labelling.inventory import Segment
from gapcut.scenes.labelling.segments import (
    Contacts,
    contacts_of,
    height_ends,
    shapes_of,
    summed_by_pair,
    table_of,
)
from gapcut.scenes.labelling.surroundings import Ground
from gapcut.scenes.tiles.by_place import draw_by_place, number_by_place
from gapcut.scenes.tiles.plan import Plan
from gapcut.scenes.tiles.steps import ASKED, DRAWN
from gapcut.typing import AnyArray, FloatArray, IntArray


def number_kept(plan: Plan) -> None:
    """Kept points are numbered by row or by place, and have heights above the ground of the whole scan."""
    scratch, size = plan.scratch, plan.settings.lengths
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for tile in plan.tiles:
        xyz = scratch.load("kept", tile, "xyz")["xyz"]
        low, high = np.minimum(low, xyz[:, :2].min(axis=0)), np.maximum(high, xyz[:, :2].max(axis=0))
    number = scratch.column("number", np.int32, plan.n_rows)
    n_kept = number_by_place(plan, number) if plan.by_place else _number_by_row(plan, number)
    ground = Ground(low, high, size["ground_cell"])
    for tile in plan.tiles:
        ground.add(scratch.load("kept", tile, "xyz")["xyz"])
    ground.open(size["ground_window"])
    for tile in plan.tiles:
        height = ground.heights(scratch.load("kept", tile, "xyz")["xyz"])
        scratch.save("heights", tile, own=height, rim=height[scratch.load("rim", tile, "at")["at"]])
    scratch.settle("number", *(("own", "cube") if plan.by_place else ()))
    scratch.save("ground", n_kept=np.array(n_kept))


def _number_by_row(plan: Plan, number: AnyArray) -> int:
    kept = np.zeros(plan.n_rows, dtype=bool)
    for tile in plan.tiles:
        kept[plan.scratch.load("kept", tile, "row")["row"]] = True
    np.cumsum(kept, dtype=np.int32, out=number)
    number -= 1
    return int(np.count_nonzero(kept))


def own_kept(plan: Plan) -> int:
    """How many of the points to be labelled are kept."""
    if plan.by_place:
        return int(np.count_nonzero(plan.scratch.column("own")))
    return int(plan.scratch.load("ground")["n_kept"])


def join_seams(plan: Plan) -> None:
    """Segments of two tiles are one where a point became part of both in the same step of growing; they are numbered
    in the order of their first points. The points to describe are drawn."""
    scratch = plan.scratch
    n_kept = int(scratch.load("ground")["n_kept"])
    local, step = np.empty(n_kept, dtype=np.int64), np.empty(n_kept, dtype=np.int8)
    first = [0]
    for tile in plan.tiles:
        grown = scratch.load("grown", tile)
        local[grown["number"]] = first[-1] + grown["segment"]
        step[grown["number"]] = grown["step"]
        first.append(first[-1] + int(grown["n_segments"]))
    links = [np.empty((0, 2), dtype=np.int64)]
    for tile, offset in zip(plan.tiles, first, strict=False):
        grown = scratch.load("grown", tile)
        same = step[grown["shared"]] == grown["shared_step"]
        seen, theirs = offset + grown["shared_segment"][same], local[grown["shared"][same]]
        links.append(np.unique(np.column_stack([seen, theirs]), axis=0))
    u, v = np.concatenate(links).T
    graph = coo_array((np.ones(len(u), dtype=np.int8), (u, v)), shape=(first[-1], first[-1]))
    n, joined = connected_components(graph, directed=False)
    local = joined[local].astype(np.int64)
    begins = np.full(n, n_kept)
    np.minimum.at(begins, local, np.arange(n_kept))
    used = np.flatnonzero(begins < n_kept)
    number = np.full(n, -1)
    number[used[np.argsort(begins[used])]] = np.arange(len(used))
    segment = number[local]
    scratch.column("segment", np.int32, n_kept)[:] = segment
    sample = _draw(plan, segment, len(used))
    scratch.settle("segment", "drawn")
    scratch.save("joined", count=np.bincount(segment), n_drawn=np.array(len(sample)))


def _draw(plan: Plan, segment: IntArray, n_segments: int) -> IntArray:
    """Points to describe; those that are asked whether they are strange are of the file itself, if any are."""
    drawn, most = plan.scratch.column("drawn", np.int8, len(segment)), plan.settings.per_segment
    if not plan.by_place:
        sample = asked = spread_sample(segment, n_segments, most, np.random.default_rng(0))
    else:
        sample = draw_by_place(plan, segment, n_segments, most)
        own = sample[plan.scratch.column("own")[sample] > 0]
        asked = own if len(own) else sample
    drawn[sample] = DRAWN
    drawn[asked[evenly(len(asked))]] = ASKED
    return sample


def gather_table(plan: Plan) -> None:
    """Features of the segments and their contacts, from the shares of the tiles."""
    scratch = plan.scratch
    total = scratch.load("joined")["count"]
    n, width = len(total), plan.n_channels + 1
    centre, means, second = np.zeros((n, 3)), np.zeros((n, width)), np.zeros((n, 3, 3))
    low, high = np.zeros(n), np.zeros(n)
    pairs, sums = [], []
    for tile in plan.tiles:
        part = scratch.load("described", tile)
        ids, share = part["ids"], part["count"] / total[part["ids"]]
        centre[ids] += share[:, None] * part["centre"]
        means[ids] += share[:, None] * part["means"]
        low[ids], high[ids] = part["low"], part["high"]
        pairs.append(part["pairs"])
        sums.append(part["sums"])
    crossing = np.zeros(n, dtype=bool)
    for tile in plan.tiles:
        part = scratch.load("described", tile)
        ids, share = part["ids"], part["count"] / total[part["ids"]]
        off = part["centre"] - centre[ids]
        second[ids] += share[:, None, None] * (part["second"] + off[:, :, None] * off[:, None, :])
        crossing[ids] |= part["count"] < total[ids]
    at = np.flatnonzero(crossing)
    low[at], high[at] = _ends_over_seams(plan, at, n)
    shapes = shapes_of(total, centre, second)
    table = table_of(shapes, low, means[:, 0], high, plan.settings.lengths["voxel"])
    all_pairs, all_sums = summed_by_pair(np.concatenate(pairs), np.concatenate(sums))
    scratch.save(
        "table",
        count=total,
        centre=centre,
        axes=shapes.axes,
        spread=shapes.spread,
        values=table.values,
        mean_height=table.mean_height,
        channels=means[:, 1:],
        pairs=all_pairs,
        sums=all_sums,
    )


def _ends_over_seams(plan: Plan, crossing: IntArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Ends of the heights of segments that several tiles have a part of: these alone are gathered point by point."""
    place = np.full(n, -1)
    place[crossing] = np.arange(len(crossing))
    number, segment = plan.scratch.column("number"), plan.scratch.column("segment")
    heights, owners = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for tile in plan.tiles:
        owner = place[segment[number[plan.scratch.load("kept", tile, "row")["row"]]]]
        heights.append(plan.scratch.load("heights", tile, "own")["own"][owner >= 0])
        owners.append(owner[owner >= 0])
    return height_ends(np.concatenate(heights), np.concatenate(owners), len(crossing))


def gather_segments(plan: Plan, labels: IntArray, sure: AnyArray, names: Mapping[int, str]) -> list[Segment]:
    """All segments for a table, from the shares of the tiles, with labels (S,) and confidences (S,)."""
    parts = [plan.scratch.load("listed", tile) for tile in plan.tiles]
    owner = np.concatenate([part["owner"] for part in parts])
    corners = np.concatenate([part["corners"] for part in parts]) + np.asarray(plan.shift)
    size = np.zeros(len(labels), dtype=np.int64)
    for part in parts:
        size[part["ids"]] += part["count"]
    ends = np.cumsum(np.bincount(owner, minlength=len(labels)))
    groups = np.split(corners[group_order(owner, len(labels))], ends[:-1])
    rows = zip(labels.tolist(), sure.tolist(), size.tolist(), groups, strict=True)
    return [
        Segment.of(i, label, names.get(label, str(label)), chance, n, some)
        for i, (label, chance, n, some) in enumerate(rows)
        if n
    ]


def contacts(plan: Plan, table: dict[str, AnyArray]) -> Contacts:
    """Between all segments."""
    return contacts_of(table["pairs"], table["sums"], plan.settings.lengths["cell"])


def distributions(plan: Plan, n_classes: int) -> tuple[FloatArray, AnyArray]:
    """(S, K) mean class distribution of each segment's described points, and the rows that are asked whether they are
    strange."""
    n = len(plan.scratch.load("joined")["count"])
    sums, counts, rows = np.zeros((n, n_classes)), np.zeros(n), []
    for tile in plan.tiles:
        part = plan.scratch.load("rated", tile)
        sums[part["ids"]] += part["sums"]
        counts[part["ids"]] += part["count"]
        rows.append(part["rows"])
    return sums / counts[:, None], np.concatenate(rows)

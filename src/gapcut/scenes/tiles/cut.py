"""The points of a file, and those of its neighbours that it sees, by tile."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gapcut.scenes.groups import group_order
from gapcut.scenes.tiles.grid import Tile
from gapcut.scenes.tiles.plan import Plan, raw_name
from gapcut.scenes.tiles.strips import Outside
from gapcut.scenes.tiles.survey import Part, ScanFile, Survey, distinct_pairs
from gapcut.typing import AnyArray, IntArray


@dataclass(eq=False)
class Points:
    """Those of a file that was read: ``seen`` in it; its ``parts``, where there was room for them; ``outside``: what it
    sees of its neighbours (None: it has none)."""

    scan: ScanFile
    seen: Survey
    parts: list[Part] | None
    outside: Outside | None = None

    @property
    def all_of_them(self) -> Survey:
        """The same with those of its neighbours: what tiles are made of."""
        if self.outside is None or not self.outside.n_points:
            return self.seen
        squares = dict(self.seen.squares)
        for place, count in (self.outside.squares or {}).items():
            squares[place] = squares.get(place, 0) + count
        return replace(
            self.seen,
            n_points=self.seen.n_points + self.outside.n_points,
            low=np.minimum(self.seen.low, self.outside.low),
            high=np.maximum(self.seen.high, self.outside.high),
            squares=squares,
        )


def cut(points: Points, plan: Plan) -> Plan:
    """Each tile's points in a file of its own, and earlier labels by row, where that is not done yet; the ``plan`` with
    its tiles. Room for the parts is not needed any more then."""
    if not plan.scratch.has("cut"):
        tiles = _spread(points, plan)
        plan.scratch.save("cut", tiles=np.array(sorted(tiles), dtype=np.int64))
    if points.parts is not None:
        points.parts.clear()
    return replace(plan, tiles=tuple((int(i), int(j)) for i, j in plan.scratch.load("cut")["tiles"]))


def _spread(points: Points, plan: Plan) -> set[Tile]:
    for left_over in plan.scratch.root.glob("points_*.bin"):
        left_over.unlink()
    seen, scratch = points.seen, plan.scratch
    tiles, start = set[Tile](), 0
    scratch.column("point_segment", np.int32, seen.n_points)
    kinds = [
        name for name, there in (("truth", seen.truth is not None), ("original", seen.original)) if there
    ]
    before = {name: scratch.column(f"before_{name}", np.int64, seen.n_points) for name in kinds}
    for part in _read_again(points, plan) if points.parts is None else points.parts:
        rows = np.arange(start, start + len(part.xyz))
        if start + len(rows) > seen.n_points:  # it grew, which is said when it is looked at again
            break
        for name, column in before.items():
            labels = getattr(part, name)
            column[rows] = -1 if labels is None else labels
        tiles |= _append(plan, part.xyz, part.channels, rows)
        start += len(rows)
    start = seen.n_points
    for records in points.outside.parts() if points.outside is not None else ():
        rows = np.arange(start, start + len(records))
        tiles |= _append(plan, records["xyz"], records["channels"], rows)
        start += len(rows)
    scratch.settle_points(tiles)
    scratch.settle("point_segment", *(f"before_{name}" for name in before))
    return tiles


def _append(plan: Plan, xyz: AnyArray, channels: AnyArray, rows: IntArray) -> set[Tile]:
    """Points to the files of their tiles."""
    points = np.empty(len(rows), dtype=plan.record)
    points["xyz"], points["row"], points["channels"] = plan.local(xyz), rows, channels
    of, which = distinct_pairs(plan.grid.of(points["xyz"]))
    order = group_order(which, len(of))
    ends = np.concatenate([[0], np.cumsum(np.bincount(which))])
    for k, (i, j) in enumerate(of.tolist()):
        with open(plan.scratch.root / raw_name((i, j)), "ab") as file:
            points[order[ends[k] : ends[k + 1]]].tofile(file)
    return {(int(i), int(j)) for i, j in of}


def _read_again(points: Points, plan: Plan) -> Iterator[Part]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first reading has said it
        for cloud in points.scan.parts(points.seen.top_colour):
            yield Part.of(cloud, plan.channels, points.scan.classes)

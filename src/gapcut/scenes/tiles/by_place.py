"""Files side by side: points are told apart by their places, so that each file keeps, orders and draws the same ones.

Within one file a point is known by its row, which another file that sees it cannot know.
"""

from __future__ import annotations

import numpy as np

from gapcut.scenes.groups import group_order, key_order
from gapcut.scenes.tiles.grid import STEPS
from gapcut.scenes.tiles.plan import Plan
from gapcut.typing import AnyArray, FloatArray, IntArray

_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_MIDDLE = 1 << 20  # cubes, more than those on either side of the origin


def place_numbers(xyz: FloatArray, shift: FloatArray) -> IntArray:
    """(N,) numbers of snapped places less ``shift``: equal ones for equal places."""
    at = (np.rint(xyz * STEPS) + np.rint(shift * STEPS)).astype(np.int64).astype(np.uint64)
    mixed = np.bitwise_xor.reduce(at * _FACTORS, axis=1)
    return np.asarray(mixed.astype(np.int64))


def cube_keys(xyz: FloatArray, voxel: float) -> IntArray:
    """(N,) of the cubes that places are in, ascending along x, then y, then z."""
    cubes = np.floor(xyz / voxel).astype(np.int64) + _MIDDLE
    return np.asarray((cubes[:, 0] << 42) | (cubes[:, 1] << 21) | cubes[:, 2])


def number_by_place(plan: Plan, number: AnyArray) -> int:
    """Fill ``number`` by row with those of the kept points in the order of their cubes, of which each has one; keep
    which of them are of the file itself, and their cubes. How many there are."""
    parts = [plan.scratch.load("kept", tile, "row", "xyz") for tile in plan.tiles]
    row = np.concatenate([part["row"] for part in parts])
    key = np.concatenate([cube_keys(part["xyz"], plan.settings.lengths["voxel"]) for part in parts])
    del parts
    order = key_order(key)
    number[:] = -1
    number[row[order]] = np.arange(len(row))
    plan.scratch.column("own", np.int8, len(row))[:] = row[order] < plan.n_own
    plan.scratch.column("cube", np.int64, len(row))[:] = key[order]
    return len(row)


def draw_by_place(plan: Plan, groups: IntArray, n_groups: int, most: int) -> IntArray:
    """Rows, ascending: all of a group of no more than ``most``, else those ``most`` of it that a hash of their cubes
    draws."""
    key = np.asarray(plan.scratch.column("cube")).astype(np.uint64) * _FACTORS[0]
    key ^= key >> np.uint64(29)
    chance = ((key * _FACTORS[1]) >> np.uint64(12)).astype(np.float64)
    order = group_order(groups, n_groups, chance)
    count = np.bincount(groups, minlength=n_groups)
    place = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    return np.sort(order[place < most])

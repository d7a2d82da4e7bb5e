"""Generated bridges, each made once a process: one takes a second or two. Imported by tests of scenes and commands."""

from __future__ import annotations

from functools import cache

import numpy as np

from gapcut.scenes.bridges import Bridge, Mesh, make_bridge


@cache
def built_bridge(type_: str, seed: int, variant: int | None = None) -> Bridge:
    """What ``make_bridge`` gives; not to be changed."""
    return make_bridge(type_, seed, variant)


def is_watertight(mesh: Mesh) -> bool:
    """Whether every directed edge is met by exactly one reversed edge (closed and consistently wound)."""
    edges = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    n = len(mesh.vertices)
    there, back = np.sort(edges[:, 0] * n + edges[:, 1]), np.sort(edges[:, 1] * n + edges[:, 0])
    return bool(np.all(np.diff(there) > 0) and np.array_equal(there, back))

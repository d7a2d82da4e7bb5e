"""Generated bridges, each made once a process: one takes a second or two. Imported by tests of scenes and commands."""

from __future__ import annotations

from functools import cache

from gapcut.scenes.bridges import Bridge, make_bridge


@cache
def built_bridge(type_: str, seed: int, variant: int | None = None) -> Bridge:
    """What ``make_bridge`` gives; not to be changed."""
    return make_bridge(type_, seed, variant)

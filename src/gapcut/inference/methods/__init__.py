"""The methods of ``solve``, one file each. A new one is a file and a line in ``METHODS``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from gapcut.inference.methods.auto import auto
from gapcut.inference.methods.bp import bp
from gapcut.inference.methods.brute import brute
from gapcut.inference.methods.cycles import cycles
from gapcut.inference.methods.exact import exact
from gapcut.inference.methods.expansion import expansion
from gapcut.inference.methods.icm import icm
from gapcut.inference.methods.linear_program import ilp, lp
from gapcut.inference.methods.qpbo import qpbo
from gapcut.inference.methods.trees import trees
from gapcut.inference.methods.trws import trws
from gapcut.inference.solution import Found

Method: TypeAlias = Callable[..., Found]
"""``method(energy: Energy, clock: Deadline, *, setting=default, ...) -> Found``; settings are keyword-only."""

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "auto": auto,
        "bp": bp,
        "brute": brute,
        "cycles": cycles,
        "exact": exact,
        "expansion": expansion,
        "icm": icm,
        "ilp": ilp,
        "lp": lp,
        "qpbo": qpbo,
        "trees": trees,
        "trws": trws,
    }
)

MethodName: TypeAlias = Literal[
    "auto", "bp", "brute", "cycles", "exact", "expansion", "icm", "ilp", "lp", "qpbo", "trees", "trws"
]


__all__ = ["METHODS", "Method", "MethodName"]

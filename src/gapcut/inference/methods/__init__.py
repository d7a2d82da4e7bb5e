"""The methods of ``solve``, one file each. A new one is a file and a line in ``METHODS``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from gapcut.inference.methods.auto import auto
from gapcut.inference.methods.base import Clock, Method
from gapcut.inference.methods.bp import bp
from gapcut.inference.methods.brute import brute
from gapcut.inference.methods.exact import exact
from gapcut.inference.methods.expansion import expansion
from gapcut.inference.methods.icm import icm
from gapcut.inference.methods.linear_program import ilp, lp
from gapcut.inference.methods.qpbo import qpbo
from gapcut.inference.methods.trws import trws

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "auto": auto,
        "bp": bp,
        "brute": brute,
        "exact": exact,
        "expansion": expansion,
        "icm": icm,
        "ilp": ilp,
        "lp": lp,
        "qpbo": qpbo,
        "trws": trws,
    }
)

MethodName: TypeAlias = Literal[
    "auto", "bp", "brute", "exact", "expansion", "icm", "ilp", "lp", "qpbo", "trws"
]


def find_method(name: str, settings: Iterable[str]) -> Method:
    """The named method; ``ValueError`` if it does not exist or does not know one of the settings."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}: use one of {', '.join(METHODS)}")
    run = METHODS[name]
    known = [p.name for p in inspect.signature(run).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for setting in settings:
        if setting not in known:
            raise ValueError(
                f"method {name!r} has no setting {setting!r}: it has {', '.join(known) or 'none'}"
            )
    return run


__all__ = ["METHODS", "Clock", "Method", "MethodName", "find_method"]

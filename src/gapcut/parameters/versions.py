"""The defaults of released versions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

DEFAULTS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "0.1": MappingProxyType(
            {
                **{"C": 1.0, "loss_scale": 100.0, "gap": 1e-2, "eps": None},
                **{"learner": "auto", "oracle": "cut", "inference": "auto", "qp": "dual"},
                **{
                    "nonnegative": "auto",
                    "class_weight": None,
                    "costs": None,
                    "pairwise": "full",
                    "frozen": None,
                    "probability": False,
                },
                **{"incidence": True, "incidence_scale": "auto", "standardize": True, "intercept": True},
                **{"edge_lift": "auto", "node_lift": "none", "degree_scale": "none"},
                **{"base": None, "base_features": "edges"},
            }
        ),
    }
)
"""Per version, the parameters of :class:`gapcut.StructuredSVM` that change what is learned. Entries never change; a
version that changes a default adds one.
"""


def defaults(version: str) -> dict[str, Any]:
    """The defaults of that release, to keep what it learned: ``StructuredSVM(**gapcut.defaults("0.1"))``.

    To change some, join them: ``StructuredSVM(**gapcut.defaults("0.1") | {"C": 10})``. Threads, limits and callbacks,
    which do not change what is learned, are not among them. Raises ValueError for a version without an entry.
    """
    if version not in DEFAULTS:
        raise ValueError(f"no defaults of version {version!r}: known are {', '.join(DEFAULTS)}")
    return dict(DEFAULTS[version])

"""Roof duality of binary functions: labels that some minimiser has, half-integral relaxation, lower bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapcut import _core
from gapcut.inference.energy import Energy
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class RoofDual:
    """What roof duality says about a function of n binary variables.

    ``values`` (n,) in {0, 0.5, 1}: a minimiser of the half-integral relaxation (Boros and Hammer 2002); 0.5 is
    unlabelled. Some minimiser of the function has all the labels (persistency); ``strong`` (n,) bool marks those
    that every minimiser has. ``bound`` is never above the minimum, rounding paid for; inf: everything is
    forbidden. ``stopped``: time ran out, with fewer labels and a weaker bound, both valid.

    Labels are exact for a function whose terms differ from the given ones by less than 2^-56 of the sum of all
    their ranges.
    """

    values: FloatArray
    strong: NDArray[np.bool_]
    bound: float
    stopped: bool = False

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(n,) where ``values`` is 0 or 1."""
        return np.not_equal(self.values, 0.5)


def persistency(
    energy: Energy, *, start: ArrayLike | None = None, time_left: float | None = None
) -> RoofDual:
    """Roof duality of an energy with one or two labels per node, such as any function of binary variables with terms
    of one and two; ``ValueError`` if a node has more.

    ``start`` (V,) labels: a good labeling sharpens the integer scale where entries differ much in size.
    """
    refuse_cliques(energy, "roof duality")
    first = None if start is None else energy.check_labels(start).astype(np.uint8)
    labels, strong, bound, stopped = _core.roof_dual(energy.native, first, time_left)
    single = energy.n_labels == 1
    return RoofDual(
        np.where(single, 0.0, np.where(labels < 0, 0.5, labels)), single | (strong != 0), bound, stopped
    )


def refuse_cliques(energy: Energy, what: str) -> None:
    """``ValueError`` if the energy has terms over more than two nodes: they must not be left out silently."""
    count = getattr(energy, "n_cliques", 0)
    if count:
        raise ValueError(
            f"{what} takes terms over one and two nodes only, but the energy has {count} larger cliques: "
            "use method='auto'"
        )

"""Girder bridges: simple spans of steel or prestressed I-girders or steel boxes on piers.

Depths are a little above the least ones of AASHTO LRFD table 2.5.2.6.3-1 (8th ed., simple spans: composite steel
I-beams 0.040 L overall, precast I-beams 0.045 L): 0.043 L for steel, 0.047 L for concrete, and 0.042 L for steel
boxes, which the table does not name. Spans of 22 to 46 m, girders 2 to 2.5 m (boxes about 3.8 m) apart, cross
frames 6 to 7 m apart: typical of highway bridges, by eye.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gapcut.scenes.bridges import kit
from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.model import Bridge
from gapcut.scenes.bridges.plan import Plan
from gapcut.scenes.bridges.railings import road_railings

KINDS = ("steel", "concrete", "steel-k", "box", "concrete-wall")


def build(plan: Plan) -> Bridge:
    """A girder bridge of one of ``KINDS``."""
    rng, kind = plan.rng, plan.kind(KINDS)
    material = kind.split("-")[0]
    low, high = {"steel": (26, 36), "concrete": (24, 34), "box": (34, 46)}[material]
    n_spans = int(rng.integers(*{"steel": (3, 5), "concrete": (5, 8), "box": (5, 7)}[material]))
    spans = _spans(rng, n_spans, low, high)
    width = float(rng.uniform(10.0, 14.0))
    curved = rng.random() < 0.4
    line = Line(
        length=float(spans.sum()),
        level=0.0,
        radius=float(rng.uniform(280, 600)) * (1 if rng.random() < 0.5 else -1) if curved else np.inf,
        skew=0.0 if curved else plan.skew(18.0),
        grade=float(rng.uniform(-0.02, 0.02)),
        crest=float(rng.uniform(0.0, 0.8)),
    )
    clearance = float(rng.uniform(7.5, 13.0))
    depth = float(np.round(spans.max() * {"steel": 0.043, "concrete": 0.047, "box": 0.042}[material], 2))
    site = kit.valley(plan.rng, line, width, clearance + depth, depth)
    if material == "box":
        n_girders = max(3, round(width / 3.8))
        ys = kit.offsets(width, n_girders, width / (2 * n_girders))
    else:
        ys = kit.offsets(width, max(4, round((width - 2.0) / rng.uniform(2.0, 2.5)) + 1), 1.1)
    bracing = {"steel": "x-frame", "concrete": "diaphragm", "steel-k": "k-frame"}.get(kind, "diaphragm")
    span = kit.GirderSpan(material, depth, ys, bracing, {"steel": 6.8, "concrete": 7.0, "box": 6.0}[material])
    pier = {"concrete-wall": "wall", "box": "hammerhead"}.get(kind) or str(
        rng.choice(["columns", "hammerhead"])
    )
    _assemble(site, spans, span, pier)
    railing = plan.railing(("parapet", "posts", "mesh"))
    road_railings(site, float(rng.uniform(3.2, 4.5)), railing)
    facts = {
        "kind": kind,
        "spans": spans.round(2).tolist(),
        "girders": len(ys),
        "pier": pier,
        "railing": railing,
    }
    return site.bridge(plan, "girder", facts | {"depth": depth, "clearance": round(clearance, 2)})


def _spans(rng: np.random.Generator, n: int, low: float, high: float) -> np.ndarray:
    """Equal inner spans and end spans of 75 to 100 % of them."""
    main = rng.uniform(low, high)
    spans = np.full(n, main)
    spans[[0, -1]] *= rng.uniform(0.75, 1.0)
    return np.round(spans, 2)


def _assemble(site: kit.Site, spans: np.ndarray, span: kit.GirderSpan, pier: str) -> None:
    stations = np.concatenate([[0.0], np.cumsum(spans)])
    for end in (0, 1):
        kit.end_support(site, end, span)
    for s in stations[1:-1]:
        cap = min(kit.seat_height(site, float(s) + d, span) for d in (-kit.SEAT, kit.SEAT))
        kit.pier(site, float(s), cap, pier, 1.9)
        for d in (-kit.SEAT, kit.SEAT):
            kit.bearings(site, float(s) + d, cap, span)
    for a, b in pairwise(stations):
        kit.girder_span(site, float(a), float(b), span)
        kit.deck(site, float(a) + 0.02, float(b) - 0.02, 2)

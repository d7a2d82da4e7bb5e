"""Bridges as one finds them: what is around them, what soil hides, and where on earth they are."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from built_bridges import built_bridge, is_watertight
from gapcut.scenes.bridges import (
    CLASSES,
    LABELS,
    Bridge,
    ground_height,
    kit,
    make_bridge,
    write_glb,
    write_ply,
)
from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.railings import RAILINGS, road_railings

PLAIN = {
    "girder": (
        329,
        21364,
        [668242.55999999, 0.0, 8064.78667404],
        [74557.06892308, 14257.06854432, 12555.90360168],
    ),
    "truss": (
        477,
        22372,
        [874894.80000002, 0.0, 16105.06082580],
        [125050.57590123, 19450.73939766, 10782.28014208],
    ),
}
"""Of plain bridges as they were before there were others: parts, faces, sums of coordinates, of sizes on the ground."""


@cache
def found(type_: str, variant: int = 0) -> Bridge:
    """A bridge of seed 0 as one finds it."""
    return make_bridge(type_, 0, variant, difficulty="field")


@pytest.mark.parametrize("type_", PLAIN)
def test_plain_bridges_are_what_they_were(type_: str) -> None:
    parts, faces, sums, ground = PLAIN[type_]
    bridge = built_bridge(type_, 0)
    assert (bridge.n_parts, bridge.mesh.n_faces, bridge.surroundings) == (parts, faces, ())
    assert bridge.origin == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(bridge.mesh.vertices.sum(axis=0), sums, rtol=1e-12, atol=1e-7)
    np.testing.assert_allclose(np.abs(bridge.terrain.vertices).sum(axis=0), ground, rtol=1e-12)


@pytest.mark.parametrize("type_", ["girder", "truss"])
def test_only_railings_of_the_bridge_itself_change(type_: str) -> None:
    plain, bridge = built_bridge(type_, 0), found(type_)
    assert [p.label for p in bridge.parts] == [p.label for p in plain.parts]
    for before, after in zip(plain.parts, bridge.parts, strict=True):
        if before.label != "railing":
            np.testing.assert_array_equal(before.vertices, after.vertices)
    assert bridge.parameters["railing"] in RAILINGS
    assert {k: v for k, v in bridge.parameters.items() if k != "railing"} == {
        k: v for k, v in plain.parameters.items() if k != "railing"
    }
    again = make_bridge(type_, 0, difficulty="field")
    assert again.origin == bridge.origin
    np.testing.assert_array_equal(again.solids[-1].vertices, bridge.solids[-1].vertices)


def test_everything_is_there() -> None:
    bridges = [found("girder"), found("truss"), found("arch")]
    for bridge in bridges:
        names = {thing.name for thing in bridge.surroundings}
        assert {"surfacing", "lamp post", "guard rail", "sign", "tree", "shrub"} <= names
        assert [solid.id for solid in bridge.solids] == list(range(len(bridge.solids)))
        assert all(is_watertight(thing.mesh) and thing.mesh.volume > 0 for thing in bridge.surroundings)
        assert 400_000 <= bridge.origin[0] <= 600_000
        assert 5_000_000 <= bridge.origin[1] <= 5_500_000
    assert {"climber", "barrier"} <= {thing.name for b in bridges for thing in b.surroundings}
    with pytest.raises(ValueError, match="choose one of plain, field"):
        make_bridge("girder", 0, difficulty="hard")


@pytest.mark.parametrize("kind", RAILINGS)
def test_railings_are_closed_and_stand_on_the_deck(kind: str) -> None:
    line = Line(20.0)
    site = kit.valley(np.random.default_rng(0), line, 10.0, 8.0, 1.2)
    road_railings(site, 4.0, kind)
    assert {part.label for part in site.parts} == {"railing"}
    for part in site.parts:
        assert is_watertight(part.mesh)
        assert part.mesh.volume > 1e-4
        low, high = part.mesh.bounds
        assert 0.69 < high[2] - low[2] < 2.2
        assert np.abs(part.vertices[:, 1]).max() <= 5.0 + 1e-9


def test_surfacing_covers_decks_but_not_their_edges() -> None:
    bridge = found("girder")
    decks = [p for p in bridge.parts if p.label == "deck"]
    layers = [p for p in bridge.surroundings if p.label == "surfacing"]
    top, layer = max(d.mesh.bounds[1, 1] for d in decks), max(s.mesh.bounds[1, 1] for s in layers)
    assert layer == pytest.approx(top - 0.5, abs=1e-6)
    first = layers[0].vertices[layers[0].vertices[:, 0] == layers[0].vertices[:, 0].min()]  # its first ring
    assert 0.06 <= np.ptp(first[first[:, 1] == 0, 2]) <= 0.1
    assert sum(np.ptp(s.vertices[:, 0]) for s in layers) > 0.98 * bridge.parameters["length"]


def test_soil_lies_on_footings_and_never_on_the_road() -> None:
    bridge, plain = found("girder"), built_bridge("girder", 0)
    footings = [p for p in bridge.parts if p.label == "footing"]
    buried = []
    for part in footings:
        corners = part.vertices[part.vertices[:, 2] > part.vertices[:, 2].max() - 0.05]
        before, after = (ground_height(b.terrain, corners[:, :2]) for b in (plain, bridge))
        assert (after >= before - 1e-9).all()
        buried.append(bool((after > corners[:, 2]).all()))
    assert any(buried)
    road = plain.terrain.vertices[:, 2].max()
    assert bridge.terrain.vertices[:, 2].max() == pytest.approx(road)


def test_files_hold_surroundings_and_the_place_on_earth(tmp_path) -> None:
    bridge = found("girder")
    write_ply(bridge, tmp_path / "a.ply")
    data = (tmp_path / "a.ply").read_bytes()
    head, body = data.split(b"end_header\n", 1)
    n = int(head.split(b"element vertex ")[1].split(b"\n")[0])
    vertices = np.frombuffer(body, "<f8", 3 * n).reshape(-1, 3)
    first = bridge.parts[0].vertices
    np.testing.assert_allclose(vertices[: len(first)] - bridge.origin, first, atol=1e-8)
    assert b"comment class 13 vegetation" in head
    pytest.importorskip("trimesh")
    write_glb(bridge, tmp_path / "a.glb")
    glb = (tmp_path / "a.glb").read_bytes()
    document = json.loads(glb[20 : 20 + int.from_bytes(glb[12:16], "little")])
    classes = [
        node["extras"]["class"]
        for node in document["nodes"]
        if "extras" in node and "class" in node["extras"]
    ]
    assert set(classes) >= {*LABELS[len(CLASSES) :], "terrain"}
    assert json.dumps(list(bridge.origin)) in json.dumps(document)

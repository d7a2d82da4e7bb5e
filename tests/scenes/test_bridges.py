"""Bridges: closed solids, all classes, the same for the same seed, standing on their ground."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
import trimesh

from built_bridges import built_bridge, is_watertight
from gapcut.scenes.bridges import (
    CLASSES,
    TYPES,
    Bridge,
    bridge_specs,
    ground_height,
    make_bridge,
    make_bridges,
    sample_surface,
    write_glb,
    write_ply,
)
from gapcut.scenes.bridges.model import Mesh
from gapcut.scenes.bridges.solids import beam, circle, ear_clip, i_section, loft, rectangle, rounded, stack

SPECS = bridge_specs(25)
FEW = [pytest.param(t, v, marks=pytest.mark.slow) if v else (t, v) for t, v in SPECS]
"""One of each type at once, the others in the long tests."""


def bridge(type_: str, variant: int) -> Bridge:
    """Bridges of seed 0."""
    return built_bridge(type_, 0, variant)


@pytest.mark.parametrize(("type_", "variant"), FEW)
def test_parts_are_closed_solids_with_ids(type_: str, variant: int) -> None:
    b = bridge(type_, variant)
    for i, part in enumerate(b.parts):
        assert part.id == i
        assert is_watertight(part.mesh), part.name
        assert part.mesh.volume > 1e-4, part.name
        assert part.label in CLASSES
    assert 150 < b.n_parts < 700
    assert np.isfinite(b.mesh.vertices).all()
    assert len(b.face_parts) == b.mesh.n_faces == sum(p.mesh.n_faces for p in b.parts)


@pytest.mark.slow
def test_counts_of_the_set() -> None:
    found = [bridge(*spec) for spec in SPECS]
    assert len({b.parameters["kind"] for b in found}) == 25
    assert 400 <= np.mean([b.n_parts for b in found]) <= 500
    total = np.sum([list(b.counts().values()) for b in found], axis=0)
    assert (total >= 50).all(), dict(zip(CLASSES, total, strict=True))
    for fold in range(5):
        assert [b.type for b in found[5 * fold : 5 * fold + 5]] == list(TYPES)
        classes = {p.label for b in found[5 * fold : 5 * fold + 5] for p in b.parts}
        assert classes == set(CLASSES)


@pytest.mark.parametrize("variant", [0, *(pytest.param(v, marks=pytest.mark.slow) for v in range(1, 5))])
def test_types_have_what_names_them(variant: int) -> None:
    assert bridge("truss", variant).counts()["chord"] > 60
    assert bridge("cable-stayed", variant).counts()["cable"] >= 36
    assert bridge("arch", variant).counts()["chord"] >= 20
    assert bridge("frame", variant).counts()["column"] >= 10
    assert bridge("girder", variant).counts()["bearing"] >= 24


def test_equal_seeds_give_equal_bridges() -> None:
    a, b, c = make_bridge("frame", 7), make_bridge("frame", 7), make_bridge("frame", 12)
    assert a.parameters == b.parameters
    np.testing.assert_array_equal(a.mesh.vertices, b.mesh.vertices)
    np.testing.assert_array_equal(a.terrain.vertices, b.terrain.vertices)
    assert a.parameters["kind"] == c.parameters["kind"]
    assert a.mesh.vertices.shape != c.mesh.vertices.shape or not np.array_equal(
        a.mesh.vertices, c.mesh.vertices
    )


@pytest.mark.slow
def test_make_bridges_is_a_prefix_of_the_larger_set() -> None:
    few = make_bridges(3, seed=4)
    assert [b.type for b in few] == list(TYPES[:3])
    np.testing.assert_array_equal(few[2].mesh.vertices, make_bridge("arch", 4, 0).mesh.vertices)
    json.dumps(few[0].parameters)


@pytest.mark.parametrize(
    ("type_", "seed", "message"), [("suspension", 0, "choose one of"), ("arch", -1, "negative")]
)
def test_wrong_arguments_are_refused(type_: str, seed: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_bridge(type_, seed)


@pytest.mark.parametrize(("type_", "variant"), FEW)
def test_superstructures_clear_the_ground_and_footings_stand_in_it(type_: str, variant: int) -> None:
    b = bridge(type_, variant)
    for part in b.parts:
        lowest = part.vertices[np.argmin(part.vertices[:, 2])]
        ground = float(ground_height(b.terrain, lowest[:2])[0])
        assert np.isfinite(ground), part.name
        if part.label == "footing":
            assert lowest[2] < ground, part.name
            bare = part.vertices[:, 2] - ground_height(b.terrain, part.vertices[:, :2])
            assert bare.max() > 0.1, (part.name, "is buried and no scanner can see it")
        elif part.name in (
            "deck",
            "stringer",
            "main girder",
            "chord",
            "diagonal",
            "hanger",
            "stay",
            "bearing",
        ):
            assert lowest[2] > ground - 0.05, (part.name, part.id)


@pytest.mark.parametrize("type_", TYPES)
def test_columns_stand_on_something(type_: str) -> None:
    """The foot of every column lies on or in a footing, a rib, a bearing, or another piece of the column."""
    b = bridge(type_, 0)
    below = ("footing", "chord", "bearing", "column")
    boxes = [p.mesh.bounds for p in b.parts]
    for part in b.parts:
        if part.label != "column":
            continue
        foot = part.vertices[part.vertices[:, 2] < part.vertices[:, 2].min() + 0.4].mean(axis=0)
        held = [
            q.label
            for q, (low, high) in zip(b.parts, boxes, strict=True)
            if q.id != part.id and (low - 0.4 <= foot).all() and (foot <= high + 0.4).all()
        ]
        assert set(held) & set(below), part.id


def test_bearings_lie_between_what_they_join() -> None:
    b = bridge("girder", 0)
    girders = np.concatenate([p.vertices for p in b.parts if p.label == "girder"])
    for part in b.parts:
        if part.label == "bearing":
            top = part.vertices[:, 2].max()
            centre = part.mesh.bounds.mean(axis=0)
            above = girders[np.linalg.norm(girders[:, :2] - centre[:2], axis=1) < 1.0]
            assert np.abs(above[:, 2] - top).min() < 0.03


def test_solids_have_the_volume_of_their_formula() -> None:
    assert np.isclose(beam([0, 0, 0], [0, 3, 4], rectangle(2, 0.5)).volume, 5.0)
    assert np.isclose(beam([1, 2, 3], [1, 2, 13], circle(0.5, 16)).volume, 10 * np.pi / 4)
    frustum = beam([0, 0, 0], [6, 0, 0], rectangle(1, 1), rectangle(2, 2))
    assert np.isclose(frustum.volume, 6 / 3 * (1 + 4 + 2))
    assert np.isclose(stack([5, 5, 5], [(2, 1, 1), (1, 0.5, 2)], 0.7).volume, 3.0)
    section = i_section(1.0, 0.4, 0.1, 0.05)
    assert np.isclose(beam([0, 0, 0], [10, 0, 0], section).volume, 10 * (0.08 + 0.04))
    assert is_watertight(beam([0, 0, 0], [1, 1, 1], rounded(3, 1)))


def test_open_and_inverted_meshes_are_found() -> None:
    cube = beam([0, 0, 0], [1, 0, 0], rectangle(1, 1))
    assert is_watertight(cube)
    assert not is_watertight(Mesh(cube.vertices, cube.faces[1:]))
    assert not is_watertight(Mesh(cube.vertices, np.concatenate([cube.faces[:1, ::-1], cube.faces[1:]])))
    assert Mesh(cube.vertices, cube.faces[:, ::-1]).volume < 0


def test_ears_of_random_star_polygons_cover_them() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(3, 25))
        angle = np.sort(rng.random(n)) + np.arange(n)
        angle *= 2 * np.pi / n
        radius = rng.uniform(0.2, 1.0, n)
        polygon = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
        x, y = polygon.T
        area = 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)
        if area <= 0 or n < 4:
            continue
        triangles = ear_clip(polygon)
        a, b, c = polygon[triangles[:, 0]], polygon[triangles[:, 1]], polygon[triangles[:, 2]]
        areas = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        assert (areas > -1e-12).all()
        assert np.isclose(areas.sum(), area)
        solid = loft(np.stack([np.column_stack([polygon, np.full(n, z)]) for z in (0.0, 2.0)]))
        assert is_watertight(solid)
        assert np.isclose(solid.volume, 2 * area)


def test_samples_lie_on_the_surfaces_of_their_parts() -> None:
    b = bridge("arch", 0)
    points, part, normals = sample_surface(b, 0.3, least=60)
    assert np.bincount(part, minlength=b.n_parts).min() >= 50
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    low = np.stack([p.mesh.bounds[0] for p in b.parts])
    high = np.stack([p.mesh.bounds[1] for p in b.parts])
    assert ((points >= low[part] - 1e-9) & (points <= high[part] + 1e-9)).all()


def test_glb_names_every_part(tmp_path) -> None:
    b = bridge("frame", 0)
    path = tmp_path / "b.glb"
    write_glb(b, path)
    raw = path.read_bytes()
    magic, version, size = struct.unpack("<4sII", raw[:12])
    assert (magic, version, size) == (b"glTF", 2, len(raw))
    length = struct.unpack("<I", raw[12:16])[0]
    document = json.loads(raw[20 : 20 + length])
    nodes = [n for n in document["nodes"] if "mesh" in n]
    assert [n["extras"]["class"] for n in nodes] == [p.label for p in b.parts] + ["terrain"]
    accessor = document["meshes"][nodes[0]["mesh"]]["primitives"][0]["attributes"]["POSITION"]
    view = document["bufferViews"][document["accessors"][accessor]["bufferView"]]
    start = 28 + length + view.get("byteOffset", 0)
    first = np.frombuffer(raw[start : start + view["byteLength"]], "<f4").reshape(-1, 3)
    np.testing.assert_allclose(first, b.parts[0].vertices, atol=1e-4)


def test_ply_keeps_part_and_class_of_faces(tmp_path) -> None:
    b = bridge("girder", 0)
    path = tmp_path / "b.ply"
    write_ply(b, path)
    mesh = trimesh.load(path, process=False)
    assert len(mesh.faces) == b.mesh.n_faces + b.terrain.n_faces
    np.testing.assert_allclose(mesh.vertices[: len(b.mesh.vertices)], b.mesh.vertices)
    data = mesh.metadata["_ply_raw"]["face"]["data"]
    np.testing.assert_array_equal(np.asarray(data["part"]).ravel()[: b.mesh.n_faces], b.face_parts)
    np.testing.assert_array_equal(np.asarray(data["class"]).ravel()[: b.mesh.n_faces], b.labels[b.face_parts])

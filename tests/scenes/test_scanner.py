"""The virtual scanner on boxes whose scan can be worked out, and on a whole bridge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from built_bridges import built_bridge
from gapcut.scenes.bridges import CLASSES, Bridge, Mesh, Part
from gapcut.scenes.scanner import GROUND, Scan, ScannerSettings, scan_bridge
from gapcut.scenes.scanner.rays import NOTHING, RayScene
from gapcut.scenes.scanner.stations import candidates, place_stations

pytest.importorskip("embreex")

FACES = np.array(
    [
        *([0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7], [0, 1, 5], [0, 5, 4]),
        *([1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7]),
    ]
)
EXACT = ScannerSettings(
    range_noise=0,
    range_noise_ppm=0,
    registration_shift=0,
    registration_turn=0,
    divergence=0,
    waist=0,
    angular_step=0.5,
    min_voxel=1e-3,
)


def box(id: int, label: str, low: list[float], high: list[float]) -> Part:
    (x0, y0, z0), (x1, y1, z1) = low, high
    corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
    vertices = np.array([[*c, z] for z in (z0, z1) for c in corners], dtype=float)
    return Part(Mesh(vertices, FACES), label, id)


def yard(*parts: Part, half: float = 15.0, ground: float = 0.0) -> Bridge:
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    terrain = Mesh(np.column_stack([corners, np.full(4, ground)]), np.array([[0, 1, 2], [0, 2, 3]]))
    return Bridge("yard", "girder", parts, terrain)


def off_surface(bridge: Bridge, xyz: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Distance of points from the surface of the box that they are said to lie on."""
    off = np.abs(xyz[:, 2])
    for p in bridge.parts:
        low, high = p.mesh.bounds
        rows = part == p.id
        out = np.maximum(np.maximum(low - xyz[rows], xyz[rows] - high), 0)
        inside = np.minimum(xyz[rows] - low, high - xyz[rows]).min(axis=1)
        off[rows] = np.where((out > 0).any(axis=1), np.linalg.norm(out, axis=1), inside)
    return off


COLUMN = box(0, "column", [-0.5, -0.5, 0], [0.5, 0.5, 4])
WALL = box(1, "abutment", [3, -3, 0], [3.4, 3, 3])
HIDDEN = box(2, "bearing", [3.1, -0.2, 0.5], [3.3, 0.2, 0.7])  # inside the wall


def test_rays_name_parts_distances_and_sides() -> None:
    scene = RayScene(yard(COLUMN, WALL))
    hits = scene.cast(
        np.array([-5.0, 0, 1]),
        np.array([[1.0, 0, 0], [0, 0, -1], [0, 0, 1], [np.sqrt(0.5), -np.sqrt(0.5), 0]]),
    )
    assert hits.part.tolist() == [0, GROUND, NOTHING, NOTHING]
    assert hits.distance[:2] == pytest.approx([4.5, 1.0])
    assert np.isinf(hits.distance[2:]).all()
    assert hits.cosine[:2] == pytest.approx([1, 1])
    inside = scene.cast(np.array([0.0, 0, 1]), np.array([[1.0, 0, 0]]))
    assert not inside.front[0]
    assert hits.front[0]
    assert len(scene.cast(np.zeros(3), np.empty((0, 3))).part) == 0


def test_without_errors_every_point_lies_on_its_part() -> None:
    bridge = yard(COLUMN, WALL, HIDDEN)
    scan = scan_bridge(bridge, 3, EXACT)
    assert off_surface(bridge, scan.xyz, scan.part).max() < 1e-4
    assert scan.unseen == (2,)
    assert scan.counts[2] == 0
    assert scan.unseen_by_class(bridge) == {"column": (0, 1), "abutment": (0, 1), "bearing": (1, 1)}
    assert set(scan.label[scan.part == 1]) == {CLASSES.index("abutment")}
    assert set(scan.label[scan.part == GROUND]) == {-1}
    assert (scan.intensity > 0).all()
    assert scan.station.max() < len(scan.stations)


def test_one_station_sees_the_sides_that_face_it() -> None:
    bridge = yard(COLUMN, WALL)
    station = np.array([[-6.0, 0.0, 1.7]])
    scan = scan_bridge(bridge, 0, replace(EXACT, terrain_margin=None), stations=station)
    assert (scan.part >= 0).all()
    column = scan.xyz[scan.part == 0]
    assert np.abs(column[:, 0] + 0.5).max() < 1e-4  # its front only
    wall = scan.xyz[scan.part == 1]
    assert wall[np.abs(wall[:, 0] - 3.0) > 1e-4, 0].size == 0
    # The column's shadow on the wall: half as wide as 0.5 * 9 / 5.5.
    assert np.abs(wall[:, 1]).min() > 0.5 * 9 / 5.5 - 1e-3
    assert np.allclose(scan.stations, station)


def test_field_of_view_range_and_incidence() -> None:
    bridge = yard(COLUMN)
    station = np.array([[-4.0, 0.0, 1.7]])
    wide = replace(EXACT, terrain_margin=30.0, terrain_thinning=1.0, min_voxel=0.01)
    scan = scan_bridge(bridge, 0, wide, stations=station)
    ray = scan.xyz - station
    distance = np.linalg.norm(ray, axis=1)
    assert np.degrees(np.arcsin(ray[:, 2] / distance)).min() >= -60.01
    ground = ray[scan.part == GROUND]
    incidence = np.degrees(np.arccos(-ground[:, 2] / np.linalg.norm(ground, axis=1)))
    assert incidence.max() <= 87.0
    near = scan_bridge(bridge, 0, replace(wide, last_incidence=76.0), stations=station)
    assert len(near.xyz) < len(scan.xyz)
    short = scan_bridge(bridge, 0, replace(wide, max_range=4.0), stations=station)
    assert np.linalg.norm(short.xyz - station, axis=1).max() < 4.0 * np.sqrt(9 * 2)  # signal over 10 % at 4 m


def test_range_noise_is_along_the_ray_and_of_the_size_asked_for() -> None:
    bridge = yard(WALL_ALONE, half=20.0)
    station = np.array([[-7.0, 0.0, 1.7]])
    settings = replace(EXACT, range_noise=5.0, terrain_margin=None, angular_step=0.25)
    scan = scan_bridge(bridge, 0, settings, stations=station, reflectance=[0.5])
    ray = scan.xyz - station
    along = ray / np.linalg.norm(ray, axis=1, keepdims=True)
    residual = (scan.xyz[:, 0] - 3.0) / along[:, 0]
    head_on = along[:, 0] > 0.97
    assert 0.0045 < residual[head_on].std() < 0.006
    assert abs(residual.mean()) < 5e-4


WALL_ALONE = box(0, "abutment", [3, -6, 0], [3.4, 6, 5])


def test_registration_moves_stations_apart() -> None:
    settings = replace(EXACT, registration_shift=20.0, registration_turn=0.05, terrain_margin=None)
    bridge, stations = yard(WALL_ALONE), np.array([[-7.0, 0, 1.7], [-7.0, 3, 1.7], [-5.0, -3, 1.7]])
    scan = scan_bridge(bridge, 4, settings, stations=stations)
    off = [np.mean(scan.xyz[scan.station == i, 0] - 3.0) for i in range(3)]
    assert np.ptp(off) > 0.003
    assert max(np.std(scan.xyz[scan.station == i, 0]) for i in range(3)) < 0.02
    assert not np.allclose(scan.stations, stations, atol=1e-4)


@pytest.mark.slow
def test_wide_beams_put_points_between_a_part_and_what_is_behind() -> None:
    front = box(0, "column", [-0.3, -0.3, 0], [0.0, 0.3, 4])
    behind = box(1, "abutment", [0.1, -3, 0], [0.4, 3, 5])
    bridge, station = yard(front, behind), np.array([[-8.0, 0, 1.7]])
    thin = scan_bridge(bridge, 0, replace(EXACT, angular_step=0.1, terrain_margin=None), stations=station)
    settings = replace(EXACT, angular_step=0.1, divergence=1.0, waist=3.0, terrain_margin=None)
    wide = scan_bridge(bridge, 0, settings, stations=station)

    def between(scan: Scan) -> int:
        x, _, z = scan.xyz.T  # clear of the ground, which beams at the feet meet as well
        return int(np.sum((x > -0.28) & (x < 0.08) & (z > 0.1)))

    assert between(thin) == 0
    assert between(wide) > 50
    gated = scan_bridge(bridge, 0, replace(settings, pulse=0.05), stations=station)
    assert between(gated) == 0


def test_places_are_free_and_see_every_part() -> None:
    deck = box(0, "deck", [-12, -3, 5], [12, 3, 5.5])
    posts = [box(i + 1, "column", [x, -0.5, 0], [x + 1, 0.5, 5]) for i, x in enumerate([-9, -1, 7])]
    rail = box(4, "railing", [-12, 2.8, 5.5], [12, 3.0, 6.3])
    bridge = yard(deck, *posts, rail)
    settings = ScannerSettings()
    scene = RayScene(bridge)
    places = candidates(bridge, scene, settings, np.random.default_rng(0))
    for p in bridge.parts:
        low, high = p.mesh.bounds
        out = np.maximum(np.maximum(low - places, places - high), 0)
        assert np.linalg.norm(out, axis=1).min() > 0.3
    assert (places[:, 2] > 5.5).any()
    assert not (
        candidates(bridge, scene, replace(settings, on_deck=False), np.random.default_rng(0))[:, 2] > 5
    ).any()
    chosen = place_stations(bridge, scene, settings, np.random.default_rng(0))
    assert 2 <= len(chosen) <= settings.max_stations
    scan = scan_bridge(bridge, 0, replace(settings, angular_step=0.5))
    assert scan.unseen == ()


def test_deterministic_by_seed_and_within_the_limit() -> None:
    bridge = yard(COLUMN, WALL)
    settings = replace(ScannerSettings(), angular_step=0.4, points=4000)
    steps: list[tuple[int, int]] = []
    a, b = (
        scan_bridge(bridge, 5, settings, progress=lambda i, n: steps.append((i, n))),
        scan_bridge(bridge, 5, settings),
    )
    other = scan_bridge(bridge, 6, settings)
    for name in ("xyz", "part", "station", "intensity", "stations"):
        assert np.array_equal(getattr(a, name), getattr(b, name))
    assert not np.array_equal(a.xyz[:50], other.xyz[:50])
    assert 2500 < a.n_points <= 4000
    cells = np.floor(a.xyz[a.part >= 0] / a.voxel)
    assert len(np.unique(cells, axis=0)) == len(cells)
    assert steps[-1][0] == steps[-1][1] == len(a.stations)


@pytest.mark.slow
def test_a_bridge_is_seen_class_by_class() -> None:
    bridge = built_bridge("girder", 1)
    scan = scan_bridge(bridge, 1, replace(ScannerSettings(), angular_step=0.5, least_points=1))
    for name, (gone, of) in scan.unseen_by_class(bridge).items():
        assert gone < 0.35 * of, name
    assert len(scan.unseen) < 0.05 * bridge.n_parts
    assert scan.n_points > 50_000


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"angular_step": 0.0}, "angular_step"),
        ({"range_noise": -1.0}, "range_noise=-1.0 must not be negative"),
        ({"full_incidence": 89.0}, "must ascend"),
        ({"max_range": 0.1}, "must ascend"),
    ],
)
def test_settings_that_make_no_sense(setting: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScannerSettings(**setting)


def test_errors_name_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="no parts"):
        scan_bridge(yard())
    with pytest.raises(ValueError, match="each once"):
        scan_bridge(yard(COLUMN, COLUMN))
    with pytest.raises(ValueError, match="stations"):
        scan_bridge(yard(COLUMN), stations=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="reflectance"):
        scan_bridge(yard(COLUMN), reflectance=[2.0])
    with pytest.raises(ValueError, match="came back"):
        scan_bridge(yard(COLUMN), settings=EXACT, stations=[[300.0, 0, 1]])
    with pytest.raises(ValueError, match="no free place"):
        scan_bridge(yard(box(0, "abutment", [-30, -30, -1], [30, 30, 9])))

"""The page in headless Chromium: switches, legend, mouse, pixels, console, network."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_pages import BLUE, ORANGE, WRONG, Opened

from gapcut.report.page import PageTable, write_page
from gapcut.report.scene_view import SceneView


def table_scene(name: str, n: int, wrong: bool = True) -> SceneView:
    """A plate (label 0) on a wall (label 1); the prediction takes part of the wall for plate."""
    rng = np.random.default_rng(0)
    plate = np.c_[rng.uniform(-20, 20, n // 2), rng.uniform(-4, 4, n // 2), np.full(n // 2, 6.0)]
    wall = np.c_[rng.uniform(-20, 20, n - n // 2), np.full(n - n // 2, -2.0), rng.uniform(0, 6, n - n // 2)]
    xyz = np.concatenate([plate, wall]) + np.array([500_000, 6_000_000, 100])
    truth = np.repeat([0, 1], [n // 2, n - n // 2])
    prediction = np.where(wrong & (xyz[:, 0] > 500_010), 0, truth)
    layers = {"truth": truth, "prediction": prediction, "segments": truth * 7}
    return SceneView(name, xyz, layers, {0: "plate", 1: "wall"})


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    scenes = [table_scene("first", 16_000), table_scene("second", 8_000, wrong=False)]
    write_page(tmp_path / "a.html", "Two scenes", scenes, tables=[PageTable("T", ["a"], [[1]])])
    it = Opened(browser, tmp_path / "a.html")
    yield it
    assert it.said == []
    assert it.asked == [(tmp_path / "a.html").as_uri()]
    it.context.close()


def test_structure_fills_the_view(opened: Opened) -> None:
    seen = opened.pixels()
    background = (seen.min(axis=2) > 235) & (np.ptp(seen, axis=2) < 14)
    rows, columns = np.flatnonzero(~background.all(axis=1)), np.flatnonzero(~background[:-60].all(axis=0))
    assert np.ptp(columns) > 0.8 * seen.shape[1] or np.ptp(rows) > 0.8 * seen.shape[0]
    assert (~background).mean() > 0.1


@pytest.mark.slow
def test_switches_change_the_colours(opened: Opened) -> None:
    opened.press("#layers", "Truth")
    blue, orange = opened.share(BLUE), opened.share(ORANGE)
    assert min(blue, orange) > 0.02
    opened.press("#layers", "Prediction")
    assert opened.share(ORANGE) < 0.9 * orange
    assert opened.share(WRONG) < 0.001
    opened.press("#layers", "Errors")
    assert opened.share(WRONG) > 0.005
    assert opened.share(BLUE) < 0.001
    for layer in ("Segments", "Height"):
        opened.press("#layers", layer)
        assert opened.page.locator('#layers button[aria-pressed="true"]').inner_text() == layer
        assert opened.share(WRONG) < 0.005


def test_legend_hides_classes(opened: Opened) -> None:
    opened.press("#layers", "Truth")
    blue, orange = opened.share(BLUE), opened.share(ORANGE)
    opened.press("#legend", "plate")
    assert opened.share(BLUE) < 0.001
    assert opened.share(ORANGE) >= 0.9 * orange
    opened.page.locator("#all").click()
    assert opened.share(BLUE) == pytest.approx(blue, rel=0.05)
    opened.press("#legend", "plate", modifiers=["Shift"])
    assert opened.share(ORANGE) < 0.001
    opened.press("#legend", "plate", modifiers=["Shift"])
    assert opened.share(ORANGE) == pytest.approx(orange, rel=0.05)


def test_scenes_switch(opened: Opened) -> None:
    assert "16,000 points" in opened.page.locator("#count").inner_text()
    opened.press("#layers", "Errors")
    opened.press("#scenes", "second")
    assert "8,000 points" in opened.page.locator("#count").inner_text()
    assert opened.page.locator('#layers button[aria-pressed="true"]').inner_text() == "Errors"
    assert opened.share(WRONG) < 0.001


def test_mouse_turns_zooms_and_moves(opened: Opened) -> None:
    page, mouse = opened.page, opened.page.mouse
    box = page.locator("#view").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def camera() -> dict[str, Any]:
        return page.evaluate(
            "({yaw: camera.yaw, pitch: camera.pitch, distance: camera.distance, target: [...camera.target]})"
        )

    def drag(button: str) -> None:
        mouse.move(x, y)
        mouse.down(button=button)
        mouse.move(x + 80, y + 40, steps=4)
        mouse.up(button=button)

    start, before = camera(), opened.pixels()
    drag("left")
    turned = camera()
    assert turned["yaw"] != start["yaw"]
    assert turned["pitch"] > start["pitch"]
    assert turned["target"] == start["target"]
    assert np.abs(opened.pixels() - before).max() > 50
    drag("right")
    moved = camera()
    assert moved["yaw"] == turned["yaw"]
    assert moved["target"] != turned["target"]
    mouse.wheel(0, -400)
    opened.until(f"camera.distance < {moved['distance']}")
    page.locator("#top").click()
    assert camera()["pitch"] == pytest.approx(np.pi / 2, abs=1e-3)
    page.locator("#fit").click()
    assert camera()["distance"] == pytest.approx(start["distance"])
    assert np.abs(opened.pixels() - before).mean() < 1
    page.locator("#view").focus()
    page.keyboard.press("ArrowLeft")
    assert camera()["yaw"] != start["yaw"]


def test_narrow_screen(browser: Any, tmp_path: Path) -> None:
    write_page(tmp_path / "a.html", "Narrow", [table_scene("first", 8_000)])
    it = Opened(browser, tmp_path / "a.html", touch=True)
    assert it.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert it.share(BLUE) > 0.01
    assert it.said == []
    it.context.close()


@pytest.mark.slow
def test_half_a_million_points_open_in_time(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    write_page(path, "Large", [table_scene("first", 600_000)])
    assert path.stat().st_size < 15e6
    start = time.perf_counter()
    it = Opened(browser, path)
    assert time.perf_counter() - start < (5 if os.environ.get("GAPCUT_TIMED") else 30)
    assert "500,000 of 600,000 points" in it.page.locator("#count").inner_text()
    assert it.said == []
    it.context.close()

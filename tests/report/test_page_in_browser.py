"""The page in headless Chromium: switches, legend, mouse, pixels, console, network."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gapcut.report.page import PageTable, write_page
from gapcut.report.scene_view import SceneView

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
image = pytest.importorskip("matplotlib.image", reason="needs matplotlib")

_FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
_BLUE, _ORANGE, _WRONG = (0, 114, 178), (230, 159, 0), (213, 48, 26)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = os.environ.get("GAPCUT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium on this machine (set GAPCUT_CHROMIUM to one)")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield running
        running.close()


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


class Opened:
    def __init__(self, browser: Any, path: Path, touch: bool = False) -> None:
        size = {"width": 420, "height": 800} if touch else {"width": 900, "height": 640}
        self.context = browser.new_context(viewport=size, has_touch=touch)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.ready()

    def ready(self) -> None:
        self.until("state.ready")

    def until(self, condition: str, seconds: float = 60.0) -> None:
        """Asked from outside: the page's own policy forbids the evaluation of text in it."""
        end = time.perf_counter() + seconds
        while not self.page.evaluate(condition):
            assert not self.said
            assert time.perf_counter() < end, (
                f"not within {seconds} s: {condition}; the page said {self.said}"
            )
            time.sleep(0.03)

    def pixels(self) -> np.ndarray:
        """(H, W, 3) what the canvas shows, two frames later."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = image.imread(io.BytesIO(self.page.locator("#view").screenshot()), format="png")
        return np.rint(picture[:, :, :3] * 255)

    def share(self, colour: tuple[int, int, int]) -> float:
        """Share of the pixels whose hue is that of ``colour``, at any brightness between 0.35 and 1.05."""
        seen = self.pixels()
        scale = (seen @ np.array(colour)) / (np.array(colour) @ np.array(colour))
        off = np.abs(seen - scale[:, :, None] * np.array(colour)).max(axis=2)
        return float(((off < 14) & (scale > 0.35) & (scale < 1.05)).mean())

    def press(self, group: str, text: str, **options: Any) -> None:
        self.page.locator(f"{group} button", has_text=text).click(**options)
        self.ready()


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


def test_switches_change_the_colours(opened: Opened) -> None:
    opened.press("#layers", "Truth")
    blue, orange = opened.share(_BLUE), opened.share(_ORANGE)
    assert min(blue, orange) > 0.02
    opened.press("#layers", "Prediction")
    assert opened.share(_ORANGE) < 0.9 * orange
    assert opened.share(_WRONG) < 0.001
    opened.press("#layers", "Errors")
    assert opened.share(_WRONG) > 0.005
    assert opened.share(_BLUE) < 0.001
    for layer in ("Segments", "Height"):
        opened.press("#layers", layer)
        assert opened.page.locator('#layers button[aria-pressed="true"]').inner_text() == layer
        assert opened.share(_WRONG) < 0.005


def test_legend_hides_classes(opened: Opened) -> None:
    opened.press("#layers", "Truth")
    blue, orange = opened.share(_BLUE), opened.share(_ORANGE)
    opened.press("#legend", "plate")
    assert opened.share(_BLUE) < 0.001
    assert opened.share(_ORANGE) >= 0.9 * orange
    opened.page.locator("#all").click()
    assert opened.share(_BLUE) == pytest.approx(blue, rel=0.05)
    opened.press("#legend", "plate", modifiers=["Shift"])
    assert opened.share(_ORANGE) < 0.001
    opened.press("#legend", "plate", modifiers=["Shift"])
    assert opened.share(_ORANGE) == pytest.approx(orange, rel=0.05)


def test_scenes_switch(opened: Opened) -> None:
    assert "16,000 points" in opened.page.locator("#count").inner_text()
    opened.press("#layers", "Errors")
    opened.press("#scenes", "second")
    assert "8,000 points" in opened.page.locator("#count").inner_text()
    assert opened.page.locator('#layers button[aria-pressed="true"]').inner_text() == "Errors"
    assert opened.share(_WRONG) < 0.001


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
    assert it.share(_BLUE) > 0.01
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

"""A page in headless Chromium, for tests."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

image = pytest.importorskip("matplotlib.image", reason="needs matplotlib")

BLUE, ORANGE, WRONG = (0, 114, 178), (230, 159, 0), (232, 0, 248)


class Opened:
    def __init__(self, browser: Any, path: Path, touch: bool = False, hash: str = "") -> None:
        size = {"width": 420, "height": 800} if touch else {"width": 900, "height": 640}
        self.context = browser.new_context(viewport=size, has_touch=touch)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri() + hash)
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

    def frames(self) -> None:
        """Wait until two frames are drawn."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def pixels(self) -> np.ndarray:
        """(H, W, 3) what the canvas shows, two frames later."""
        self.frames()
        picture = image.imread(io.BytesIO(self.page.locator("#view").screenshot()), format="png")
        return np.rint(picture[:, :, :3] * 255)

    def share(self, colour: tuple[int, int, int]) -> float:
        """Share of the pixels whose hue is that of ``colour``, at any brightness between 0.35 and 1.05."""
        seen = self.pixels()
        scale = (seen @ np.array(colour)) / (np.array(colour) @ np.array(colour))
        off = np.abs(seen - scale[:, :, None] * np.array(colour)).max(axis=2)
        return float(((off < 14) & (scale > 0.35) & (scale < 1.05)).mean())

    def place(self, share: float = 0.5, down: float = 0.5) -> tuple[float, float]:
        """Pixels of the page at these shares of the view."""
        box = self.page.locator("#view").bounding_box()
        return box["x"] + share * box["width"], box["y"] + down * box["height"]

    def press(self, group: str, text: str, **options: Any) -> None:
        self.page.locator(f"{group} button", has_text=text).click(**options)
        self.ready()

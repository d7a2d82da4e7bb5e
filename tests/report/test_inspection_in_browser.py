"""Confidence as a layer and a filter, the point under the cursor, dark mode, three widths: in headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_pages import BLUE, Opened

from gapcut.report.page import PageTable, write_page
from gapcut.report.scene_view import SceneView

DOUBT = (213, 94, 0)


def plates(n: int = 12_000) -> SceneView:
    """Two plates, the left one "deck" at 100 %, the right one "wall" at 0 %; the truth is deck everywhere."""
    rng = np.random.default_rng(0)
    xyz = np.c_[rng.uniform(-10, 10, n), rng.uniform(-3, 3, n), np.full(n, 4.0)] + np.array([5e5, 6e6, 100])
    right = xyz[:, 0] > 5e5
    layers = {
        "truth": np.zeros(n, int),
        "prediction": right.astype(int),
        "confidence": np.where(right, 0.0, 1.0),
    }
    return SceneView("plates", xyz, layers, {0: "deck", 1: "wall"})


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    write_page(tmp_path / "a.html", "Plates", [plates()])
    it = Opened(browser, tmp_path / "a.html")
    yield it
    assert it.said == []
    it.context.close()


def test_confidence_is_a_layer_and_a_filter(opened: Opened) -> None:
    opened.press("#layers", "Confidence")
    sure, doubtful = opened.share(BLUE), opened.share(DOUBT)
    assert min(sure, doubtful) > 0.05
    opened.page.locator("#most-sure").fill("50")
    assert "at most 50 % sure" in opened.page.locator("#legend").inner_text()
    assert opened.share(BLUE) < 0.001
    assert opened.share(DOUBT) == pytest.approx(doubtful, rel=0.05)
    opened.page.locator("#most-sure").fill("100")
    assert opened.share(BLUE) == pytest.approx(sure, rel=0.05)


def what_is_said(it: Opened, share: float, click: bool = False) -> dict[str, str]:
    x, y = it.place(share)
    if click:
        it.page.touchscreen.tap(x, y)
    else:
        it.page.mouse.move(x, y)
    it.until("!document.getElementById('pick').hidden")
    words = it.page.locator("#pick").inner_text().split("\n")
    return dict(zip(words[::2], words[1::2], strict=True))


def test_the_point_under_the_cursor_says_what_is_known(opened: Opened) -> None:
    opened.page.locator("#top").click()
    known = {"truth": "deck", "height": "104.00 m"}
    seen = [what_is_said(opened, share) for share in (0.3, 0.7)]
    assert sorted(s["prediction"] for s in seen) == ["deck", "wall"]
    for said in seen:
        assert said == {
            **known,
            "prediction": said["prediction"],
            "confidence": {"deck": "> 99 %", "wall": "< 1 %"}[said["prediction"]],
        }
    opened.press("#layers", "Prediction")
    opened.press("#legend", "deck")
    side = 0.3 if seen[0]["prediction"] == "deck" else 0.7
    opened.page.mouse.move(*opened.place(side))
    opened.page.wait_for_timeout(300)
    assert not opened.page.locator("#pick").is_visible()  # what is hidden is not there


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (390, "dark"),
        (1400, "light"),
        *(
            pytest.param(width, scheme, marks=pytest.mark.slow)
            for width, scheme in ((390, "light"), (800, "light"), (800, "dark"), (1400, "dark"))
        ),
    ],
)
def test_pages_fit_their_screen_in_light_and_dark(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    write_page(tmp_path / "a.html", "Plates", [plates(4000)], tables=[PageTable("T", ["a"], [[1]])])
    it = Opened(browser, tmp_path / "a.html", touch=width == 390)
    it.page.set_viewport_size({"width": width, "height": 844})
    it.page.emulate_media(color_scheme=scheme)
    assert it.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((c) => c < 60)"
    assert it.page.evaluate(dark) == (scheme == "dark")
    if width == 390:
        it.page.locator("#top").tap()
        assert what_is_said(it, 0.5, click=True)["truth"] == "deck"
    assert it.said == []
    it.context.close()


def test_a_confidence_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence of 130 per cent"):
        SceneView("a", np.zeros((2, 3)), {"confidence": np.array([7, 130])})


def test_a_deck_has_the_colour_of_decks_wherever_parts_of_bridges_are_shown() -> None:
    from gapcut.report.run import RunScene
    from gapcut.report.scene_view import shown_labels
    from gapcut.scenes.bridges.colours import COLOURS
    from gapcut.scenes.clouds import PointCloud

    def colours(names: dict[int, str]) -> dict[str, str]:
        cloud = PointCloud(np.zeros((2, 3)), np.array(list(names), dtype=np.int32), names)
        return {name: colour for _, name, colour in shown_labels([RunScene(cloud).view()])}

    deck = "#{:02x}{:02x}{:02x}".format(*COLOURS["deck"])
    assert colours({3: "deck", 5: "terrain"})["deck"] == deck
    assert colours({3: "deck", 5: "car"})["deck"] != deck  # no bridge: colours that are far apart come first

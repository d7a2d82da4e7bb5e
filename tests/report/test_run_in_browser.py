"""A whole report in headless Chromium: every switch, pixels, pictures, tables, console, network."""

from __future__ import annotations

import numpy as np
import pytest
from browser_pages import BLUE, ORANGE, WRONG, Opened

from gapcut import StructuredSVM
from gapcut.report.picture import draw_points
from gapcut.report.run import RunScene, read_summary, run_scores, write_report
from gapcut.scenes.clouds import PointCloud
from sample_graphs import sample_graphs


def hall(n: int = 12_000, truth: bool = True) -> PointCloud:
    """A floor (4) and a wall (7); the prediction takes a fifth of the wall for floor."""
    rng = np.random.default_rng(0)
    half = n // 2
    floor = np.c_[rng.uniform(-10, 10, half), rng.uniform(-5, 5, half), np.zeros(half)]
    wall = np.c_[rng.uniform(-10, 10, n - half), np.full(n - half, 5.0), rng.uniform(0, 5, n - half)]
    xyz = np.concatenate([floor, wall]) + np.array([500_000, 6_000_000, 50])
    true = np.repeat([4, 7], [half, n - half]).astype(np.int32)
    guess = np.where((true == 7) & (xyz[:, 0] > 500_006), 4, true)
    extra = {"confidence": np.full(n, 0.75, dtype=np.float32)}
    if truth:
        extra["truth"] = true
    return PointCloud(xyz, guess, {4: "floor", 7: "wall"}, segments=true * 3, extra=extra, name="hall")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "report"
    learner = StructuredSVM(gap=0.1).fit(sample_graphs(4, seed=1))
    summary = {"segments": 2, "edges": 2, "energy": -3.5, "bound": -3.75, "gap": 0.25, "status": "feasible"}
    write_report(out, "A hall", [RunScene(hall(), summary)], learner)
    return out


def test_scores_count_points_by_name():
    scores = run_scores([RunScene(hall())])
    assert scores.labels == ("floor", "wall")
    true, guess = hall().extra["truth"], hall().labels
    assert scores.accuracy == pytest.approx((true == guess).mean())
    assert scores.confusion[1, 0] == ((true == 7) & (guess == 4)).sum()
    assert run_scores([RunScene(hall(truth=False))]) is None


def test_a_still_picture_shows_colours_shape_and_fills_its_frame():
    cloud = hall(60_000)
    colours = np.where(cloud.labels[:, None] == 4, BLUE, ORANGE).astype(np.uint8)
    picture, metre = draw_points(cloud.xyz, colours, 600)
    seen = picture.astype(int)
    drawn = (seen < 255).any(axis=2)
    assert 600 / 30 < metre < 600 / 15  # the hall is 20 m long
    assert np.ptp(np.flatnonzero(drawn.any(axis=0))) > 0.9 * 600
    assert drawn.mean() > 0.3
    blue = drawn & (seen[:, :, 2] > seen[:, :, 0])
    assert blue.mean() > 0.1
    assert (drawn & ~blue).mean() > 0.05
    brightness = seen[blue].sum(axis=1)
    assert brightness.max() > 1.2 * brightness.min()  # shaded


def test_what_has_no_label_is_striped_in_pictures():
    cloud = hall(60_000)
    colours = np.full((cloud.n_points, 3), 217, np.uint8)
    lit = [draw_points(cloud.xyz, colours, 600, striped=cloud.labels == k)[0].max(axis=2) for k in (4, 99)]
    changed = (lit[0] < lit[1]).sum()
    assert 0.3 < changed / (lit[1] < 255).sum() * 2 < 1.0  # half of each striped point, which are half of all


def test_pictures_are_written(folder):
    names = {p.name for p in folder.glob("*.png")}
    assert names == {f"{n}.png" for n in ("confusion", "convergence", "weights")} | {
        f"hall-{layer}.png" for layer in ("truth", "prediction", "errors")
    }


def test_a_damaged_summary_is_told(tmp_path):
    (tmp_path / "a.run.json").write_text("{")
    with pytest.raises(ValueError, match="summary is damaged"):
        read_summary(tmp_path / "a.run.json")
    assert read_summary(tmp_path / "none.run.json") == {}


@pytest.mark.slow
def test_every_switch_of_a_report(browser, folder):
    it = Opened(browser, folder / "report.html")
    seen = {}
    for layer in ("Truth", "Prediction", "Errors", "Segments", "Height"):
        it.press("#layers", layer)
        seen[layer] = {
            name: it.share(c) for name, c in (("blue", BLUE), ("orange", ORANGE), ("wrong", WRONG))
        }
    assert seen["Truth"]["orange"] > 1.1 * seen["Prediction"]["orange"] > 0.01
    assert seen["Truth"]["blue"] > 0.02
    assert seen["Errors"]["wrong"] > 0.005 > seen["Errors"]["blue"]
    assert max(seen["Segments"]["wrong"], seen["Height"]["wrong"]) < 0.005
    it.press("#layers", "Truth")
    it.press("#legend", "floor")
    assert it.share(BLUE) < 0.001
    it.page.locator("#all").click()
    assert it.share(BLUE) > 0.02
    for button in ("#top", "#side", "#fit"):
        it.page.locator(button).click()
        assert it.share(ORANGE) + it.share(BLUE) > 0.005
    images = it.page.evaluate("[...document.querySelectorAll('figure img')].map((i) => i.naturalWidth)")
    assert len(images) == 3
    assert min(images) > 200
    text = it.page.locator("main").inner_text()
    for said in ("-3.5", "-3.75", "0.25", "feasible", "wall", "75.00 %", "relative gap"):
        assert said in text or said in it.page.locator("header").inner_text()
    assert it.said == []
    assert it.asked == [(folder / "report.html").as_uri()]
    it.context.close()

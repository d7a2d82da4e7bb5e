"""What a page shows as 100 % is all, and what it shows as 0 is none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_pages import Opened

from gapcut.metrics import score_labels
from gapcut.report.page import write_page
from gapcut.report.run import RunScene, write_report
from gapcut.report.scene_view import SceneView, all_scores_line, score_line
from gapcut.scenes.clouds import PointCloud

MANY = 40_000


def nearly() -> PointCloud:
    """One point of many is wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=MANY)
    labels = np.r_[1 - truth[0], truth[1:]]
    extra = {"truth": truth.astype(float), "confidence": np.full(MANY, 0.99999)}
    return PointCloud(rng.random((MANY, 3)), labels, {0: "ground", 1: "wall"}, extra=extra, name="street")


def test_a_line_says_100_only_where_all_is_right():
    cloud = nearly()
    line = score_line(cloud.extra["truth"].astype(int), cloud.labels, cloud.label_names)
    assert line.startswith("99.9975 % of 40,000 points right; most often wrong: ")
    assert all_scores_line([RunScene(cloud).view()]) == ["Right in each scene: street 99.9975 %."]


def test_tables_of_a_run_have_shares_of_like_digits(tmp_path):
    pytest.importorskip("matplotlib")
    summary = {"strange": 1e-5, "strange_in_training": 1e-6, "unlike_training": True, "seconds": 12.3456}
    write_report(tmp_path, "streets", [RunScene(nearly(), summary)])
    page = (tmp_path / "report.html").read_text()
    assert (
        "street: 0.001 % of the points are unlike those of training (of a training scan at most 0.0001 %)"
        in page
    )
    assert "<h2>Classes: accuracy 99.9975 % of the points" in page
    tables = [re.findall(r"<tr>(.*?)</tr>", body) for body in re.findall(r"<tbody>(.*?)</tbody>", page)]
    scenes, classes = ([re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows] for rows in tables)
    assert scenes[0][4:6] == ["99.9975 %", "99.9975 %"]
    assert scenes[0][-3:] == ["99.999 %", "0.001 %", "12.3"]
    for _, *shares, _ in classes:
        for share in shares:
            assert re.fullmatch(r"(\d+\.\d\d|99\.99\d+) %", share)
    assert sum(share == "100.00 %" for _, *shares, _ in classes for share in shares) == 2


def test_a_confusion_matrix_says_100_only_of_whole_rows():
    pytest.importorskip("matplotlib")
    from gapcut.report.figures import confusion_figure

    cloud = nearly()
    truth = np.array(["ground", "wall", "pole"])[np.r_[cloud.extra["truth"].astype(int), 2]]
    guess = np.array(["ground", "wall", "pole"])[np.r_[cloud.labels, 2]]
    axes = confusion_figure(score_labels([truth], [guess], np.unique(truth))).axes[0]
    assert "accuracy 99.9975 %" in axes.get_title()
    said = sorted(text.get_text().split("\n")[0] for text in axes.texts)
    assert said == ["100%", "100%", "<1%", ">99%"]


def test_a_legend_and_a_confidence_say_all_only_of_all(browser: Any, tmp_path: Path) -> None:
    cloud = nearly()
    layers = {"truth": cloud.extra["truth"].astype(int), "prediction": cloud.labels}
    xyz = cloud.xyz * [20, 6, 1]
    write_page(
        tmp_path / "a.html", "t", [SceneView("a", xyz, layers | {"confidence": cloud.extra["confidence"]})]
    )
    it = Opened(browser, tmp_path / "a.html")
    it.press("#layers", "Errors")
    assert it.page.locator("#legend small").all_inner_texts() == ["> 99.9 %", "< 0.1 %"]
    it.page.locator("#top").click()
    it.page.mouse.move(*it.place(0.5))
    it.until("!document.getElementById('pick').hidden")
    assert "> 99 %" in it.page.locator("#pick").inner_text()
    assert it.said == []
    it.context.close()

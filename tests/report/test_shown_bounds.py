"""What the page of a run shows of a bound is proven too."""

from __future__ import annotations

import re

import numpy as np

from gapcut.report.run import RunScene, write_report
from gapcut.scenes.clouds import PointCloud


def test_a_bound_is_rounded_down_energy_and_gap_up(tmp_path):
    cloud = PointCloud(np.random.default_rng(0).random((20, 3)), name="street")
    summary = {"energy": 12345.2, "bound": 12343.9, "gap": 1.30001, "status": "feasible"}
    write_report(tmp_path, "streets", [RunScene(cloud, summary)])
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", (tmp_path / "report.html").read_text())
    at = cells.index("feasible")
    assert cells[at - 3 : at] == ["12,346", "12,343", "1.301"]

"""``gapcut dataset`` writes what the other commands read."""

from __future__ import annotations

import json

from gapcut.cli import main
from gapcut.data import GraphSet


def test_writes_graph_sets_that_load(shared, tmp_path, capsys):
    assert main(["dataset", "snakes", str(shared / "data/snakes"), "--out", str(tmp_path), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [(part["graphs"], part["nodes"]) for part in files] == [(200, 7566), (100, 3750)]
    assert len(GraphSet.load(files[1]["path"])) == 100


def test_unknown_name_is_one_line(tmp_path, capsys):
    assert main(["dataset", "mnist", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "known are tables, letters" in capsys.readouterr().err

"""gapcut bridges and gapcut demo on very coarse scans."""

import json
from dataclasses import replace

import numpy as np
import pytest

from built_bridges import built_bridge
from gapcut.machine import Machine
from gapcut.scenes.bridges import make_bridge, write_ifc
from gapcut.scenes.bridges.site import ready_to_scan
from gapcut.scenes.clouds import read_cloud
from gapcut.scenes.experiment import ExperimentSettings
from gapcut.scenes.scanner import ScannerSettings

SCANNER = ScannerSettings(angular_step=1.0, max_stations=3, points=6000, spacing=25.0)
EAST = np.array([500_000.0, 0.0, 0.0])
FULL = ExperimentSettings()
TINY = ExperimentSettings(
    SCANNER,
    replace(FULL.scene, per_segment=5),
    replace(FULL.training, n_trees=6, rows=660),
    n_bridges=3,
    train=2,
)


@pytest.fixture
def coarse(monkeypatch):
    pytest.importorskip("embreex")
    monkeypatch.setattr(ExperimentSettings, "quick", classmethod(lambda cls: TINY))
    monkeypatch.setattr("gapcut.report.bridge_picture._WIDTH", 160)


def test_make_writes_every_format(tmp_path, run):
    code, out, _ = run("bridges", "make", "--n", 1, "--jobs", 1, "--out", tmp_path, "--json")
    assert code == 0
    files = json.loads(out)["files"]
    assert files[:2] == [str(tmp_path / "girder-0.glb"), str(tmp_path / "girder-0.ply")]
    assert sorted(files) == sorted(str(path) for path in tmp_path.iterdir())


def test_several_ifc_files_may_follow_one_option(tmp_path, run):
    given = [tmp_path / "a.ifc", tmp_path / "b.ifc"]
    code, _, err = run("bridges", "scan", "--ifc", *given, "--jobs", 1, "--out", tmp_path / "scans")
    assert code == 2
    assert "a.ifc: No such file" in err
    code, out, _ = run("bridges", "scan", "--help")
    assert code == 0
    assert "--empty" not in out


def test_ifc_files_whose_scans_would_be_one_file_are_refused(tmp_path, run):
    given = ["--ifc", tmp_path / "a" / "mine.ifc", "--ifc", tmp_path / "b" / "mine.ifc"]
    code, _, err = run("bridges", "scan", *given, "--jobs", 1, "--out", tmp_path / "scans")
    assert code == 2
    assert "mine.npz" in err
    assert not (tmp_path / "scans").exists()


@pytest.mark.slow
def test_an_ifc_file_is_scanned_with_its_own_classes(coarse, tmp_path, run):
    pytest.importorskip("ifcopenshell")
    bridge = built_bridge("frame", 3)
    far = [replace(p, mesh=replace(p.mesh, vertices=p.mesh.vertices + EAST)) for p in bridge.parts]
    write_ifc(replace(bridge, parts=tuple(far)), tmp_path / "mine.ifc")
    given = ["--ifc", tmp_path / "mine.ifc", "--map", "IfcRailing/GUARDRAIL=cable"]
    code, out, _ = run("bridges", "scan", *given, "--quick", "--jobs", 1, "--out", tmp_path, "--json")
    assert code == 0
    (scan,) = json.loads(out)["scans"]
    assert scan["left_out"] == ""
    cloud = read_cloud(scan["file"])
    assert len(cloud.xyz) == scan["points"]
    assert np.abs(cloud.xyz.mean(axis=0) - EAST).max() < 1000  # as in the drawing, not near zero
    names = {cloud.label_names[k] for k in np.unique(cloud.labels[cloud.labels >= 0])}
    assert "cable" in names
    assert "railing" not in names
    assert "deck" in names

    whole = (tmp_path / "mine.ifc").read_bytes()
    for content in (whole[: len(whole) // 2], whole[:40], b"no IFC"):
        (tmp_path / "cut.ifc").write_bytes(content)
        code, _, err = run(
            "bridges", "scan", "--ifc", tmp_path / "cut.ifc", "--quick", "--jobs", 1, "--out", tmp_path
        )
        assert (code, len(err.splitlines())) == (2, 1)
        assert "cut.ifc: is " in err

    code, _, err = run("bridges", "scan", "--ifc", "x.ifc", "--map", "IfcRailing", "--out", tmp_path)
    assert code == 2
    assert "IfcPlate/SHEET=deck" in err


def test_bridges_as_one_finds_them_are_scanned_where_they_are(coarse, tmp_path, run):
    given = ["--n", 1, "--difficulty", "field", "--quick", "--format", "ply", "--jobs", 1, "--out", tmp_path]
    code, out, _ = run("bridges", "scan", *given, "--json")
    assert code == 0
    (scan,) = json.loads(out)["scans"]
    cloud, bridge = read_cloud(scan["file"]), make_bridge("girder", 0, difficulty="field")
    assert len(cloud.xyz) == scan["points"]
    low, high = bridge.terrain.bounds + np.array(bridge.origin)
    assert (cloud.xyz[:, :2] > low[:2] - 1).all()
    assert (cloud.xyz[:, :2] < high[:2] + 1).all()
    assert {"surfacing", "vegetation"} <= set(cloud.label_names.values())
    assert sum(scan["parts_unseen"].values()) > 0
    for command, message in (("scan", "use one of plain, field"), ("make", "use one of plain, field")):
        code, _, err = run("bridges", command, "--difficulty", "hard", "--out", tmp_path / "no")
        assert (code, message in err) == (2, True)
    code, _, err = run("bridges", "scan", "--ifc", "x.ifc", "--difficulty", "field", "--out", tmp_path / "no")
    assert code == 2
    assert "leave it out with --ifc" in err


def test_a_bridge_without_ground_gets_some(tmp_path):
    bridge = built_bridge("girder", 1)
    bare = replace(bridge, terrain=replace(bridge.terrain, faces=np.empty((0, 3), dtype=np.int64)))
    ready = ready_to_scan(bare, margin=10.0)
    assert not any(ready.origin)
    assert ready.terrain.n_faces == 2
    np.testing.assert_allclose(ready.terrain.bounds[:, 2], bridge.mesh.bounds[0, 2])
    np.testing.assert_allclose(ready.terrain.bounds[0, :2], bridge.mesh.bounds[0, :2] - 10.0)


@pytest.mark.slow
def test_reproduce_leaves_a_page_and_pictures_and_is_cheap_again(coarse, tmp_path, run):
    folder, cache = tmp_path / "report", tmp_path / "cache"
    command = ["bridges", "reproduce", "--quick", "--jobs", 1, "--graphs", "--cache", cache, "--out", folder]
    code, out, _ = run(*command, "--json")
    assert code == 0
    first = json.loads(out)
    assert first["folds"][0]["status"] == "certified"
    assert all((folder / file).stat().st_size > 0 for file in first["files"])
    code, out, _ = run("evaluate", folder / "model.gapcut", folder / "fold-1-test.npz", "--json")
    assert code == 0
    assert json.loads(out)["graphs"] == 1

    code, out, _ = run(*command)
    assert code == 0
    assert "parts of a test bridge" in out
    assert "report.html" in out
    assert 'id="reasons-0"' in (folder / "report.html").read_text()
    second = json.loads((folder / "results.json").read_text())["folds"][0]
    assert second["confusion"] == first["folds"][0]["confusion"]
    assert second["forest_seconds"] < first["folds"][0]["forest_seconds"]


@pytest.mark.slow
def test_the_papers_features_beside_ours_are_a_table(coarse, tmp_path, run):
    command = ["bridges", "reproduce", "--quick", "--paper", "--limit", 0.5, "--jobs", 1, "--out", tmp_path]
    code, out, _ = run(*command)
    assert code == 0
    assert "| primal-dual/cut, paper's features |" in out
    assert "cutting-plane/qpbo-rounded-energy/signed, paper's features" in out
    assert "an abutment is beneath the deck" in out
    document = json.loads((tmp_path / "paper.json").read_text())
    assert (document["folds"], document["graphs"]) == (1, 1)
    assert not any(row["failure"] for row in document["rows"])


@pytest.mark.slow
def test_terms_over_three_parts_are_a_table(coarse, tmp_path, run):
    command = ["bridges", "reproduce", "--quick", "--triples", "--limit", 0.5, "--jobs", 1, "--out", tmp_path]
    code, out, _ = run(*command)
    assert code == 0
    assert "| block/cut, paper's, pairs, chains and supports |" in out
    assert "\n| abutment - column - abutment |" in out
    document = json.loads((tmp_path / "triples.json").read_text())
    assert not any(row["failure"] for row in document["rows"])
    assert all(len(weights) == 1 for *_, weights in document["triples"]["chain"])


@pytest.mark.slow
def test_grown_segments_beside_true_parts_are_a_table(coarse, tmp_path, run):
    code, out, _ = run("bridges", "reproduce", "--quick", "--grown", "--jobs", 1, "--out", tmp_path)
    assert code == 0
    assert (tmp_path / "grown.md").read_text() in out
    parts, grown = json.loads((tmp_path / "grown.json").read_text())["rows"]
    assert (parts[0], grown[0]) == ("true parts", "grown")
    assert parts[4].startswith("100.00")
    assert 30.0 < float(grown[4].split()[0]) < 100.0
    assert float(grown[3].split()[0]) <= float(grown[4].split()[0])


@pytest.mark.parametrize(
    "given", [["--paper", "--features", "both"], ["--triples", "--grown"], ["--paper", "--graphs"]]
)
def test_tables_set_features_themselves(given, tmp_path, run):
    code, _, err = run("bridges", "reproduce", *given, "--out", tmp_path)
    assert code == 2
    assert f"{given[0]} sets features itself" in err


@pytest.mark.slow
def test_demo_ends_with_a_page_about_bridges(coarse, tmp_path, run):
    code, out, err = run("demo", "--jobs", 1, "--out", tmp_path)
    assert "writing the report ..." in err.splitlines()
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("certificate")]
    assert line.endswith(", certified")
    assert Machine.load(tmp_path / "model.gapcut").certificate_.status == "certified"
    assert f"Look at {tmp_path / 'report.html'} in a browser" in out.replace("\n", "")
    found = {path.name for path in tmp_path.iterdir()}
    assert {"report.html", "confusion.png", "convergence.png", "weights.png", "model.gapcut"} <= found

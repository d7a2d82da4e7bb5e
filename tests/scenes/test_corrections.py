"""What was corrected becomes labels to learn from, nothing else of the labelling does; what does not fit is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gapcut.scenes.clouds import CloudFileError, PointCloud
from gapcut.scenes.labelling import apply_corrections, read_corrections
from gapcut.scenes.labelling.corrections import segments_key

SEGMENTS = np.array([0, 0, 1, 1, 2, -1])


def labelled(**changes: Any) -> PointCloud:
    """Two points each in segments 0 and 1, one in 2, one in none; all labelled "ground", the last by hand before."""
    given: dict[str, Any] = {
        "labels": np.zeros(6, np.int64),
        "label_names": {0: "ground", 1: "wire"},
        "segments": SEGMENTS,
        "name": "scan",
        "added": ("label", "segment", "confidence", "truth"),
        "extra": {"confidence": np.ones(6, np.float32), "truth": np.array([-1, -1, 0, -1, -1, 1.0])},
    }
    return PointCloud(np.arange(18.0).reshape(6, 3), **{**given, **changes})


def written(place: Path, *segments: tuple[int, str], name: str = "c.json", **changes: Any) -> Path:
    chosen = [{"segment": k, "class": c, "was": "ground"} for k, c in segments]
    scan = {"scan": "scan", "key": segments_key(SEGMENTS), "segments": chosen, **changes}
    (place / name).write_text(json.dumps({"gapcut": "corrections", "format": 1, "scans": [scan]}))
    return place / name


def test_only_what_was_true_before_and_what_was_chosen_is_learned(tmp_path: Path) -> None:
    given = read_corrections([written(tmp_path, (0, "wire"), (2, "ground"))])
    [cloud] = apply_corrections([labelled()], given)
    assert cloud.labels is not None
    assert cloud.labels.tolist() == [1, 1, 0, -1, 0, 1]
    assert cloud.label_names == {0: "ground", 1: "wire"}
    [cloud] = apply_corrections(
        [labelled(added=("label", "segment"), extra={})],
        read_corrections([written(tmp_path, (1, "wire"))]),
    )
    assert cloud.labels is not None
    assert cloud.labels.tolist() == [-1, -1, 1, 1, -1, -1]


def test_a_class_that_was_chosen_counts_more_than_what_was_said_before(tmp_path: Path) -> None:
    [cloud] = apply_corrections([labelled()], read_corrections([written(tmp_path, (1, "wire"))]))
    assert cloud.labels is not None
    assert cloud.labels[2] == 1


def test_labels_get_the_numbers_of_the_other_scans(tmp_path: Path) -> None:
    other = labelled(
        labels=np.array([5, 5, 8, 8, 8, 8]), label_names={5: "wire", 8: "ground"}, segments=None, added=()
    )
    given = read_corrections([written(tmp_path, (0, "wire"), (1, "kerb"))])
    with pytest.raises(
        CloudFileError, match=r"c\.json: calls segment 1 of scan 'kerb', .* --new-classes kerb"
    ):
        apply_corrections([labelled(), other], given)
    clouds = apply_corrections([labelled(), other], given, ["kerb"])
    assert clouds[0].labels is not None
    names = [clouds[0].name_of(k) for k in clouds[0].labels.tolist()]
    assert names == ["wire", "wire", "kerb", "kerb", "-1", "wire"]
    assert clouds[0].labels[0] == 5
    assert clouds[0].labels[2] not in (5, 8)
    assert clouds[1] is other


def test_numbers_without_names_are_not_taken_for_classes_that_were_chosen(tmp_path: Path) -> None:
    """A file that lost its names: 0 is still true of one point, and is called "0"."""
    bare = labelled(label_names={})
    with pytest.raises(CloudFileError, match=r"'wire', a class that no scan has \(there are 0\)"):
        apply_corrections([bare], read_corrections([written(tmp_path, (0, "wire"))]))
    given = read_corrections([written(tmp_path, (0, "wire"), (2, "0"))])
    [cloud] = apply_corrections([bare], given, ["wire"])
    assert cloud.labels is not None
    assert cloud.labels.tolist() == [2, 2, 0, -1, 0, 1]
    assert [cloud.name_of(k) for k in (0, 1, 2)] == ["0", "1", "wire"]


def test_files_about_one_scan_are_put_together_unless_they_disagree(tmp_path: Path) -> None:
    first = written(tmp_path, (0, "wire"))
    [both] = read_corrections([first, written(tmp_path, (0, "wire"), (2, "ground"), name="d.json")])
    assert both.classes == {0: "wire", 2: "ground"}
    with pytest.raises(
        CloudFileError, match=r"e\.json: calls segment 0 of scan 'ground', but .*c\.json 'wire'"
    ):
        read_corrections([first, written(tmp_path, (0, "ground"), name="e.json")])


def test_what_does_not_fit_is_told_in_one_line(tmp_path: Path) -> None:
    given = read_corrections([written(tmp_path, (0, "wire"))])
    with pytest.raises(CloudFileError, match=r"c\.json: speaks of scan, which has other segments: was it"):
        apply_corrections([labelled(segments=SEGMENTS[::-1])], given)
    with pytest.raises(CloudFileError, match="speaks of scan, which is not there: put it beside this file"):
        apply_corrections([labelled(segments=None, name="b", added=("label",))], given)
    with pytest.raises(CloudFileError, match="scan has no segment 7"):
        apply_corrections([labelled()], read_corrections([written(tmp_path, (7, "wire"))]))
    with pytest.raises(CloudFileError, match="is damaged: save it again"):
        read_corrections([written(tmp_path, (-1, "wire"))])
    with pytest.raises(CloudFileError, match="is damaged: save it again"):
        read_corrections([written(tmp_path, (0, "wire"), (0, "ground"))])
    for text, said in [
        ("{", "is no file of corrections"),
        ('{"a": 1}', "is no file of corrections"),
        ('{"gapcut": "corrections", "format": 2}', "is not in this version's format"),
        ('{"gapcut": "corrections", "format": 1}', "is damaged"),
    ]:
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(CloudFileError, match=said):
            read_corrections([tmp_path / "c.json"])

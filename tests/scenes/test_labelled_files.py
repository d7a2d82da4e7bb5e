"""A labelled file is its source with labels added: any cloud, any format, twice; and what laspy makes of it."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cloud_samples import assert_las_kept, surveyed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapcut.scenes.clouds import (
    WRITABLE,
    ClassMap,
    CloudFileError,
    PointCloud,
    check_labelled,
    ply,
    read_cloud,
    write_cloud,
    write_labelled,
)
from gapcut.scenes.clouds.files import clouds_in, read_table, write_with
from gapcut.scenes.clouds.las_classes import STANDARD_NAMES
from gapcut.scenes.clouds.table import Table, to_table
from gapcut.scenes.labelling.model import LabelledScan

laspy = pytest.importorskip("laspy")
ROLES = ("label", "segment", "confidence", "truth")


def labelled(cloud: PointCloud, truth: bool = True, seed: int = 1) -> PointCloud:
    """As a labelling leaves a cloud, where what it held before does not matter."""
    rng, n = np.random.default_rng(seed), cloud.n_points
    extra: dict[str, Any] = {"confidence": rng.uniform(0, 1, n).astype(np.float32)}
    if truth:
        extra["truth"] = rng.integers(-1, 3, n).astype(np.int32)
    return PointCloud(
        cloud.xyz,
        labels=rng.integers(0, 3, n),
        segments=rng.integers(-1, 9, n),
        label_names={0: "deck", 1: "pier", 2: "wall"},
        extra=extra,
        added=ROLES if truth else ROLES[:3],
    )


NAMES = [
    "confidence",
    "truth",
    "scalar_x",
    "B",
    "instance_no",
    "nx",
    "gps_time",
    "user_data",
    "Höhe",
    "a" * 40,
    "segment_2",
]
KINDS = ["u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"]


@st.composite
def clouds(draw: st.DrawFn) -> PointCloud:
    n = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 99)))

    def values(kind: str) -> Any:
        if kind[0] == "f":
            return rng.normal(size=n).astype(kind)
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, n, dtype=kind, endpoint=True)

    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    return PointCloud(
        rng.uniform(-9, 9, (n, 3)).round(4) + draw(st.sampled_from([0.0, 500_000.0])),
        labels=draw(st.sampled_from([None, rng.integers(0, 40, n)])),
        label_names=draw(st.sampled_from([{}, {0: "old", 3: "pier"}])),
        segments=draw(st.sampled_from([None, rng.integers(-1, 9, n)])),
        colour=draw(st.sampled_from([None, rng.integers(0, 256, (n, 3))])),
        intensity=draw(st.sampled_from([None, rng.integers(0, 999, n), rng.uniform(0, 1, n)])),
        extra={name: values(draw(st.sampled_from(KINDS))) for name in names},
        crs=draw(st.sampled_from([None, 'PROJCS["made up"]', "EPSG:25832"])),
    )


def assert_kept(before: Table, after: Table, same: bool, exact: float) -> None:
    """Every column but the label under its name, with its values and, in the ``same`` format, its type."""
    for name, values in before.columns.items():
        if name != "label":
            found = after.columns[name]
            assert not same or found.dtype == values.dtype, name
            if name in ("red", "green", "blue") and found.dtype == np.uint16 and values.dtype == np.uint8:
                values = values.astype(np.uint16) * 257
            if name in ("x", "y", "z"):
                assert np.abs(found - values).max() <= exact
            else:
                found = (
                    found.astype(values.dtype) if values.dtype == np.float32 else found
                )  # text is read as double
                assert np.array_equal(found, values, equal_nan=True), name
    assert after.said.crs == before.said.crs


def assert_added(after: Table, ours: PointCloud) -> None:
    values = {"label": ours.labels, "segment": ours.segments, **ours.extra}
    assert set(after.said.added) == set(ours.added)
    assert dict(after.said.label_names) == dict(ours.label_names)
    for role in ours.added:
        found = after.columns[after.said.added[role]]
        expected = -np.ones(ours.n_points) if values[role] is None else values[role]
        assert np.array_equal(found.astype(expected.dtype), expected), role


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cloud=clouds(), ending=st.sampled_from([*WRITABLE, "ascii", "big"]), truth=st.booleans())
def test_everything_but_the_label_is_kept(
    tmp_path: Path, cloud: PointCloud, ending: str, truth: bool
) -> None:
    form = {"ascii": "ascii", "big": "binary_big_endian"}.get(ending)
    names = [f"{name}{ending if form is None else '.ply'}" for name in ("source", "once", "twice")]
    source, once, twice = (tmp_path / name for name in names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LAS changes names that are too long
        if form is None:
            write_cloud(source, cloud)
        else:
            write_with(lambda file: ply.write(file, to_table(cloud), form), source)
    before = read_table(source)
    ours = labelled(cloud, truth)
    write_labelled(once, source, ours)
    after = read_table(once)
    assert_kept(before, after, same=True, exact=0)
    assert_added(after, ours)
    back = read_cloud(once)
    assert np.array_equal(back.labels, ours.labels)
    assert np.array_equal(back.extra["confidence"].astype(np.float32), ours.extra["confidence"])
    assert back.added == ours.added
    again = labelled(cloud, truth, seed=2)
    write_labelled(twice, once, again)
    assert_kept(before, read_table(twice), same=True, exact=0)
    assert_added(read_table(twice), again)
    assert set(read_table(twice).columns) == set(after.columns)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cloud=clouds(), pair=st.tuples(st.sampled_from(WRITABLE), st.sampled_from(WRITABLE)))
def test_other_formats_keep_every_column(tmp_path: Path, cloud: PointCloud, pair: tuple[str, str]) -> None:
    source, target = tmp_path / f"source{pair[0]}", tmp_path / f"target{pair[1]}"
    ours = labelled(cloud)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_cloud(source, cloud)
        before = read_table(source).to_write()
        write_labelled(target, source, ours)
        after = read_table(target)
    renamed = dict(before.columns)
    if pair[1] in (".las", ".laz"):  # a name that is too long, or of a dimension that the values do not fit
        gone = {name for name in renamed if name not in after.columns}
        assert gone <= {
            "a" * 40,
            "user_data",
            "Höhe",
            "label",
            "intensity",
        }  # the last where it is 0 throughout
        assert all(
            name == "label"
            or any(k.startswith((name[:32], f"other_{name}")) for k in after.columns)
            or not renamed[name].any()
            for name in gone
        )
        renamed = {name: values for name, values in renamed.items() if name not in gone}
    if "colour" not in before.columns:
        assert ("red" in before.columns) == ("red" in after.columns) or not before.columns["red"].any()
    assert_kept(Table(renamed, before.said), after, same=False, exact=1.01e-4)
    assert_added(after, ours)


def las_file(path: Path, form: int, n: int = 500) -> Any:
    """A file of point format ``form`` with everything that can be in one."""
    rng = np.random.default_rng(form)
    header = laspy.LasHeader(version="1.4", point_format=form)
    header.offsets, header.scales = [1e5, 2e6, -3.0], [0.001, 0.002, 0.01]
    header.file_source_id, header.system_identifier, header.generating_software = 77, "SCANNER", "OFFICE 1"
    header.global_encoding.gps_time_type = laspy.header.GpsTimeType.STANDARD
    no_data = laspy.ExtraBytesParams(
        "Reflectance", "i2", "dB", offsets=[-1.0], scales=[0.01], no_data=[-32768]
    )
    header.add_extra_dims(
        [no_data, laspy.ExtraBytesParams("normals", "3f4"), laspy.ExtraBytesParams("id", "u8")]
    )
    header.add_extra_dims(
        [laspy.ExtraBytesParams(name, "u1") for name in ("instance", "segment", "confidence", "truth")]
    )
    keys = np.array([1, 1, 0, 1, 3072, 0, 1, 25832], dtype="<u2").tobytes()
    header.vlrs.append(laspy.VLR("LASF_Projection", 34735, "GeoTiff", keys))
    header.vlrs.append(laspy.VLR("LASF_Projection", 34737, "", b"made up|\0\0odd"))
    header.vlrs.append(laspy.VLR("OFFICE", 4711, "project", bytes(range(256))))
    las = laspy.LasData(header)
    las.points = laspy.ScaleAwarePointRecord.zeros(n, header=header)
    for name in las.points.array.dtype.names:
        values = las.points.array[name]
        values[...] = (
            rng.normal(size=values.shape) if values.dtype.kind == "f" else rng.integers(0, 120, values.shape)
        )
    las.evlrs = laspy.vlrs.vlrlist.VLRList([laspy.VLR("OFFICE", 4712, "late", b"\0" * 70_000 + b"end")])
    las.write(str(path))
    return laspy.read(str(path))


@pytest.mark.parametrize("form", range(11))
@pytest.mark.parametrize("ending", [".las", ".laz"])
def test_las_of_every_point_format(tmp_path: Path, form: int, ending: str) -> None:
    if ending == ".laz" and form in (4, 5, 9, 10):
        pytest.skip("lazrs writes no waveform formats")
    source, target = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    before = las_file(source, form)
    cloud = read_cloud(source)
    assert cloud.crs == "EPSG:25832"
    ours = labelled(cloud)
    write_labelled(target, source, ours)
    after = laspy.read(target)
    assert_las_kept(before, after)
    assert np.array_equal(after["label"], ours.labels)
    for role in ROLES[1:]:
        assert f"gapcut_{role}" in after.point_format.extra_dimension_names
    back = read_cloud(target)
    assert np.array_equal(back.segments, ours.segments)
    assert np.array_equal(back.extra["truth"], ours.extra["truth"])


@pytest.mark.parametrize("form", range(6))
def test_a_class_above_31_raises_the_format_aloud(tmp_path: Path, form: int) -> None:
    source, target = tmp_path / "a.las", tmp_path / "b.las"
    before = las_file(source, form)
    ours = labelled(read_cloud(source)).replace(labels=np.full(500, 64), label_names={64: "class 64"})
    with pytest.warns(UserWarning, match=f"for {form}, which has no classes above 31"):
        write_labelled(target, source, ours)
    after = laspy.read(target)
    assert after.point_format.id == {0: 6, 1: 6, 2: 7, 3: 7, 4: 9, 5: 10}[form]
    assert (after.classification == 64).all()
    assert np.abs(after.scan_angle * 0.006 - before.scan_angle_rank).max() <= 0.003
    for name in before.point_format.dimension_names:
        if name not in ("classification", "scan_angle_rank"):
            assert np.array_equal(before[name], after[name]), name


def test_classification_is_left_where_our_classes_are_no_las_classes(tmp_path: Path) -> None:
    before = las_file(tmp_path / "a.las", 6)
    write_labelled(tmp_path / "b.las", tmp_path / "a.las", labelled(read_cloud(tmp_path / "a.las")))
    assert np.array_equal(laspy.read(tmp_path / "b.las").classification, before.classification)


def test_ply_keeps_comments_elements_and_faces(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ply", tmp_path / "b.ply"
    head = (
        "ply\nformat {} 1.0\ncomment made by Jörg\nobj_info x\nelement camera 1\nproperty float a\nelement vertex 3\n"
        "property double x\nproperty double y\nproperty double z\nproperty ushort red\nproperty uchar label\n"
        "property short confidence\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = np.zeros(3, dtype="<f8,<f8,<f8,<u2,u1,<i2")
    rows["f0"], rows["f3"], rows["f5"] = [1, 2, 3], [9, 8, 7], [-1, -2, -3]
    faces = b"\3" + np.arange(3, dtype="<i4").tobytes()
    body = np.float32(0.5).tobytes() + rows.tobytes() + faces
    source.write_bytes(head.format("binary_little_endian").encode("latin-1") + body)
    ours = labelled(read_cloud(source))
    write_labelled(target, source, ours)
    said, after = target.read_bytes().split(b"end_header\n")
    assert after.startswith(body[:4])
    assert after.endswith(faces)
    kept = head.encode("latin-1").replace(b"property uchar label\n", b"").splitlines()[2:-1]
    assert set(kept) <= set(said.splitlines())
    assert read_table(target).said.added["confidence"] == "scalar_gapcut_confidence"
    text = head.format("ascii") + "0.5\n" + "1 2 3.10 9 0 -1\n" * 3 + "3 0 1 2\n"
    source.write_text(text)
    write_labelled(target, source, ours)
    after_text = target.read_text().splitlines()
    assert after_text[-1] == "3 0 1 2"
    assert all(line.startswith("1 2 3.10 9 -1 ") for line in after_text[-4:-1])
    source.write_text(text.replace("1 2 3.10", "nan 2 3.10", 1))
    write_labelled(target, source, ours.select([0, 1]), invalid="drop")
    assert read_cloud(target).n_points == 2
    assert "element face" not in target.read_text()


def test_pcd_keeps_viewpoint_shape_and_packed_fields(tmp_path: Path) -> None:
    source, target = tmp_path / "a.pcd", tmp_path / "b.pcd"
    head = (
        "# mine\nVERSION 0.7\nFIELDS x y z rgb label n\nSIZE 4 4 4 4 2 4\nTYPE F F F F U F\nCOUNT 1 1 1 1 1 3\n"
        "WIDTH 2\nHEIGHT 2\nVIEWPOINT 1 2 3 1 0 0 0\nPOINTS 4\nDATA ascii\n"
    )
    source.write_text(head + "1 2 3 4.2e+06 7 1 2 3\n" * 4)
    write_labelled(target, source, labelled(read_cloud(source)))
    after = target.read_text()
    for line in ("# mine", "WIDTH 2", "HEIGHT 2", "VIEWPOINT 1 2 3 1 0 0 0"):
        assert line in after.splitlines()
    assert all(line.startswith("1 2 3 4.2e+06 1 2 3 ") for line in after.splitlines()[-4:])


def test_text_lines_stay_as_they_are(tmp_path: Path) -> None:
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text(
        "Easting;Northing;Höhe [m];z\r\n1,50;2,0;3;4,25\r\n# note\r\n1,5;2;3;1e3\r\n", encoding="utf-16"
    )
    write_labelled(target, source, labelled(read_cloud(source), truth=False))
    said, header, *lines = target.read_text(encoding="utf-16").splitlines()
    assert said.startswith('# {"gapcut"')
    assert header == "Easting;Northing;Höhe [m];z;label;segment;confidence"
    assert [line.split(";")[:4] for line in lines[:2]] == [
        ["1,50", "2,0", "3", "4,25"],
        ["1,5", "2", "3", "1e3"],
    ]
    assert lines[2:] == ["# note"]
    assert read_cloud(target).xyz.tolist() == [[1.5, 2, 4.25], [1.5, 2, 1000]]


def test_what_a_format_cannot_keep_is_said_before_the_work(tmp_path: Path) -> None:
    source = tmp_path / "a.npz"
    write_cloud(source, PointCloud(np.eye(3), extra={"id": np.full(3, 2**60 + 1)}))
    with pytest.raises(CloudFileError, match=r"b\.ply: attribute 'id' has whole numbers beyond 2\^53"):
        check_labelled(tmp_path / "b.ply", source, read_cloud(source))
    check_labelled(tmp_path / "b.las", source, read_cloud(source))


def test_a_source_that_changed_is_refused(tmp_path: Path) -> None:
    for ending in WRITABLE:
        source = tmp_path / f"a{ending}"
        write_cloud(source, surveyed(30))
        with pytest.raises(CloudFileError, match="holds 30 points now: it was changed while it was labelled"):
            write_labelled(tmp_path / f"b{ending}", source, labelled(surveyed(20)))
        assert not (tmp_path / f"b{ending}").exists()


@pytest.mark.parametrize("size", [2, 5])
def test_las_bytes_that_no_record_describes_and_no_date(tmp_path: Path, size: int) -> None:
    header = laspy.LasHeader(version="1.2", point_format=1)
    header.add_extra_dims([laspy.ExtraBytesParams("odd", f"{size}u1")])
    las = laspy.LasData(header)
    las.points = laspy.ScaleAwarePointRecord.zeros(9, header=header)
    las.X, las["odd"] = np.arange(9), np.arange(9 * size).reshape(9, size)
    las.write(str(tmp_path / "a.las"))
    content = bytearray((tmp_path / "a.las").read_bytes().replace(b"LASF_Spec", b"NONE_Spec"))
    content[90:94] = b"\0\0\0\0"
    (tmp_path / "a.las").write_bytes(content)
    write_labelled(tmp_path / "b.las", tmp_path / "a.las", labelled(read_cloud(tmp_path / "a.las")))
    after = laspy.read(tmp_path / "b.las")
    assert np.array_equal(after["ExtraBytes"], las["odd"])
    assert after.header.creation_date is None
    assert len(after) == 9


def test_what_is_true_of_the_source_alone_is_left_out_aloud(tmp_path: Path) -> None:
    """Where waveforms lie in the file, and in which order a cloud-optimised one has its points."""
    before = las_file(tmp_path / "a.las", 9)
    before.header.global_encoding.waveform_data_packets_internal = True
    before.header.start_of_waveform_data_packet_record = 10_000_000
    before.evlrs.append(laspy.VLR("LASF_Spec", 65535, "waves", b"1234"))
    before.evlrs.append(laspy.VLR("copc", 1000, "hierarchy", b"1234"))
    before.vlrs.append(laspy.VLR("copc", 1, "info", b"1234"))
    before.write(str(tmp_path / "b.las"))
    ours = labelled(read_cloud(tmp_path / "a.las"))
    with (
        pytest.warns(UserWarning, match="the waveforms inside the file were not written"),
        pytest.warns(UserWarning, match="no longer a cloud-optimised one"),
    ):
        write_labelled(tmp_path / "c.las", tmp_path / "b.las", ours)
    after = laspy.read(tmp_path / "c.las")
    assert [v.record_id for v in after.evlrs] == [4712]
    assert not [v for v in after.vlrs if v.user_id == "copc"]


@pytest.mark.parametrize("kind", ["u1", "u2", "i8", "f8"])
def test_a_dimension_of_another_type_is_described_anew(tmp_path: Path, kind: str) -> None:
    """What a record says of the old ``label`` would make every later dimension garbage."""
    header = laspy.LasHeader(version="1.4", point_format=6)
    header.add_extra_dims([laspy.ExtraBytesParams("label", kind), laspy.ExtraBytesParams("id", "i2", "mine")])
    las = laspy.LasData(header)
    las.points = laspy.ScaleAwarePointRecord.zeros(9, header=header)
    las.X, las["label"], las["id"] = np.arange(9), np.arange(9) % 3, -np.arange(9)
    las.write(str(tmp_path / "a.las"))
    ours = labelled(read_cloud(tmp_path / "a.las"))
    wide = ours.replace(segments=ours.segments + 2**40, extra={**ours.extra, "truth": np.full(9, 2**40)})
    for source, target, cloud in (("a", "b", ours), ("b", "c", wide), ("c", "d", ours)):
        write_labelled(tmp_path / f"{target}.las", tmp_path / f"{source}.las", cloud)
        after = read_table(tmp_path / f"{target}.las")
        assert_added(after, cloud)
        assert np.array_equal(after.columns["id"], las["id"])
        described = laspy.read(tmp_path / f"{target}.las").point_format.dimension_by_name("id")
        assert described.description == "mine"


@pytest.mark.parametrize("endings", [(".laz", ".laz"), (".npz", ".npz"), (".npz", ".las"), (".las", ".ply")])
def test_a_file_of_classes_leaves_the_numbers_of_the_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endings: tuple[str, str]
) -> None:
    """Also those that it joins, and those that it does not know; and what they were stays when labelled again."""
    pytest.importorskip("cyclopts")
    from gapcut.cli import labelling
    from gapcut.cli.file_queue import FileJob
    from gapcut.cli.tiling import Tiling

    numbers, n = np.array([2, 3, 4, 5, 6, 9]), 6
    source, once, twice = (tmp_path / f"{k}{e}" for k, e in zip("abc", (*endings, endings[1]), strict=True))
    names = {k: STANDARD_NAMES[k] for k in numbers.tolist()}
    write_cloud(source, PointCloud(np.eye(n, 3), labels=numbers, label_names=names))
    reasons = SimpleNamespace(save=lambda path: None)
    given = (np.zeros(n, np.int64), np.ones(n, np.float32), np.zeros(n, np.int32), *[None] * 4, 0.0, reasons)
    found = LabelledScan(*given, {}, {})
    model = SimpleNamespace(names={0: "plants", 1: "house"}, label=lambda *_: found)
    monkeypatch.setattr(labelling, "_label_document", lambda *_: {})
    classes = ClassMap({"plants": (5, 3, 4), "house": (6,)})
    work = labelling._Labelling(
        model, 1.0, "error", classes, False, tmp_path / "m.gapcut", Tiling(None, None, 1)
    )
    for scan, target in ((source, once), (once, twice)):
        work.run(FileJob(scan, target, None))
        after = read_table(target)
        assert after.columns[after.said.added["original"]].tolist() == numbers.tolist()
        assert after.columns[after.said.added["truth"]].tolist() == [-1, 0, 0, 0, 1, -1]


def test_text_that_cannot_be_decoded_is_blamed_in_its_own_turn(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("1 2 3\n")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\0\xd8A")
    found, _ = clouds_in(tmp_path)
    assert [path.name for path in found] == ["a.xyz", "b.txt"]
    with pytest.raises(CloudFileError, match=r"b\.txt: cannot be read"):
        read_cloud(tmp_path / "b.txt")


def test_arrays_may_be_called_as_arguments_of_numpy_are(tmp_path: Path) -> None:
    arrays = {"file": np.arange(3), "allow_pickle": np.arange(3.0)}
    write_cloud(tmp_path / "a.npz", PointCloud(np.eye(3), extra=arrays))
    ours = labelled(read_cloud(tmp_path / "a.npz"))
    write_labelled(tmp_path / "b.npz", tmp_path / "a.npz", ours)
    after = read_table(tmp_path / "b.npz")
    assert_added(after, ours)
    assert all(np.array_equal(after.columns[name], values) for name, values in arrays.items())
    with np.load(tmp_path / "b.npz") as loaded:
        assert set(arrays) < set(loaded.files)


def test_names_and_endings_that_are_not_written_are_said_before_the_work(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("x,y,z,rgb\n1,2,3,4\n")
    cloud = read_cloud(source)
    with pytest.raises(CloudFileError, match="cannot carry an extra attribute called 'rgb'"):
        check_labelled(tmp_path / "b.npz", source, cloud)
    for scan, target in (("a.csv", "b.foo"), ("a.csv", "b"), ("a.e57", "b.e57")):
        with pytest.raises(CloudFileError, match="cannot write "):
            check_labelled(tmp_path / target, tmp_path / scan, cloud)
        with pytest.raises(CloudFileError, match="cannot write "):
            write_labelled(tmp_path / target, tmp_path / scan, labelled(cloud))


@pytest.mark.parametrize("names", ["", "//X Y Z Intensity\n"])
def test_a_file_that_begins_with_its_count_still_does(tmp_path: Path, names: str) -> None:
    (tmp_path / "a.pts").write_text(f"2\n{names}1 2 3 4\n5 6 7 8\n")
    for source, target in (("a", "b"), ("b", "c")):
        ours = labelled(read_cloud(tmp_path / f"{source}.pts"))
        write_labelled(tmp_path / f"{target}.pts", tmp_path / f"{source}.pts", ours)
        lines = (tmp_path / f"{target}.pts").read_text().splitlines()
        assert (lines[0], lines.count("2"), len(lines)) == ("2", 1, 5)
        assert_added(read_table(tmp_path / f"{target}.pts"), ours)


def test_text_of_another_ending_is_laid_out_as_that_says(tmp_path: Path) -> None:
    source = tmp_path / "a.xyz"
    source.write_text("# x y z dose\n1.50 2 3 4\n5 6 7 8\n")
    ours = labelled(read_cloud(source))
    lines = {}
    for ending in ("asc", "csv", "pts"):
        write_labelled(tmp_path / f"b.{ending}", source, ours)
        lines[ending] = (tmp_path / f"b.{ending}").read_text().splitlines()
        assert_kept(read_table(source), read_table(tmp_path / f"b.{ending}"), same=False, exact=0)
        assert_added(read_table(tmp_path / f"b.{ending}"), ours)
    assert lines["asc"][-2].startswith("1.50 2 3 4 ")
    assert lines["csv"][1] == "x,y,z,dose,label,segment,confidence,truth"
    assert lines["csv"][-2].split(",")[3] == "4"
    assert lines["pts"][0] == "2"

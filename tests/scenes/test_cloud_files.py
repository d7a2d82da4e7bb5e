"""Round trips, files of other programs, and files that are damaged."""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cloud_samples import assert_same, surveyed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapcut.scenes.clouds import (
    WRITABLE,
    CloudFileError,
    PointCloud,
    clouds_in,
    lzf,
    ply,
    read_cloud,
    read_superpoint_cloud,
    read_superpoint_graph,
    write_cloud,
)
from gapcut.scenes.clouds.files import write_with
from gapcut.scenes.clouds.table import to_table
from gapcut.scenes.datasets import OAKLAND_CLASSES, OAKLAND_LABELS, OAKLAND_MAP, load_oakland

laspy = pytest.importorskip("laspy")


@pytest.mark.parametrize("ending", WRITABLE)
@pytest.mark.parametrize("everything", [True, False])
def test_round_trip(tmp_path: Path, ending: str, everything: bool) -> None:
    cloud = surveyed(everything=everything)
    path = tmp_path / f"scan{ending}"
    write_cloud(path, cloud)
    assert_same(cloud, read_cloud(path), 1e-4)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply_forms(tmp_path: Path, form: str) -> None:
    trimesh = pytest.importorskip("trimesh")
    cloud = surveyed()
    path = tmp_path / "scan.ply"
    write_with(lambda file: ply.write(file, to_table(cloud), form), path)
    assert_same(cloud, read_cloud(path), 1e-6)
    assert np.allclose(trimesh.load(path).vertices, cloud.xyz, atol=1e-3, rtol=0)


def test_small_coordinates_in_pcd_are_single(tmp_path: Path) -> None:
    cloud = surveyed()
    write_cloud(tmp_path / "a.pcd", cloud.replace(xyz=cloud.xyz - cloud.shift))
    assert b"SIZE 4 4 4" in (tmp_path / "a.pcd").read_bytes()[:600]
    assert np.abs(read_cloud(tmp_path / "a.pcd").xyz - cloud.local).max() < 1e-3


def test_las_is_read_by_laspy(tmp_path: Path) -> None:
    cloud = surveyed()
    write_cloud(tmp_path / "a.laz", cloud)
    las = laspy.read(tmp_path / "a.laz")
    assert np.array_equal(las["label"], cloud.labels)
    assert np.array_equal(las["segment"], cloud.segments)
    assert np.array_equal(las["confidence"], cloud.extra["confidence"])
    assert np.abs(las.xyz - cloud.xyz).max() < 1e-4
    assert not las.classification.any()
    standard = PointCloud([[0, 0, 0], [1, 1, 1]], labels=[2, -1], label_names={2: "ground"})
    write_cloud(tmp_path / "b.las", standard)
    assert laspy.read(tmp_path / "b.las").classification.tolist() == [2, 0]


def test_las_says_what_does_not_fit(tmp_path: Path) -> None:
    far = PointCloud([[0, 0, 0], [1e8, 0, 0]])
    with pytest.raises(CloudFileError, match="too far for LAS"):
        write_cloud(tmp_path / "a.las", far)
    with pytest.raises(CloudFileError, match=r"beyond 2\^53"):
        write_cloud(tmp_path / "a.ply", PointCloud([[0, 0, 0]], segments=[2**60 + 1]))
    assert not list(tmp_path.iterdir())
    extra = {"n" * 33: [1], "n" * 32: [2], "return_number": [99], "scanner_channel": [3], "overlap": [2]}
    with pytest.warns(UserWarning, match="LAS has no place for it under its name"):
        write_cloud(tmp_path / "a.las", PointCloud([[0, 0, 0]], extra=extra))
    kept = {name: values.tolist() for name, values in read_cloud(tmp_path / "a.las").extra.items()}
    assert kept == {
        "n" * 30 + "_2": [1],
        "n" * 32: [2],
        "other_return_number": [99],
        "scanner_channel": [3],
        "other_overlap": [2],
    }


@pytest.mark.parametrize(
    ("content", "check"),
    [
        ("//X Y Z Classification\n2\n1 2 3 4\n5 6 7 nan\n", lambda c: c.labels.tolist() == [4, -1]),
        ("x,y,z,label\n1,2,3,0\n", lambda c: c.labels.tolist() == [0]),
        ("x;y;z\n1;2;3\n", lambda c: c.xyz.tolist() == [[1, 2, 3]]),
        ("Easting [m];Northing [m];H;Height\n1,5;2,25;0;3\n", lambda c: c.xyz.tolist() == [[1.5, 2.25, 3]]),
        ("x;y;z\n# a, b\n1;2;3\n# 4,5\n1,5;2;3\n", lambda c: c.xyz[:, 0].tolist() == [1, 1.5]),
        ("x y z label\n1,5 2,25 3,0 7\n", lambda c: c.labels.tolist() == [7]),
        ("x\ty\tz\tPulse width\n1\t2\t3\t0.5\n", lambda c: c.extra["Pulse_width"].tolist() == [0.5]),
        ("\ufeffx,y,z\n1,2,3\n", lambda c: c.xyz.tolist() == [[1, 2, 3]]),
        ("2\n1 2 3 -800 1 2 3\n1 2 3 5 1 2 3\n", lambda c: c.intensity[0] == -800 and c.colour is not None),
        ("# a remark\n\n1 2 3\n\n# another\n4 5 6\n", lambda c: c.n_points == 2),
        ("# x y z r g b\n1 2 3 0.5 1 0\n", lambda c: c.colour.tolist() == [[128, 255, 0]]),
    ],
)
def test_text_of_others(tmp_path: Path, content: str, check: Callable[[PointCloud], bool]) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    assert check(read_cloud(path))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("1 2 3 9.5", "intensity"),
        ("1 2 3 255 0 7", "red green blue"),
        ("1 2 3 0.6 0 0.8", "nx ny nz"),
        ("1 2 3 255 0 7 0.5", "red green blue intensity"),
        ("1 2 3 1255 0 7 5", "intensity red green blue"),
        ("1 2 3 255 0 7 0 0 1", "red green blue nx ny nz"),
    ],
)
def test_columns_without_names_are_recognised_aloud(tmp_path: Path, line: str, names: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"{line}\n{line}\n")
    with pytest.warns(UserWarning, match=f"a.txt: no header; read as x y z {names}; where that is wrong"):
        cloud = read_cloud(path)
    assert cloud.n_points == 2
    assert (cloud.intensity is not None, cloud.colour is not None) == ("intensity" in names, "red" in names)


@pytest.mark.parametrize(
    "line", ["1 2 3 4", "1 2 3 4 5", "1 2 3 4 5 6 7", "1 2 3 0.5 0 1", "1 2 3" + " 4" * 9]
)
def test_columns_without_names_are_asked_for(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(line)
    with pytest.raises(
        CloudFileError, match="no header, and more than one reading or none: name them with --col"
    ):
        read_cloud(path)
    names = ["x", "y", "z", *(f"c{i}" for i in range(len(line.split()) - 3))]
    assert list(read_cloud(path, columns=names).extra) == names[3:]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;y;z;Höhe\n1;2;3;4,5\n", encoding=encoding)
    cloud = read_cloud(path)
    assert cloud.xyz.tolist() == [[1, 2, 3]]
    assert next(iter(cloud.extra.values())).tolist() == [4.5]


def test_headers_that_do_not_fit_are_not_believed(tmp_path: Path) -> None:
    cloud = PointCloud(np.arange(30.0).reshape(10, 3))
    path = tmp_path / "a.las"
    write_cloud(path, cloud)
    whole = path.read_bytes()
    count, scale, box = 247, 131, 179
    for at, value, said in [
        (scale, struct.pack("<d", 0.0), "scale 0 and offset 0 for x: correct them"),
        (scale + 24, struct.pack("<d", np.nan), "offset nan for x"),
        (count, struct.pack("<Q", 9), "announces 9 points, but holds 10"),
        (count, struct.pack("<Q", 11), "holds 10 of 11 points"),
    ]:
        path.write_bytes(whole[:at] + value + whole[at + len(value) :])
        with pytest.raises(CloudFileError, match=said):
            read_cloud(path)
    path.write_bytes(whole[:box] + struct.pack("<d", np.nan) + whole[box + 8 :])
    with pytest.warns(UserWarning, match="header says 0 to nan for x, but the points are from 0 to 27"):
        assert np.array_equal(read_cloud(path).xyz, cloud.xyz)
    path.write_bytes(whole + b"more" * 20)
    with pytest.warns(UserWarning, match="80 bytes after the points"):
        assert read_cloud(path).n_points == 10
    for ending in (".ply", ".pcd"):
        path = tmp_path / f"a{ending}"
        write_cloud(path, cloud)
        path.write_bytes(re.sub(rb"(vertex|POINTS|WIDTH) 10", rb"\1 9", path.read_bytes()))
        with pytest.raises(CloudFileError, match="announces 9 points, but holds 10"):
            read_cloud(path)
    (tmp_path / "a.pts").write_text("1\n1 2 3\n4 5 6\n")
    with pytest.raises(CloudFileError, match="announces 1 points, but holds 2"):
        read_cloud(tmp_path / "a.pts")


def test_only_places_decide_what_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x y z intensity\n1 2 3 nan\n1 nan 3 4\n1 2 3 5\n")
    assert read_cloud(path, invalid="drop").intensity.tolist()[1:] == [5]
    with pytest.raises(CloudFileError, match="1 of 3 points are not finite"):
        read_cloud(path)


def test_ply_of_others(tmp_path: Path) -> None:
    head = (
        "ply\r\nformat ascii 1.0\r\nelement camera 1\r\nproperty float a\r\nelement vertex 2\r\nproperty float x\r\n"
        "property float y\r\nproperty float z\r\nproperty uchar red\r\nproperty uchar green\r\nproperty uchar blue\r\n"
        "property float scalar_Label\r\nelement face 1\r\nproperty list uchar int vertex_indices\r\nend_header\r\n"
    )
    path = tmp_path / "a.ply"
    path.write_text(head + "1\n0 0 0 1 2 3 4\n1 1 1 4 5 6 nan\n3 0 1 1\n", newline="")
    cloud = read_cloud(path)
    assert cloud.labels.tolist() == [4, -1]
    assert cloud.colour.tolist() == [[1, 2, 3], [4, 5, 6]]


def pcd_head(data: str, points: int = 3) -> bytes:
    return (
        "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z rgb _ label\nSIZE 4 4 4 4 1 2\nTYPE F F F F U U\nCOUNT 1 1 1 1 3 1\n"
        f"WIDTH {points}\nHEIGHT 1\nPOINTS {points}\nDATA {data}\n"
    ).encode()


def test_pcd_of_others(tmp_path: Path) -> None:
    rgb = np.array([0x010203, 0xFF0000, 7], dtype=np.uint32)
    rows = np.zeros(3, dtype=[("xyz", "<f4", 3), ("rgb", "<u4"), ("pad", "u1", 3), ("label", "<u2")])
    rows["xyz"], rows["rgb"], rows["label"] = np.arange(9).reshape(3, 3), rgb, [5, 0, 9]
    by_field = (
        rows["xyz"].T.tobytes() + rows["rgb"].tobytes() + rows["pad"].tobytes() + rows["label"].tobytes()
    )
    packed = compress(by_field)
    numbers = [" ".join(map(str, [*xyz, c.view(np.float32), 0, 0, 0, k])) for xyz, c, k in
               zip(rows["xyz"], rgb, rows["label"], strict=True)]  # fmt: skip
    bodies = {
        "ascii": ("\n".join(numbers) + "\n").encode(),
        "binary": rows.tobytes(),
        "binary_compressed": struct.pack("<II", len(packed), len(by_field)) + packed,
    }
    for data, body in bodies.items():
        path = tmp_path / f"{data}.pcd"
        path.write_bytes(pcd_head(data) + body)
        cloud = read_cloud(path)
        assert cloud.xyz.tolist() == np.arange(9).reshape(3, 3).tolist(), data
        assert cloud.colour.tolist() == [[1, 2, 3], [255, 0, 0], [0, 0, 7]], data
        assert cloud.labels.tolist() == [5, 0, 9], data


def compress(data: bytes) -> bytes:
    """LZF, greedy: the longest earlier match within 8 KiB, found by search."""
    out, literals, at = bytearray(), bytearray(), 0

    def flush() -> None:
        for start in range(0, len(literals), 32):
            piece = literals[start : start + 32]
            out.extend(bytes([len(piece) - 1]) + piece)
        literals.clear()

    while at < len(data):
        best, where = 0, 0
        for start in range(max(0, at - 8192), at):
            length = 0
            while length < 264 and at + length < len(data) and data[start + length] == data[at + length]:
                length += 1
            if length > best:
                best, where = length, start
        if best < 3:
            literals.append(data[at])
            at += 1
            continue
        flush()
        back, length = at - where - 1, best - 2
        if length < 7:
            out.extend([length << 5 | back >> 8, back & 255])
        else:
            out.extend([7 << 5 | back >> 8, length - 7, back & 255])
        at += best
    flush()
    return bytes(out)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([b"a", b"ab", b"abcabcabc", b"\0" * 300, b"xyz" * 90]), max_size=12).map(
        b"".join
    )
)
def test_lzf_inverts(data: bytes) -> None:
    assert lzf.decompress(compress(data), len(data)) == data


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 300))
def test_lzf_of_anything_ends(data: bytes, size: int) -> None:
    with contextlib.suppress(ValueError):
        assert len(lzf.decompress(data, size)) == size


def write_e57(path: Path, shift: tuple[float, float, float]) -> np.ndarray:
    pye57 = pytest.importorskip("pye57")
    rng = np.random.default_rng(0)
    xyz = rng.uniform(-20, 20, (400, 3))
    turn = np.array([np.cos(0.3), 0, 0, np.sin(0.3)])
    rgb = rng.integers(0, 256, (400, 3)).astype(np.uint8)
    data = {f"cartesian{a}": xyz[:, i].copy() for i, a in enumerate("XYZ")}
    data |= {f"color{a}": rgb[:, i].copy() for i, a in enumerate(("Red", "Green", "Blue"))}
    data["intensity"] = rng.uniform(0, 1, 400).astype(np.float32)
    file = pye57.E57(str(path), mode="w")
    for k in range(2):
        file.write_scan_raw(data, rotation=turn, translation=np.array(shift) + k)
    file.close()
    c, s = np.cos(0.6), np.sin(0.6)
    once = xyz @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + shift
    return np.concatenate([once, once + 1])


def test_e57(tmp_path: Path) -> None:
    path = tmp_path / "a.e57"
    expected = write_e57(path, (500_000.0, 6_000_000.0, 0.0))
    cloud = read_cloud(path)
    assert np.abs(cloud.xyz - expected).max() < 1e-3
    assert cloud.colour is not None
    assert cloud.intensity is not None
    assert np.unique(cloud.extra["scan"]).tolist() == [0, 1]
    with pytest.raises(CloudFileError, match=r"cannot write '\.e57'"):
        write_cloud(tmp_path / "b.e57", cloud)


def test_sidecar_names(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("# x y z label\n0 0 0 1\n")
    (tmp_path / "a.xyz.labels.json").write_text('{"1": "wall"}')
    assert read_cloud(path).label_names == {1: "wall"}
    (tmp_path / "a.xyz.labels.json").write_text("no json")
    with pytest.raises(CloudFileError, match=r"a\.xyz\.labels\.json that cannot be read"):
        read_cloud(path)


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.las: no such file"):
        read_cloud(tmp_path / "none.las")
    with pytest.raises(CloudFileError, match=r"unknown kind of point cloud '\.obj'"):
        read_cloud(tmp_path / "a.obj")
    (tmp_path / "f.ply").mkdir()
    with pytest.raises(CloudFileError, match="is a folder"):
        read_cloud(tmp_path / "f.ply")
    with pytest.raises(FileNotFoundError, match=r"no such folder to write a\.ply to"):
        write_cloud(tmp_path / "nowhere" / "a.ply", surveyed(3))
    path = tmp_path / "a.xyz"
    for content, message in [
        ("", r"a\.xyz: is empty \(0 bytes\)"),
        ("# x y z\n", r"a\.xyz: holds no points"),
        ("1 2 3\n1 nan 3\n", r"a\.xyz: 1 of 2 points are not finite, the first is point 1"),
        ("# x y z label\n1 2 3\n", r"names 4 columns \(x y z label\), but its lines hold 3"),
        ("hello world\n", "neither numbers nor a header"),
        ("1 2\n", "no column 'x'"),
    ]:
        path.write_text(content)
        with pytest.raises(CloudFileError, match=message) as caught:
            read_cloud(path)
        assert "\n" not in str(caught.value)
    path.write_text("1 2 3\n1 nan 3\n")
    assert read_cloud(path, invalid="drop").n_points == 1
    with pytest.raises(CloudFileError, match=r"a\.xyz: holds no labels"):
        read_cloud(path, invalid="drop", need_labels=True)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("originals")
    cloud = surveyed(40)
    endings = [".las", ".laz", ".ply", ".pcd", ".npz", ".xyz", ".csv"]
    for ending in endings:
        write_cloud(folder / f"a{ending}", cloud)
    write_e57(folder / "a.e57", (0.0, 0.0, 0.0))
    body = b"".join(np.arange(3 * n, dtype=f"<{k}").tobytes() for k, n in [("f4", 4), ("u1", 3), ("u2", 1)])
    packed = compress(body)
    sizes = struct.pack("<II", len(packed), len(body))
    data = {ending: (folder / f"a{ending}").read_bytes() for ending in [*endings, ".e57"]}
    return data | {"z.pcd": pcd_head("binary_compressed") + sizes + packed}


@pytest.mark.parametrize("ending", [".las", ".laz", ".ply", ".pcd", ".e57", ".npz", ".xyz", ".csv", "z.pcd"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_told_in_one_line(
    tmp_path: Path, originals: dict[str, bytes], ending: str, data: st.DataObject
) -> None:
    content = bytearray(originals[ending])
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 6))):
            at = data.draw(st.integers(0, min(len(content), 1500) - 1) | st.integers(0, len(content) - 1))
            content[at] = data.draw(st.integers(0, 255))
    path = tmp_path / f"damaged{ending}"
    path.write_bytes(content)
    said = f"{path}: whole"
    try:
        assert read_cloud(path).n_points > 0
    except CloudFileError as error:
        said = str(error)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    assert path.read_bytes() == bytes(content)


@pytest.mark.parametrize("ending", [".las", ".laz", ".ply", ".pcd", ".npz", "z.pcd"])
def test_no_truncated_binary_passes(tmp_path: Path, originals: dict[str, bytes], ending: str) -> None:
    whole = originals[ending]
    path = tmp_path / f"cut{ending}"
    for cut in range(0, len(whole) - 1, max(1, len(whole) // 60)):
        path.write_bytes(whole[:cut])
        with pytest.raises(CloudFileError):
            read_cloud(path)


@pytest.mark.parametrize("ending", WRITABLE)
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a{ending}"
    write_cloud(path, surveyed(5))
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gapcut.files.atomic.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_cloud(path, surveyed(50))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_real_tiles(shared: Path, tmp_path: Path) -> None:
    tiles = sorted((shared / "data" / "lidar").glob("*.laz"))
    assert tiles
    for tile in tiles:
        cloud = read_cloud(tile, need_labels=True)
        assert cloud.n_points > 50_000
        for ending in (".laz", ".ply", ".pcd"):
            write_cloud(tmp_path / f"a{ending}", cloud)
            back = read_cloud(tmp_path / f"a{ending}")
            if (
                ending == ".laz" and "scan_angle_rank" in cloud.extra
            ):  # degrees in old formats, 0.006 of one in ours
                extra = dict(back.extra)
                angle = extra.pop("scan_angle") * 0.006
                assert np.abs(angle - cloud.extra["scan_angle_rank"]).max() <= 0.003
                back = back.replace(extra={**extra, "scan_angle_rank": np.rint(angle)})
            assert_same(cloud, back)
    ahn = read_cloud(shared / "data" / "lidar" / "AHN3.laz")
    counts = dict(zip(*np.unique(ahn.labels, return_counts=True), strict=True))
    assert counts == {1: 4434, 2: 48804, 9: 175418, 26: 32151}
    assert ahn.name_of(9) == "water"


def test_superpoints(shared: Path) -> None:
    path = shared / "data" / "lidar" / "superpoint_nag.h5"
    graph = read_superpoint_graph(path)
    assert (graph.n_nodes, graph.n_edges, graph.edge_dim) == (1192, 9158, 7)
    cloud = read_superpoint_cloud(path)
    assert graph.node_weights.sum() == cloud.n_points == 41568
    for k in (0, 57, 1191):  # the label of a segment is the commonest among its points
        inside = cloud.labels[cloud.segments == k]
        if (inside >= 0).any():
            assert np.bincount(inside[inside >= 0]).argmax() == graph.labels[k]
    assert read_superpoint_graph(path, 3).n_nodes == 166
    with pytest.raises(CloudFileError, match=r"has no level 9 \(levels: level_0"):
        read_superpoint_graph(path, 9)


def test_superpoints_of_no_such_file(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    (tmp_path / "a.h5").write_bytes(b"nothing")
    with pytest.raises(CloudFileError, match=r"a\.h5: is no readable superpoint hierarchy"):
        read_superpoint_graph(tmp_path / "a.h5")


def test_oakland(shared: Path) -> None:
    train, test = load_oakland(shared / "data" / "oakland")
    assert all(cloud.name.startswith("oakland_part2") for cloud in train)
    assert all(cloud.name.startswith("oakland_part3") for cloud in test)
    labels = np.concatenate([cloud.labels for cloud in train])
    assert np.bincount(labels + 1).tolist() == [3243, 690385, 192428, 62439, 1460, 4679, 39874, 5490]
    wires = [cloud.labels == OAKLAND_CLASSES.index("wire") for cloud in test]
    assert sum(int(mask.sum()) for mask in wires) == 481  # 203 bundles and 278 single ones of scan ak
    assert train[0].label_names[0] == "ground"


def test_oakland_map_has_every_label_once() -> None:
    mapped = [name for names in OAKLAND_MAP.values() for name in names]
    assert len(mapped) == len(set(mapped))
    assert set(OAKLAND_LABELS.values()) - set(mapped) == {"error", "to_label", "undet", "legacy"}
    assert tuple(OAKLAND_MAP) == OAKLAND_CLASSES


def test_ply_is_read_by_trimesh(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    cloud = surveyed(300)
    write_cloud(tmp_path / "a.ply", cloud)
    read = trimesh.load(tmp_path / "a.ply")
    assert np.abs(read.vertices - cloud.xyz).max() < 1e-3
    assert np.array_equal(read.colors[:, :3], cloud.colour)
    columns = read.metadata["_ply_raw"]["vertex"]["data"]
    assert np.array_equal(np.asarray(columns["label"]).ravel(), cloud.labels)
    assert np.allclose(np.asarray(columns["confidence"]).ravel(), cloud.extra["confidence"])


def test_notes_are_not_among_the_clouds_of_a_folder(tmp_path: Path) -> None:
    for name in ("a.laz", "b.xyz", "c.csv", "d.npz"):
        write_cloud(tmp_path / name, surveyed())
    (tmp_path / "e.txt").write_text("3\n0 0 0\n1 1 1\n2 2 2\n")
    (tmp_path / "SOURCE.txt").write_text("AHN3 crop, 756 m x 375 m\n260807 points\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "notes.md").write_text("1 2 3\n")
    (tmp_path / "sub.laz").mkdir()
    clouds, others = clouds_in(tmp_path)
    assert [p.name for p in clouds] == ["a.laz", "b.xyz", "c.csv", "d.npz", "e.txt", "empty.txt"]
    assert [p.name for p in others] == ["SOURCE.txt", "notes.md"]

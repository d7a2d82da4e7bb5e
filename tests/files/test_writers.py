"""Every writer of the library writes whole files: where it fails, the old file is there and nothing beside it."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager

import numpy as np
import pytest

from gapcut import Energy, GraphSet, StructuredSVM, write_energy
from gapcut.scenes.bridges import bridge_specs, make_bridge, write_glb, write_ifc, write_ply
from gapcut.scenes.clouds import WRITABLE, PointCloud, write_cloud
from sample_graphs import sample_graphs


@pytest.fixture(scope="module")
def things():
    graphs = GraphSet(sample_graphs(4, seed=1))
    kind, variant = bridge_specs(1)[0]
    return {
        "graphs": graphs,
        "model": StructuredSVM(gap=0.5).fit(graphs),
        "bridge": make_bridge(kind, 0, variant),
        "cloud": PointCloud(np.random.default_rng(0).normal(size=(200, 3)), labels=np.arange(200) % 3),
        "energy": Energy(np.arange(40.0).reshape(20, 2)),
    }


WRITERS = {
    "d.npz": lambda things, path: things["graphs"].save(path),
    "m.gapcut": lambda things, path: things["model"].save(path),
    "b.glb": lambda things, path: write_glb(things["bridge"], path),
    "b.ply": lambda things, path: write_ply(things["bridge"], path),
    "b.ifc": lambda things, path: write_ifc(things["bridge"], path),
    **{
        f"e{end}": lambda things, path: write_energy(things["energy"], path)
        for end in (".uai", ".cfn", ".wcsp")
    },
    **{f"c{end}": lambda things, path: write_cloud(path, things["cloud"]) for end in WRITABLE},
}
NEEDS = {".ifc": "ifcopenshell", ".las": "laspy", ".laz": "laspy"}


@contextmanager
def full_disk(free):
    """A limit on the size of files, which the system enforces on root too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_full_disk_leaves_the_old_file(things, tmp_path, name):
    if (ending := os.path.splitext(name)[1]) in NEEDS:
        pytest.importorskip(NEEDS[ending])
    path = tmp_path / name
    for old in (None, b"what was there"):
        if old is not None:
            path.write_bytes(old)
        with full_disk(100), pytest.raises(OSError, match="File too large"):
            WRITERS[name](things, path)
        assert os.listdir(tmp_path) == ([] if old is None else [name])
        assert old is None or path.read_bytes() == old
    WRITERS[name](things, path)
    assert path.stat().st_size > 100


@pytest.mark.parametrize("name", ["d.npz", "m.gapcut", "b.glb", "b.ply", "c.pcd", "e.uai"])
def test_a_folder_that_is_not_there_is_one_error(things, tmp_path, name):
    with pytest.raises(FileNotFoundError):
        WRITERS[name](things, tmp_path / "gone" / name)
    assert os.listdir(tmp_path) == []

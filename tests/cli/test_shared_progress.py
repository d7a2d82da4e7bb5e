"""Training on a cluster from the command line: what is told on the way, and what is left when the cluster is lost."""

from __future__ import annotations

import gapcut.machine
from gapcut import StructuredSVM
from gapcut.certificates import Record, SharedRecord
from gapcut.cli.progress import progress, speak
from gapcut.engines.shards import ClusterLost
from sample_graphs import sample_graphs


def test_progress_tells_actors_and_their_speed(capsys, monkeypatch):
    monkeypatch.setattr("gapcut.cli.progress.SECONDS_BETWEEN_LINES", 0.0)
    with speak(), progress("training", 0.01) as show:
        show(Record(1, 1.0, 0, 0.0, 2.0, 0, 0))
        show(SharedRecord(2, 10.0, 0, 1.0, 2.0, 0, 0, actors=3, iterations=20))
        show(SharedRecord(3, 14.0, 0, 1.5, 2.0, 0, 0, actors=1, iterations=30))
    first, second, third = capsys.readouterr().err.splitlines()[1:]
    assert "actor" not in first
    assert second.endswith("gap 50.00 %, 3 actors, 2.22 iterations/s")
    assert third.endswith("gap 25.00 %, 1 actor, 2.5 iterations/s")


def test_a_proof_that_is_lost_with_the_cluster_leaves_the_model(run, tmp_path, monkeypatch):
    def lost(*_):
        raise ClusterLost("no node of the cluster is left for the shards")

    monkeypatch.setattr(gapcut.machine, "prove_result", lost)
    data, out, proof = tmp_path / "d.npz", tmp_path / "m.gapcut", tmp_path / "p.npz"
    sample_graphs(5).save(data)
    code, said, told = run("train", data, "--out", out, "--C", "3", "--oracle", "cut", "--proof", proof)
    assert code == 0
    assert "certified" in said
    assert "no proof: no node of the cluster is left for the shards; gapcut prove makes one" in told
    assert StructuredSVM.load(out).certificate_.status == "certified"
    assert not proof.exists()

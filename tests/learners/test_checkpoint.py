"""A run that is ended at any moment goes on to the very model it would have had."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gapcut import StructuredSVM, datasets
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.checkpoint import Checkpoint, DamagedCheckpoint
from gapcut.learners.schedule import LONGEST, PATIENCE, CertificateSchedule
from gapcut.learners.steps import Steps
from gapcut.model.settings import Settings
from gapcut.model.training import build_problem, training_set
from gapcut.oracles import CutOracle
from gapcut.oracles.cut import CutRelaxation
from tiny import tiny_problem


@pytest.fixture
def problem():
    return tiny_problem(np.random.default_rng(8), n_graphs=20, C=300.0)[0]


def run(problem, path, gap=1e-4, passes=None, every=10.0, **settings):
    learner = PrimalDual(checkpoint=path, checkpoint_seconds=every, **settings)
    return learner.run(problem, CutOracle(problem), Limits(gap=gap, max_passes=passes))


def test_resumed_run_ends_with_the_same_bits(problem, tmp_path):
    whole = PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-4))
    assert whole.certificate.status == "certified"
    for stop in range(1, whole.certificate.passes, max(1, whole.certificate.passes // 8)):
        path = tmp_path / f"{stop}.checkpoint"
        part = run(problem, path, passes=stop)
        assert part.certificate.status == "stopped"
        assert path.exists()
        rest = run(problem, path, n_threads=2)
        assert np.array_equal(rest.weights, whole.weights)
        assert rest.certificate == whole.certificate
        assert [r.lower for r in rest.history] == [r.lower for r in whole.history]


def test_checkpoints_come_between_certificates_and_end_with_the_same_bits(problem, tmp_path, monkeypatch):
    """Due at every iteration, kept at every seventh: a run goes on from each to the certificate that was next."""
    whole = PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-4))
    path, write, kept = tmp_path / "run.checkpoint", Checkpoint.write, []

    def keep(self, progress, session, arrays, numbers):
        if int(arrays["counters"][0]) % 7 == 3:
            write(self, progress, session, arrays, numbers)
            kept.append((progress.passes, path.read_bytes()))

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", keep)
        run(problem, path, every=0.0)
    passes = [p for p, _ in kept]
    assert len(set(passes)) < len(passes)
    for _, content in kept[:: max(1, len(kept) // 8)]:
        path.write_bytes(content)
        rest = run(problem, path)
        assert np.array_equal(rest.weights, whole.weights)
        assert rest.certificate == whole.certificate


@pytest.fixture(scope="module")
def planted():
    """At a large C: the multipliers prove most upper ends, and after some 16 passes `block` goes on alone."""
    graphs = datasets.make_planted(3, 15, seed=1)
    settings = Settings.checked(StructuredSVM(C=1e4).get_params()).settled(graphs)
    return build_problem(training_set(graphs, settings), settings)


def same_run(one, two):
    return (
        np.array_equal(one.weights, two.weights)
        and one.certificate == two.certificate
        and [replace(r, seconds=0.0) for r in one.history] == [replace(r, seconds=0.0) for r in two.history]
    )


def test_resumed_runs_end_alike_whatever_proved_the_ends_and_in_turns_of_planes(planted, tmp_path):
    whole = PrimalDual().run(planted, CutOracle(planted), Limits(gap=1e-3, max_passes=40))
    assert whole.certificate.oracle_calls < planted.n_graphs * 40  # multipliers proved the first ends
    assert whole.history[-1].planes > whole.history[-5].planes > 20  # planes of block
    for stop in (3, 12, 16, 17, 33):
        path = tmp_path / f"{stop}.checkpoint"
        run(planted, path, gap=1e-3, passes=stop)
        assert same_run(run(planted, path, gap=1e-3, passes=40, n_threads=2), whole)


def test_a_due_checkpoint_waits_for_one_iteration_or_pass_only(planted, tmp_path, monkeypatch):
    """Due at once: one is written after each iteration, and each pass of `block`."""
    at = []

    def note(self, progress, session, arrays, numbers):
        at.append((int(arrays["counters"][0]), numbers["planes"]))

    monkeypatch.setattr(Checkpoint, "write", note)
    run(planted, tmp_path / "run.checkpoint", gap=1e-3, passes=32, every=0.0)
    iterations = [i for i, _ in at]
    assert iterations[0] == 0
    assert set(np.diff(iterations)) <= {0, 1}
    planes = [p for _, p in at if p]
    assert len(planes) >= 5
    assert set(np.diff(planes)) <= {0, 1}


def test_an_end_while_resuming_leaves_the_checkpoint_as_it_was(planted, tmp_path, monkeypatch):
    path = tmp_path / "run.checkpoint"
    run(planted, path, gap=1e-3, passes=12)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(Steps, "prove_upper", interrupted)
        assert run(planted, path, gap=1e-3).certificate.status == "stopped"
    assert path.read_bytes() == before


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["advance", "slack", "plane"])
def test_want_of_memory_keeps_the_best_model_and_the_checkpoint(problem, tmp_path, monkeypatch, step):
    whole = run(problem, tmp_path / "whole.checkpoint")
    path = tmp_path / "run.checkpoint"
    part = run(problem, path, passes=2)
    before = path.read_bytes()

    with monkeypatch.context() as patch:
        patch.setattr(CutRelaxation, step, out_of_memory)
        with pytest.raises(MemoryError):  # nothing is proven yet
            PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-4))

    real, calls = getattr(CutRelaxation, step), []

    def once_more(self, *arguments):
        calls.append(step)
        if len(calls) == 3:
            raise MemoryError("no room for 8 GiB")
        return real(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(CutRelaxation, step, once_more)
        ended = run(problem, path)
    assert ended.certificate.status == "stopped"
    assert "not enough memory (no room for 8 GiB): the best model so far is kept" in ended.message
    assert ended.certificate.lower >= part.certificate.lower
    assert ended.certificate.lower <= whole.certificate.upper
    assert whole.certificate.lower <= ended.certificate.upper <= part.certificate.upper
    assert ended.warm_start is None
    assert path.read_bytes() == before
    rest = run(problem, path)
    assert np.array_equal(rest.weights, whole.weights)


def out_of_memory(*_):
    raise MemoryError


@pytest.mark.parametrize("part", ["more planes", "no planes", "ends"])
def test_what_a_checkpoint_says_of_planes_and_ends_proves_nothing(planted, tmp_path, part):
    """Another number of passes, false ends: another start; never a bound that does not hold."""
    reference = PrimalDual().run(planted, CutOracle(planted), Limits(gap=1e-3, max_passes=60)).certificate
    path = tmp_path / "run.checkpoint"
    run(planted, path, gap=1e-3, passes=35)
    with np.load(path) as file:
        arrays = dict(file)
    meta = json.loads(arrays["meta"].tobytes())
    if part == "ends":
        meta["ends"] = [0.5 * meta["ends"][2], 0.0, 2.0 * meta["ends"][0], 0.0]
    else:
        meta["numbers"]["planes"] = 25 if part == "more planes" else 0
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)
    result = run(planted, path, gap=1e-3, passes=36).certificate
    assert result.lower <= reference.upper
    assert reference.lower <= result.upper


@pytest.mark.parametrize("planes", [-1, 10**6, "many", None])
def test_a_number_of_passes_that_cannot_be_is_refused_or_ends_at_the_target(planted, tmp_path, planes):
    """More than there can be come to the target first, as with a larger gap than before."""
    path = tmp_path / "run.checkpoint"
    run(planted, path, gap=1e-3, passes=20)
    with np.load(path) as file:
        arrays = dict(file)
    meta = json.loads(arrays["meta"].tobytes())
    meta["numbers"]["planes"] = planes
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)
    if planes == 10**6:
        assert run(planted, path, gap=1e-3, passes=500).certificate.status == "certified"
        return
    with pytest.raises(DamagedCheckpoint):
        run(planted, path, gap=1e-3, passes=21)


@pytest.mark.parametrize(("step", "times"), [("prove_lower", 1), ("prove_lower", 4), ("prove_upper", 1)])
def test_a_certificate_that_is_cut_off_is_made_again(problem, tmp_path, monkeypatch, step, times):
    """Ctrl-C in the middle of one; the seed of its repair is the same, and so are all bits."""
    whole = PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-4))
    path, done, calls = tmp_path / "run.checkpoint", getattr(Steps, step), []

    def cut_off(self, *arguments):
        found = done(self, *arguments)
        calls.append(step)
        if len(calls) == times:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Steps, step, cut_off)
        part = run(problem, path)
    assert part.certificate.status == "stopped"
    rest = run(problem, path)
    assert np.array_equal(rest.weights, whole.weights)
    assert rest.certificate == whole.certificate


def test_whether_a_run_stalls_is_asked_at_certificates_only():
    """Else a run resumed between two of them would end its steps earlier than one that was not."""
    before = [(1, 1.0)] * PATIENCE
    assert not CertificateSchedule(gaps=[*before, (LONGEST - 1, 1.0)]).stalled
    assert CertificateSchedule(gaps=[*before, (LONGEST, 1.0)]).stalled


def test_a_checkpoint_that_cannot_be_written_is_a_warning(problem, tmp_path):
    """A limit on the size of files stands for a full disk."""
    whole = PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-4))
    path = tmp_path / "run.checkpoint"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        with pytest.warns(UserWarning, match=r"run\.checkpoint: File too large: the run goes on without"):
            result = run(problem, path, every=0.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result.certificate == whole.certificate
    assert list(tmp_path.iterdir()) == []


def test_a_place_for_checkpoints_is_tried_before_the_work(tmp_path):
    svm = StructuredSVM(checkpoint=tmp_path / "none" / "run.checkpoint")
    with pytest.raises(FileNotFoundError):
        svm.fit(datasets.make_planted(3, 20, seed=1))


def test_other_data_or_settings_are_refused(problem, tmp_path):
    path = tmp_path / "run.checkpoint"
    run(problem, path, passes=2)
    other, *_ = tiny_problem(np.random.default_rng(9), n_graphs=20, C=300.0)
    for wrong in (other, problem.with_C(1.0)):
        with pytest.raises(ValueError, match="belongs to other data"):
            run(wrong, path)
    with pytest.raises(ValueError, match="belongs to other data"):
        run(problem, path, damping=0.5)


def test_damaged_checkpoints_are_one_clear_error_and_never_a_wrong_claim(problem, tmp_path):
    path = tmp_path / "run.checkpoint"
    run(problem, path, passes=2)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    cases = [b"", good[:100], good[: len(good) // 2], good[:-1], b"PK" + bytes(500)]
    for _ in range(60):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        cases.append(bytes(bad))
    reference = PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-4))
    for case in cases:
        path.write_bytes(case)
        result = None
        with contextlib.suppress(DamagedCheckpoint):
            result = run(problem, path, gap=1e-2)
        if result is not None:  # the damage hit nothing that matters
            assert result.certificate.lower <= reference.certificate.upper
            assert reference.certificate.lower <= result.certificate.upper


def killed_run(path: str, gap: float):
    """A run of seconds with a checkpoint four times a second; the child process below executes it too."""
    graphs = datasets.make_planted(20, 60, seed=1)
    settings = Settings.checked(StructuredSVM(C=300.0).get_params()).settled(graphs)
    problem = build_problem(training_set(graphs, settings), settings)
    learner = PrimalDual(checkpoint=path, checkpoint_seconds=0.25)
    found = learner.run(problem, CutOracle(problem), Limits(gap=gap))
    Path(path).unlink(missing_ok=True)
    return found


@pytest.mark.slow
def test_killed_at_random_moments_loses_nothing(tmp_path):
    """20 kills without warning; the last run ends like one that was never killed."""
    gap = 1e-3
    path = tmp_path / "run.checkpoint"
    start = time.monotonic()
    whole = killed_run(str(tmp_path / "whole.checkpoint"), gap)
    seconds = time.monotonic() - start
    rng = np.random.default_rng(1)
    code = (
        "import sys; sys.path[:0] = sys.argv[3:]; from test_checkpoint import killed_run; "
        "killed_run(sys.argv[1], float(sys.argv[2]))"
    )
    here = Path(__file__).parent
    killed = 0
    for _ in range(20):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(path), str(gap), str(here), str(here.parent / "support")]
        )
        time.sleep(1.0 + float(rng.random()) * min(4.0, seconds / 4))
        killed += child.poll() is None
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert killed >= 5
    final = killed_run(str(path), gap)
    assert final.certificate.status == "certified"
    assert np.array_equal(final.weights, whole.weights)
    assert final.certificate == whole.certificate


def test_path_along_C_certifies_every_point_and_agrees_with_single_fits():
    graphs = datasets.make_planted(6, 40, seed=1)
    models = StructuredSVM(gap=1e-3).fit_path(graphs, [0.1, 1.0, 10.0])
    assert [m.C for m in models] == [0.1, 1.0, 10.0]
    for model in models:
        alone = StructuredSVM(C=model.C, gap=1e-3).fit(graphs).certificate_
        proof = model.certificate_
        assert proof.status == "certified"
        assert max(alone.lower, proof.lower) <= min(alone.upper, proof.upper)


def test_want_of_memory_for_the_last_checkpoint_keeps_the_model(problem, tmp_path, monkeypatch):
    path = tmp_path / "run.checkpoint"
    run(problem, path, passes=1)
    before = path.read_bytes()
    whole = run(problem, tmp_path / "whole.checkpoint", passes=3)
    monkeypatch.setattr(CutRelaxation, "save", out_of_memory)
    with pytest.warns(UserWarning, match=r"run\.checkpoint: not enough memory: the run goes on without"):
        ended = run(problem, path, passes=3)
    assert np.array_equal(ended.weights, whole.weights)
    assert ended.certificate == whole.certificate
    assert path.read_bytes() == before


def test_want_of_memory_for_a_checkpoint_on_the_way_is_a_warning(problem, tmp_path, monkeypatch):
    whole = PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-4))
    monkeypatch.setattr(CutRelaxation, "save", out_of_memory)
    with pytest.warns(UserWarning, match=r"run\.checkpoint: not enough memory"):
        ended = run(problem, tmp_path / "run.checkpoint", every=0.0)
    assert ended.certificate == whole.certificate
    assert np.array_equal(ended.weights, whole.weights)
    assert not (tmp_path / "run.checkpoint").exists()


def test_a_path_does_not_go_on_from_iterates_that_want_of_memory_left(problem, monkeypatch):
    def path(C_values):
        return list(
            PrimalDual().path(
                problem, lambda at_C: CutOracle(at_C), C_values, Limits(gap=1e-4, max_passes=40)
            )
        )

    (alone,) = path([10.0])
    real, calls = CutRelaxation.plane, []

    def once(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise MemoryError
        return real(self, *arguments)

    monkeypatch.setattr(CutRelaxation, "plane", once)
    first, second = path([1.0, 10.0])
    assert "not enough memory" in first.message
    assert np.array_equal(second.weights, alone.weights)


def test_want_of_memory_keeps_the_models_of_a_path_before(monkeypatch):
    """Twice: in a run, which ends, and when the next one begins, where there is no result to keep."""
    begin, made = Steps.__init__, []

    def second(self, *arguments, **more):
        made.append(1)
        if len(made) > 1:
            raise MemoryError("no room for 8 GiB")
        begin(self, *arguments, **more)

    prove, proven = Steps.certify, []

    def certify(self, session, planes):
        prove(self, session, planes)
        proven.append(session.problem.C)
        if session.problem.C == 1.0:
            raise MemoryError

    monkeypatch.setattr(Steps, "__init__", second)
    monkeypatch.setattr(Steps, "certify", certify)
    graphs = datasets.make_planted(6, 40, seed=1)
    with pytest.warns(
        UserWarning, match=r"not enough memory \(no room for 8 GiB\): the path ends with C = 1"
    ):
        models = StructuredSVM(gap=1e-9, max_passes=3).fit_path(graphs, [0.1, 1.0, 10.0])
    assert [m.C for m in models] == [0.1, 1.0]
    assert "not enough memory" in models[1].model_.message
    assert proven[-1] == 1.0
    with pytest.raises(MemoryError):  # nothing is there yet
        StructuredSVM(gap=1e-3).fit_path(graphs, [0.1, 1.0])

"""Queues of items: every item ends once, with its result or an error in a line, whoever dies meanwhile."""

from __future__ import annotations

import sys

import pytest

from gapcut.engines import Engine, Outcome, open_engine
from gapcut.engines.work import DIED, attempt
from queue_work import Tally, own_kernels


def outcomes(engine: Engine, work: Tally, count: int = 8) -> list[Outcome[int]]:
    found = list(engine.map(work, range(count)))
    engine.close()
    assert sorted(o.index for o in found) == list(range(count))
    return sorted(found, key=lambda o: o.index)


def said(found: list[Outcome[int]]) -> dict[int, str | None]:
    return {o.index: o.error for o in found if o.error is not None}


FAILED = {3: "three is no number to square", 4: "KeyError: 'four'"}


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_results_and_errors(name):
    found = outcomes(open_engine(name, 2), Tally())
    assert [o.result for o in found] == [0, 1, 4, None, None, 25, 36, 49]
    assert said(found) == FAILED


def test_an_item_that_kills_its_process_spoils_no_other():
    found = outcomes(open_engine("processes", 2), Tally(killers=(2,)))
    assert [o.result for o in found] == [0, 1, None, None, None, 25, 36, 49]
    assert said(found) == {2: DIED, **FAILED}


def test_a_process_that_dies_once_is_replaced(tmp_path):
    found = outcomes(open_engine("processes", 2), Tally(folder=tmp_path), 3)
    assert [o.result for o in found] == [0, 1, 4]


def test_results_come_as_they_are_there():
    done = []
    engine = open_engine("threads")
    for outcome in engine.map(lambda item: done.append(item) or item, iter(range(100))):
        if outcome.index == 2:
            break
    assert done == [0, 1, 2]


def test_what_is_said_of_an_error():
    def fail(error):
        raise error

    assert (
        attempt(fail, OSError(28, "No space left", "there.npz"))[1] == "[Errno 28] No space left: 'there.npz'"
    )
    assert attempt(fail, AssertionError())[1] == "AssertionError"
    with pytest.raises(KeyboardInterrupt):
        attempt(fail, KeyboardInterrupt())


def test_names_and_addresses(monkeypatch):
    with pytest.raises(ValueError, match="is of a Ray cluster"):
        open_engine("threads", address="auto")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'engine "ray" needs ray: pip install "gapcut\[cluster\]"'):
        open_engine("ray")


@pytest.mark.cluster
def test_ray(cluster, capsys):
    found = outcomes(open_engine("ray", address=cluster.address), Tally(killers=(2,)))
    assert [o.result for o in found] == [0, 1, None, None, None, 25, 36, 49]
    assert said(found) == {2: DIED, **FAILED}
    assert capsys.readouterr().out == ""


@pytest.mark.cluster
def test_workers_use_the_kernels_of_the_driver(cluster, monkeypatch):
    monkeypatch.setattr("gapcut.engines.cluster.target", lambda: "baseline")
    engine = open_engine("ray", address=cluster.address)
    assert {o.result for o in engine.map(own_kernels, range(4))} == {"baseline"}
    monkeypatch.setattr("gapcut.engines.cluster.__version__", "0.0.1")
    (wrong,) = engine.map(own_kernels, [0])
    assert "the driver 0.0.1: install the same" in str(wrong.error)
    engine.close()


def test_nobody_answers():
    pytest.importorskip("ray")
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1: no Ray cluster answers there"):
        open_engine("ray", address="127.0.0.1:1")

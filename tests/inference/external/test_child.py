"""Solver processes: limits, faults, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gapcut.inference.external import SolverDied, child, run_child

TASKS = {
    "echo": "def run(payload):\n    print('noise')\n    return {'got': payload['x']}\n",
    "sleep": "import time\ndef run(payload):\n    time.sleep(60)\n    return {}\n",
    "fail": "def run(payload):\n    raise ValueError('no such thing\\nsecond line')\n",
    "crash": "import os\ndef run(payload):\n    os.abort()\n",
}


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TASKS.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "worker.py").write_text((child.HERE / "worker.py").read_text())
    monkeypatch.setattr(child, "HERE", tmp_path)
    return tmp_path


def test_answer_comes_back_without_the_noise(tasks: Path) -> None:
    assert run_child("echo", {"x": [1, 2]}, None).answer == {"got": [1, 2]}


def test_child_is_killed_in_time(tasks: Path) -> None:
    begin = time.perf_counter()
    assert run_child("sleep", {}, 0.3).answer is None
    assert time.perf_counter() - begin < 2.0


@pytest.mark.parametrize(("task", "message"), [("fail", "no such thing"), ("crash", "without an answer")])
def test_faults_are_one_line(tasks: Path, task: str, message: str) -> None:
    with pytest.raises(SolverDied, match=message) as caught:
        run_child(task, {}, None)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="signals as on POSIX")
def test_interrupt_kills_the_child(tasks: Path) -> None:
    (tasks / "sleep.py").write_text(
        "import os, time\ndef run(payload):\n"
        f"    open({str(tasks / 'pid')!r}, 'w').write(str(os.getpid()))\n    time.sleep(60)\n    return {{}}\n"
    )
    script = (
        "import pathlib, signal\nfrom gapcut.inference.external import child\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a test run in the background ignores it
        f"child.HERE = pathlib.Path({str(tasks)!r})\n"
        "child.run_child('sleep', {}, None)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    try:
        pid = wait_for_pid(tasks / "pid")
        parent.send_signal(signal.SIGINT)
        assert parent.wait(20) != 0
        assert not alive(pid)
    finally:
        parent.kill()
        parent.wait()


def wait_for_pid(path: Path) -> int:
    for _ in range(300):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.1)
    raise AssertionError("the child did not start")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

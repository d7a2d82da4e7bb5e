"""Training whose state is on disk, within a limit of address space, against the same in memory.

    python benchmarks/out_of_core.py [--graphs 100] [--nodes 500] [--edges 5000] [--limit 3] [--passes 2]
        [--C 10] [--seconds 3600] [--engines threads,disk] [--jobs 2] [--folder FOLDER]

The set of issue 22, or a part of it, as a folder of parts; each engine in a process of its own. "disk" has so many GiB
of address space (setrlimit: nothing more can be mapped either; the C library is told to set nothing aside for threads
and to give back what is freed) and reads its graphs part by part; "threads" neither. A run of so many certificates of
``oracle="cut"``, or of so many seconds: iterations, seconds, CPU seconds of user and system, of an iteration
too (certificates left out), peak resident memory, both ends. Standard error gets a line for each certificate.
Weights must be the same bits, unless seconds were limited. A Markdown table goes to standard output.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scale import room_graph

from gapcut import GraphFolder, GraphSet, StructuredSVM
from gapcut.certificates import Record
from gapcut.data.folder import save_in_parts
from gapcut.engines import describe_machine, peak_memory_mb
from gapcut.oracles.relaxation import Relaxation

AT_ONCE = 20


def write(folder: Path, graphs: int, nodes: int, edges: int) -> None:
    """The set, a few graphs in memory."""
    begins = range(0, graphs, AT_ONCE)
    sets = (
        GraphSet(room_graph(nodes, edges, seed) for seed in range(first, min(graphs, first + AT_ONCE)))
        for first in begins
    )
    save_in_parts(sets, folder)


class Counted:
    """Iterations of a run, and the CPU seconds that they took."""

    def __init__(self) -> None:
        self.iterations, self.seconds = 0, 0.0
        advance = Relaxation.advance

        def counted(relaxation: Relaxation, iterations: int, time_left: float | None = None) -> None:
            before = time.process_time()
            try:
                advance(relaxation, iterations, time_left)
            finally:
                self.iterations = relaxation.state.iterations
                self.seconds += time.process_time() - before

        Relaxation.advance = counted  # type: ignore[method-assign]


def train(folder: Path, engine: str, options: argparse.Namespace) -> None:
    """In a process of its own; a line of JSON."""
    start, counted = time.perf_counter(), Counted()

    def note(record: Record) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(
            f"{engine}: {counted.iterations} iterations, {time.perf_counter() - start:.0f} s, CPU {used.ru_utime:.0f} "
            f"and {used.ru_stime:.0f} s, {record.lower:.3f} to {record.upper:.3f}",
            file=sys.stderr,
            flush=True,
        )

    svm = StructuredSVM(
        C=options.C,
        oracle="cut",
        gap=0.01,
        max_passes=options.passes,
        time_limit=options.seconds,
        n_jobs=options.jobs,
        engine=engine,  # type: ignore[arg-type]
        address=str(folder.parent) if engine == "disk" else None,
        callback=note,
    ).fit(GraphFolder(folder) if engine == "disk" else GraphSet.load(folder))
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "seconds": time.perf_counter() - start,
        "iterations": counted.iterations,
        "each": counted.seconds / max(1, counted.iterations),
        "user": used.ru_utime,
        "system": used.ru_stime,
        "peak": peak_memory_mb(),
        "ends": [svm.certificate_.lower, svm.certificate_.upper],
        "weights": [svm.unary_.tolist(), float(abs(svm.pairwise_).sum())],
    }
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--C", type=float, default=10.0)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--edges", type=int, default=5000)
    parser.add_argument("--limit", type=float, default=3.0)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engines", default="threads,disk")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--child", default="")
    options = parser.parse_args()
    if options.child:
        train(options.folder, options.child, options)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        folder = Path(scratch) / "parts"
        write(folder, options.graphs, options.nodes, options.edges)
        graphs = GraphFolder(folder)
        print(
            f"{describe_machine()}; {options.graphs} graphs, {graphs.total('edges'):,} edges; {options.passes} passes\n"
        )
        columns = "engine | limit, GiB | iterations | s | CPU s, user | system | CPU s an iteration | peak, MB | proven"
        print(f"| {columns} |\n|" + "---|" * 9)
        weights = []
        for engine in options.engines.split(","):
            limit = options.limit if engine == "disk" else None
            found = child(folder, engine, options, limit)
            weights.append(found["weights"])
            ends = " to ".join(f"{end:.2f}" for end in found["ends"])
            print(
                f"| {engine} | {limit or 'none'} | {found['iterations']} | {found['seconds']:.0f} | "
                f"{found['user']:.0f} | {found['system']:.0f} | {found['each']:.2f} | {found['peak']:,.0f} | {ends} |",
                flush=True,
            )
        assert options.seconds is not None or all(other == weights[0] for other in weights)


def child(folder: Path, engine: str, options: argparse.Namespace, limit: float | None) -> dict[str, Any]:
    """What it reports."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (int(limit * 2**30),) * 2)

    command = [sys.executable, __file__, "--child", engine, "--folder", str(folder)]
    command += ["--passes", str(options.passes), "--jobs", str(options.jobs), "--C", str(options.C)]
    command += [] if options.seconds is None else ["--seconds", str(options.seconds)]
    env = {**os.environ, "MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072"}
    done = subprocess.run(
        command, env=env, preexec_fn=limited, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{engine} ended with {done.returncode}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()

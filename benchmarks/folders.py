"""A folder of parts ten times larger than the memory allowed, against the same work with all in memory.

    python benchmarks/folders.py [--limit 200] [--times 10] [--tasks steps,predict,evaluate,train] [--folder FOLDER]

Graphs of 500 nodes and 5,000 edges with 20 columns each, so many that their arrays take ``times`` the ``limit`` (MiB).
Feature steps are learned from them; ``gapcut predict`` and ``gapcut evaluate`` (one thread) take a model of a few. Each
in a process of its own, from the folder with so much address space more than it has after its imports (setrlimit), and
from one file of the same graphs without a limit. CPU seconds a graph, peak resident memory above that of the imports.
What is learned, labelled and printed must be the same. ``train`` searches C, oracle, base and context on a sample that
the command chooses, and without a limit on the same sample in memory (gap 20 %, three passes). A Markdown table goes to
standard output.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
from scale import room_graph

from gapcut import Graph, GraphFolder, GraphSet, StructuredSVM
from gapcut.cli import main as gapcut
from gapcut.data.folder import save_in_parts
from gapcut.engines import describe_machine, peak_memory_mb
from gapcut.features import FeaturePipeline

NODES, EDGES, COLUMNS, DISTINCT = 500, 5000, 20, 40
MEBI = 1 << 20


def graphs_of_the_set() -> list[Graph]:
    """The graphs that the set is made of, again and again."""
    found = []
    for seed in range(DISTINCT):
        graph, rng = room_graph(NODES, EDGES, seed), np.random.default_rng(seed)
        nodes = np.hstack([graph.node_features, rng.normal(size=(NODES, COLUMNS - graph.node_dim))])
        edges = np.hstack([graph.edge_features, rng.normal(size=(graph.n_edges, COLUMNS - graph.edge_dim))])
        found.append(graph.with_features(nodes, edges))
    return found


def bytes_of(graph: Graph) -> int:
    """Of its arrays."""
    return int(graph.node_features.nbytes + graph.edge_features.nbytes + graph.edges.nbytes)


def write(scratch: Path, limit: int, times: float, tasks: list[str]) -> int:
    """The folder, the file and the model; how many graphs."""
    some = graphs_of_the_set()
    count = int(-(-times * limit * MEBI // bytes_of(some[0])))

    def sets() -> Iterator[GraphSet]:
        for first in range(0, count, DISTINCT):
            yield GraphSet(some[: min(DISTINCT, count - first)])

    save_in_parts(sets(), scratch / "parts", part_bytes=limit * MEBI // 20)
    if tasks == ["train"]:
        return count
    GraphSet(some[i % DISTINCT] for i in range(count)).save(scratch / "one.npz")
    StructuredSVM(C=1.0, oracle="cut", gap=0.2, max_passes=3).fit(GraphSet(some[:8])).save(
        scratch / "m.gapcut"
    )
    return count


def train(data: Path, scratch: Path, sample: int) -> tuple[str, int]:
    """Digest of the weights, and how many graphs they were learned from."""
    out = scratch / "trained.gapcut"
    options = ["--jobs", "1", "--gap", "0.2", "--max-passes", "3", "--force", "--json"]
    options += ["--sample", str(sample)] if sample else []
    with redirect_stdout(StringIO()) as said:
        assert gapcut(["train", str(data), "--out", str(out), *options]) == 0
    model = StructuredSVM.load(out)
    found = hashlib.sha256(model.unary_.tobytes() + model.pairwise_.tobytes())
    return found.hexdigest(), int(json.loads(said.getvalue())["graphs"])


def work(task: str, data: Path, scratch: Path, limit: int, sample: int) -> None:
    """In a process of its own; a line of JSON."""
    if task == "train":
        import sklearn.ensemble  # noqa: F401  # no memory of ours
    before = peak_memory_mb()
    if limit:
        size = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmSize" in line)
        most = int(size.split()[1]) * 1024 + limit * MEBI
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    start = resource.getrusage(resource.RUSAGE_SELF)
    found, graphs = hashlib.sha256(), 0
    if task == "train":
        digest, graphs = train(data, scratch, sample)
        found.update(digest.encode())
    elif task == "steps":
        arrays, _ = (
            FeaturePipeline().fit(GraphFolder(data) if data.is_dir() else GraphSet.load(data)).to_state()
        )
        for name in sorted(arrays):
            found.update(arrays[name].tobytes())
    else:
        out = scratch / f"labels-{bool(limit)}.npz"
        more = ["--out", str(out), "--force"] if task == "predict" else ["--json"]
        with redirect_stdout(StringIO()) as said:
            assert gapcut([task, str(scratch / "m.gapcut"), str(data), "--jobs", "1", *more]) == 0
        if task == "predict":
            with np.load(out) as labels:
                for name in sorted(labels.files):
                    found.update(labels[name].tobytes())
        else:
            document = json.loads(said.getvalue())
            del document["inference"]["seconds"]
            found.update(json.dumps(document, sort_keys=True).encode())
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime - start.ru_utime - start.ru_stime
    found_by = {"found": found.hexdigest(), "graphs": graphs}
    print(json.dumps({"cpu": cpu, "above": peak_memory_mb() - before, **found_by}))


def child(task: str, data: Path, scratch: Path, limit: int, sample: int = 0) -> dict[str, float]:
    """What it reports."""
    command = [sys.executable, __file__, "--child", task, "--data", str(data), "--folder", str(scratch)]
    env = {**os.environ, "MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "--limit", str(limit), "--sample", str(sample)],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{task} of {data.name} ended with {done.returncode}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--times", type=float, default=10.0)
    parser.add_argument("--tasks", default="steps,predict,evaluate")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--child", default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--data", type=Path, default=None)
    options = parser.parse_args()
    if options.child:
        work(options.child, options.data, options.folder, options.limit, options.sample)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        scratch = Path(name)
        tasks = options.tasks.split(",")
        count = write(scratch, options.limit, options.times, tasks)
        print(f"{describe_machine()}; {count} graphs, {options.times:g} times {options.limit} MiB\n")
        print("| task | CPU ms a graph, folder | at once | ratio | MB above imports, folder | at once |")
        print("|" + "---|" * 6)
        for task in tasks:
            parts = child(task, scratch / "parts", scratch, options.limit)
            data = scratch / ("parts" if task == "train" else "one.npz")
            whole = child(task, data, scratch, 0, int(parts["graphs"]))
            assert parts["found"] == whole["found"], task
            print(
                f"| {task} | {1e3 * parts['cpu'] / count:.1f} | {1e3 * whole['cpu'] / count:.1f} | "
                f"{parts['cpu'] / whole['cpu']:.2f} | {parts['above']:,.0f} | {whole['above']:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

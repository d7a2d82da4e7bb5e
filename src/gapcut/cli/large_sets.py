"""What ``gapcut train`` holds of a folder of parts: all of it, a part at a time with the state on disk, or a sample;
decided, and said, before it begins."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gapcut.cli.options import SearchOptions, read_graphs
from gapcut.data import GraphFolder, GraphSet, is_parts, sample_of, save_in_parts
from gapcut.engines import SHARE, free_bytes
from gapcut.features import FeaturePipeline
from gapcut.features.block import ENOUGH

TELL_FROM = 64 << 20
"""Bytes of a folder of parts from which on its memory is thought about, and worth a line."""

_FLOAT, _PAIR = 8, 12
"""Bytes of a feature, and of the state for each edge and pair of labels."""

_FOREST = 64 + 40
"""Bytes of a node of a tree, fitted and as it is kept, without its classes."""


@dataclass(frozen=True)
class Needs:
    """What training on a set takes, roughly, in bytes, from its counts and the columns that steps make of its first
    part; ``seconds``: to read and prepare all of it once."""

    graphs: int
    nodes: int
    edges: int
    raw: float
    columns: tuple[int, int]
    """Of nodes and of edges, after the feature steps."""
    packed_columns: int
    """Of nodes in the learning problem: those and a base's, or a base's alone."""
    base_width: int
    """Columns that a base sees of a node, 0 without a base."""
    labels: int
    part: float
    seconds: float

    @classmethod
    def of(cls, folder: GraphFolder, options: SearchOptions) -> Needs:
        """Reads the first part that has graphs."""
        start = time.monotonic()
        first = next((part for part in folder.parts() if len(part)), None)
        if first is None:
            raise ValueError("no graphs were given: at least one is needed")
        pipeline = FeaturePipeline(options.standardize, options.edge_lift, incidence=options.incidence).fit(
            first
        )
        for _ in pipeline.transform_each(first):
            pass
        total = {what: folder.total(what) for what in ("graphs", "nodes", "edges")}
        known = {what: max(1, sum(getattr(g, f"n_{what}") for g in first)) for what in ("nodes", "edges")}
        seconds = (time.monotonic() - start) * total["nodes"] / known["nodes"]
        own, beside = first[0].node_dim, first[0].edge_dim
        labels = max(
            1, len({value for g in first if g.labels is not None for value in g.labels[g.labelled].tolist()})
        )
        stumps = 10 * own if options.node_lift != "none" else 0
        columns = (len(pipeline.node_names) + stumps, len(pipeline.edge_names))
        packed = columns[0]
        if options.base is not None and options.base_features == "own":
            packed += labels
        elif options.base is not None:  # alone beside a column of ones; "auto" is tried after none
            packed = 1 + labels if options.base == "trees" else max(packed, 1 + labels)
        width = own + 2 * (4 * beside + 1)
        if options.base_features in ("auto", "context"):
            width += labels * (1 + 2 * (1 + 2 * min(15, beside)))
        return cls(
            **total,
            raw=folder.array_bytes,
            columns=columns,
            packed_columns=packed,
            base_width=0 if options.base is None else width,
            labels=labels,
            part=folder.array_bytes * known["nodes"] / max(1, total["nodes"]),
            seconds=seconds,
        )

    def some(self, graphs: int) -> Needs:
        """Of so many of the graphs."""
        share = graphs / self.graphs
        nodes, edges = (int(share * count) for count in (self.nodes, self.edges))
        return replace(
            self, graphs=graphs, nodes=nodes, edges=edges, raw=share * self.raw, seconds=share * self.seconds
        )

    @property
    def ready(self) -> float:
        """All graphs after the feature steps."""
        return _FLOAT * (self.nodes * self.columns[0] + self.edges * self.columns[1])

    @property
    def joined(self) -> float:
        """The same with a base's columns, as the learning problem has them."""
        return _FLOAT * (self.nodes * self.packed_columns + self.edges * self.columns[1])

    @property
    def packed(self) -> float:
        """What the core holds of them, with edge features once more in single precision, and a quarter for what comes
        and goes."""
        return 1.25 * self.joined + self.edges * (8 + 4 * self.columns[1]) + 40 * self.nodes

    @property
    def state(self) -> float:
        """Multipliers and label pairs of all edges, at most."""
        return _PAIR * (self.edges * self.labels**2 + self.nodes * self.labels)

    @property
    def base(self) -> float:
        """The table that trees learn from, the copy that they read, and two forests."""
        if not self.base_width:
            return 0.0
        trees, rows = min(150, max(50, 1_500_000 // max(1, self.nodes))), min(self.nodes, 60_000)
        return 8.0 * self.nodes * self.base_width + 3.0 * trees * rows * (_FOREST + 8 * self.labels)

    @property
    def blocks(self) -> float:
        """Copies of those at work in the feature steps."""
        return 6.0 * _FLOAT * min(ENOUGH, self.nodes + self.edges) * max(self.columns)

    @property
    def whole(self) -> float:
        """All in memory."""
        joined = self.joined if self.base_width else 0.0
        return self.raw + self.blocks + self.ready + joined + max(self.base, self.packed + self.state)

    @property
    def apart(self) -> float:
        """Graphs a part at a time, the state of all shards but one on disk."""
        work = self.labels * (
            self.nodes * (0.7 * self.packed_columns + 20) + self.edges * (0.45 * self.columns[1] + 18)
        )
        shards = min(64.0, max(1.0, work / 1e7)) if work >= 2e8 else 1.0  # gapcut.problem.shards
        return (
            4.0 * self.part
            + self.blocks
            + max(self.base, self.packed + self.state / shards + 0.3 * self.base)
        )


@contextmanager
def training_graphs(
    data: Path,
    select: str | None,
    unpack_limit: int | None,
    options: SearchOptions,
    sample: int | None,
    at_once: bool,
) -> Iterator[tuple[GraphSet | GraphFolder, SearchOptions, int]]:
    """The graphs to learn from, the options with an engine, and how many graphs are left out. A sample may be in a
    folder of its own, which is there until the end. ``at_once``: all are wanted in memory."""
    here = replace(options, engine="threads") if options.engine == "auto" else options
    folder = GraphFolder(data, select=select, unpack_limit=unpack_limit) if is_parts(data) else None
    if folder is None or at_once or (folder.array_bytes < TELL_FROM and options.engine != "disk"):
        if folder is not None and sample is not None:  # the others need not be held
            graphs, count = folder.sample(sample), len(folder)
        else:
            given = read_graphs(data, select, unpack_limit)
            graphs, count = sample_of(given, sample), len(given)
        yield graphs, here, count - len(graphs)
        return
    if options.base is not None:
        import sklearn.ensemble  # noqa: F401  # before free memory is asked for: it takes some
    needs, free = Needs.of(folder, options).some(len(folder)), SHARE * free_bytes()
    wanted = needs.some(min(sample or needs.graphs, needs.graphs))
    if wanted.whole <= free and options.engine != "disk":
        _say(data, needs, wanted, "are read at once", wanted.whole, 0.0)
        yield folder.sample(wanted.graphs), here, needs.graphs - wanted.graphs
        return
    apart = replace(options, engine="disk") if options.engine == "auto" else options
    on_disk = apart.engine == "disk"
    wanted = needs.some(_most(needs, free)) if sample is None else wanted
    how = f"are read a part at a time, again and again, {wanted.seconds:,.1f} s each time"
    _say(data, needs, wanted, how, wanted.apart, wanted.state if on_disk else 0.0)
    if wanted.graphs == needs.graphs:
        yield folder, apart, 0
        return
    with tempfile.TemporaryDirectory(prefix="gapcut-", dir=apart.address if on_disk else None) as scratch:
        yield _copied(folder, wanted.graphs, Path(scratch)), apart, needs.graphs - wanted.graphs


def _most(needs: Needs, free: float) -> int:
    """As many graphs as there is memory for, two digits of them; all if possible. MemoryError where there are fewer
    than ten."""
    if needs.apart <= free:
        return needs.graphs
    low, high = 0, needs.graphs
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if needs.some(middle).apart <= free else (low, middle)
    digits = 10 ** max(0, len(str(low)) - 2)
    if low < 10:
        raise MemoryError(
            f"not enough memory: ten graphs of this folder take about {needs.some(10).apart / 2**20:,.0f} MB, and "
            f"{free / 2**20:,.0f} MB, half of what is free, may be used: name --sample to try fewer"
        )
    return int(low // digits * digits)


def _copied(folder: GraphFolder, count: int, scratch: Path) -> GraphFolder:
    """A sample of the graphs in a folder of its own: those between them need not be read again."""
    try:
        return save_in_parts(folder.samples(count), scratch / "graphs")
    except OSError as error:
        raise OSError(
            f"{scratch.parent} has no room for the sample ({error}); TMPDIR names another"
        ) from None


def _say(data: Path, needs: Needs, used: Needs, how: str, memory: float, disk: float) -> None:
    """What is about to be read, kept and left out."""
    free = free_bytes()
    room = f" ({free / 2**20:,.0f} MB are free)" if free < float("inf") else ""
    which = f"all {needs.graphs:,} graphs"
    if used.graphs < needs.graphs:
        again = f"a random sample, the same one with --sample {used.graphs}"
        which = f"{used.graphs:,} of {needs.graphs:,} graphs ({again})"
    files = "" if used.graphs == needs.graphs else f", {used.raw / 2**20:,.0f} MB of disk for the sample"
    state = f", at most {disk / 2**20:,.0f} MB of disk for the state" if disk else ""
    print(
        f"{data}: {which} {how}; about {memory / 2**20:,.0f} MB of memory{room}{state}{files}",
        file=sys.stderr,
        flush=True,
    )

"""Labels of many graphs, and the files that hold them."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

import numpy as np

from gapcut.cli.counts import counted
from gapcut.data import GraphSet
from gapcut.extras import needed
from gapcut.files import write_arrays
from gapcut.inference import Solution
from gapcut.machine import Machine
from gapcut.typing import AnyArray


@dataclass(frozen=True)
class Labelled:
    """What files hold of labelled graphs, one of each a graph; ``seconds`` of inference."""

    names: list[str]
    solutions: list[Solution[AnyArray]]
    seconds: float

    @classmethod
    def of(
        cls,
        svm: Machine,
        sets: Iterable[GraphSet],
        say: Callable[[str], None] = lambda line: None,
        then: Callable[[GraphSet, list[Solution[AnyArray]]], None] = lambda graphs, solutions: None,
    ) -> Labelled:
        """The graphs of several sets labelled, of which memory holds one; ``then`` is called for each set."""
        names: list[str] = []
        solutions: list[Solution[AnyArray]] = []
        seconds = 0.0
        for graphs in sets:
            start = time.monotonic()
            found = svm.solutions(graphs)
            seconds += time.monotonic() - start
            then(graphs, found)
            names += [graph.name or "" for graph in graphs]
            solutions += found
            say(f"labelled {counted(graph=len(solutions))} ...")
        return cls(names, solutions, seconds)

    @property
    def sizes(self) -> list[int]:
        """Nodes of each graph."""
        return [len(solution.labels) for solution in self.solutions]

    @property
    def counts(self) -> dict[str, Any]:
        """For the document of a command."""
        return {
            "graphs": len(self.solutions),
            "nodes": sum(self.sizes),
            "inference": {
                "seconds": self.seconds,
                "proven_optimal": sum(s.status == "optimal" for s in self.solutions),
                "largest_gap": max(s.gap for s in self.solutions),
            },
        }

    def arrays(self) -> dict[str, AnyArray]:
        """As an ``.npz`` holds them."""
        labels = np.concatenate([s.labels for s in self.solutions])
        return {
            "node_offset": np.cumsum([0, *self.sizes], dtype=np.int64),
            "labels": labels.astype(str) if labels.dtype == object else labels,
            "names": np.array(self.names),
            "energy": np.array([s.energy for s in self.solutions]),
            "bound": np.array([s.bound for s in self.solutions]),
            "gap": np.array([s.gap for s in self.solutions]),
            "status": np.array([s.status for s in self.solutions]),
        }


def writer(out: Path) -> Callable[[IO[bytes], Labelled], None]:
    """What writes a file of that ending; said before the work if there is none."""
    ending = out.suffix.lower()
    if ending == ".parquet":
        needed("pyarrow.parquet", "Parquet files need", "parquet", ", or name a .csv")
    if ending not in _WRITERS:
        raise ValueError(f"{out}: name a file that ends with one of {', '.join(_WRITERS)}")
    return _WRITERS[ending]


def write_npz(file: IO[bytes], labelled: Labelled) -> None:
    """Labels, energies, bounds and gaps."""
    write_arrays(file, labelled.arrays())


def _write_csv(file: IO[bytes], labelled: Labelled) -> None:
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for number, (name, solution) in enumerate(zip(labelled.names, labelled.solutions, strict=True)):
        rows.writerows((number, name, node, label) for node, label in enumerate(solution.labels.tolist()))
    text.detach()


def _write_parquet(file: IO[bytes], labelled: Labelled) -> None:
    pyarrow = needed("pyarrow.parquet", "Parquet files need", "parquet")
    arrays, sizes = labelled.arrays(), labelled.sizes
    nodes = np.concatenate([np.arange(size) for size in sizes])
    columns = (
        np.repeat(np.arange(len(sizes)), sizes),
        np.repeat(arrays["names"], sizes),
        nodes,
        arrays["labels"],
    )
    pyarrow.parquet.write_table(
        pyarrow.table({n: c.tolist() for n, c in zip(_COLUMNS, columns, strict=True)}), file
    )


_COLUMNS = ("graph", "name", "node", "label")
_WRITERS = {".npz": write_npz, ".csv": _write_csv, ".parquet": _write_parquet}

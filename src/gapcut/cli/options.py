"""Options that several commands share, and what they mean for the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from gapcut.data import GraphSet
from gapcut.machine import Machine

DataPath = Annotated[
    Path, Parameter(name="DATA", help="Graph set: one .npz, or a folder with one .npz a graph.")
]
ModelPath = Annotated[Path, Parameter(name="MODEL", help="Model file made by gapcut train.")]
Json = Annotated[
    bool, Parameter(name="--json", negative="", help="Print one JSON document and nothing else.")
]
Select = Annotated[
    str | None,
    Parameter(name="--select", help="Use only graphs where this boolean per-graph array of DATA is true."),
]
Certified = Annotated[
    bool,
    Parameter(
        name="--certified", negative="", help="Exit with 1 unless the gap is proven to meet its target."
    ),
]
Jobs = Annotated[
    int, Parameter(name="--jobs", help="Threads over graphs, -1 for all cores; results do not depend on it.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class LearningOptions:
    """Options of training, named as in StructuredSVM."""

    C: Annotated[float, Parameter(name="--C", help="Trade-off between training loss and 1/2 |w|^2.")] = 1.0
    gap: Annotated[float, Parameter(name="--gap", help="Target of the proven relative gap.")] = 1e-2
    eps: Annotated[
        float | None, Parameter(name="--eps", help="Absolute stop of the cutting plane, in place of --gap.")
    ] = None
    loss_scale: Annotated[
        float, Parameter(name="--loss-scale", help="Loss of a graph labelled all wrong.")
    ] = 100.0
    learner: Annotated[
        str,
        Parameter(
            name="--learner", help="auto, primal-dual, block, cutting-plane, frank-wolfe or subgradient."
        ),
    ] = "auto"
    oracle: Annotated[
        str,
        Parameter(
            name="--oracle",
            help="cut (exact min cut), auto; one-hot: tree, trws, ilp, lp; to compare: qpbo, qpbo-rounded, icm, bp.",
        ),
    ] = "cut"
    nonnegative: Annotated[
        str,
        Parameter(
            name="--nonnegative", help="Pairwise weights >= 0: pairwise, none, or auto (by the oracle)."
        ),
    ] = "auto"
    qp: Annotated[
        str, Parameter(name="--qp", help="Working-set solver of the cutting plane: dual or clarabel.")
    ] = "dual"
    incidence: Annotated[
        bool, Parameter(name="--incidence", help="Add sums of edge features to the nodes they meet.")
    ] = True
    standardize: Annotated[bool, Parameter(name="--standardize", help="Scale features.")] = True
    intercept: Annotated[bool, Parameter(name="--intercept", help="Add constant features.")] = True
    edge_lift: Annotated[str, Parameter(name="--edge-lift", help="How signed edge features become >= 0.")] = (
        "auto"
    )
    node_lift: Annotated[
        str, Parameter(name="--node-lift", help="stumps: node features as 0/1 quantile answers.")
    ] = "none"
    degree_scale: Annotated[
        str, Parameter(name="--degree-scale", help="Divide edge features by degree: none, graph or node.")
    ] = "none"
    incidence_scale: Annotated[
        str, Parameter(name="--incidence-scale", help="Sums at nodes: auto, none, center or standard.")
    ] = "auto"
    classes: Annotated[
        str | None,
        Parameter(name="--classes", help="All labels, separated by commas; default: those in DATA."),
    ] = None
    balanced: Annotated[
        bool, Parameter(name="--balanced", negative="", help="Weigh classes inversely to their frequency.")
    ] = False
    max_passes: Annotated[int | None, Parameter(name="--max-passes", help="Stop after so many passes.")] = (
        None
    )
    time_limit: Annotated[
        float | None, Parameter(name="--time-limit", help="Stop after so many seconds.")
    ] = None
    jobs: Jobs = -1
    seed: Annotated[int, Parameter(name="--seed", help="Seed of all random orders.")] = 0

    def estimator(
        self, graphs: GraphSet, callback: Callable[..., Any] | None = None, checkpoint: Path | None = None
    ) -> Machine:
        """The estimator these options describe, for these graphs."""
        return Machine(
            C=self.C,
            gap=self.gap,
            eps=self.eps,
            loss_scale=self.loss_scale,
            learner=self.learner,
            oracle=self.oracle,
            nonnegative=self.nonnegative,
            qp=self.qp,
            incidence=self.incidence,
            standardize=self.standardize,
            intercept=self.intercept,
            edge_lift=self.edge_lift,
            node_lift=self.node_lift,
            degree_scale=self.degree_scale,
            incidence_scale=self.incidence_scale,
            classes=None if self.classes is None else parse_labels(self.classes, graphs),
            class_weight="balanced" if self.balanced else None,
            max_passes=self.max_passes,
            time_limit=self.time_limit,
            n_jobs=self.jobs,
            random_state=self.seed,
            callback=callback,
            checkpoint=checkpoint,
        )

    @property
    def target(self) -> float | None:
        """The relative gap aimed at, where there is one."""
        return self.gap if self.eps is None else None


def parse_labels(text: str, graphs: GraphSet) -> list[Any]:
    """Labels given as text, in the type of the data's labels."""
    parts = [part.strip() for part in text.split(",")]
    kinds = {g.labels.dtype.kind for g in graphs if g.labels is not None and g.labels.dtype != object}
    kinds |= {
        np.asarray(g.labels[g.labelled].tolist()).dtype.kind
        for g in graphs
        if g.labels is not None and g.labels.dtype == object
    }
    try:
        if kinds and kinds <= set("iu"):
            return [int(part) for part in parts]
        if kinds and kinds <= set("iuf"):
            return [float(part) for part in parts]
        if kinds == {"b"}:
            return [{"true": True, "false": False, "1": True, "0": False}[part.lower()] for part in parts]
    except (ValueError, KeyError):
        raise ValueError(f"--classes {text!r} does not fit the labels of DATA, which are numbers") from None
    return parts


def read_graphs(data: Path, select: str | None = None) -> GraphSet:
    """The graphs of a file or folder; an empty set is refused."""
    graphs = GraphSet.load(data, select=select)
    if not len(graphs):
        what = f"no graph is selected by {select!r}" if select else "there are no graphs in it"
        raise ValueError(f"{data}: {what}")
    return graphs


def check_folder(path: Path) -> None:
    """Refuse an output whose folder does not exist before hours of work, not after."""
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent}: no such folder to write {path.name} to")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a file: name a file to write")

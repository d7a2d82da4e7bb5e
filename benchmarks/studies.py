"""The data sets of the comparison: folds, feature steps, C, limits, and which pairs run on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gapcut import GraphSet, datasets
from gapcut.comparison import Contender
from gapcut.typing import IntArray

Folds = Sequence[tuple[str, IntArray]]

RELAXED = (
    Contender("primal-dual", "cut"),
    Contender("block", "cut"),
    Contender("cutting-plane", "cut"),
    Contender("frank-wolfe", "cut"),
    Contender("subgradient", "cut"),
)
"""Learners of the relaxed binary problem, with the exact oracle."""

ONE_HOT = (
    Contender("block", "trws", "none"),
    Contender("block", "trws", "pairwise"),
    Contender("frank-wolfe", "trws", "none"),
    Contender("block", "ilp", "none"),
    Contender("block", "lp", "none"),
    Contender("primal-dual", "lp", "none"),
)
"""The one-hot problem: signed against non-negative weights under the same oracle, the classic learners, programs; its
linear relaxation by linear programs (``block``) and by first-order steps."""

POOR = (
    Contender("cutting-plane", "qpbo", "none"),
    Contender("cutting-plane", "qpbo-rounded", "none"),
    Contender("cutting-plane", "qpbo-rounded-energy", "none"),
    Contender("block", "qpbo", "none"),
    Contender("block", "qpbo-rounded", "none"),
    Contender("block", "qpbo-rounded-energy", "none"),
    Contender("frank-wolfe", "icm", "none"),
    Contender("frank-wolfe", "bp", "none"),
)
"""Oracles that prove nothing, as the paper's competitors use them."""

TREE = (Contender("block", "tree", "none"), Contender("frank-wolfe", "tree", "none"))


@dataclass(frozen=True)
class Study:
    """``folds`` name the graphs to test on; all others train. ``C_relaxed`` for the cut and QPBO, ``C_one_hot`` for
    the rest (see ``docs/comparison.md``). ``limit``: CPU seconds a fit. ``bare``: also without edges. ``methods``:
    inference to compare on the first models trained with the cut and with TRW-S. ``noted``: settings of the contenders
    with a note, by note, beside ``options``. ``classes``: names of the labels, where those are numbers."""

    name: str
    graphs: GraphSet
    folds: Folds
    C_relaxed: float
    C_one_hot: float
    limit: float
    pairs: tuple[Contender, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    bare: bool = False
    methods: tuple[str, ...] = ()
    noted: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    classes: Mapping[Any, str] = field(default_factory=dict)

    def describe(self, search: str = "") -> str:
        """One sentence for the report; ``search``: how C was chosen, where it was."""
        nodes, edges = sum(g.n_nodes for g in self.graphs), sum(g.n_edges for g in self.graphs)
        protocol = f"{len(self.folds)} folds" if len(self.folds) > 1 else "fixed training and test part"
        fixed = f"C = {self.C_relaxed:g} (relaxed binary) and {self.C_one_hot:g} (one-hot)"
        return (
            f"{len(self.graphs)} graphs, {nodes:,} nodes, {edges:,} edges; {protocol}; {search or fixed}; "
            f"each fit ends after {self.limit:g} CPU seconds."
        )


def load_study(name: str, shared: Path) -> Study:
    """One of :data:`NAMES` from the data folder."""
    return _LOADERS[name](shared / "data")


def random_folds(graphs: GraphSet, count: int) -> Folds:
    """Parts of nearly equal size, by number."""
    order = np.random.default_rng(0).permutation(len(graphs))
    return [(str(i), np.sort(part)) for i, part in enumerate(np.array_split(order, count))]


def _fixed(train: GraphSet, test: GraphSet) -> tuple[GraphSet, Folds]:
    names = train.node_feature_names, train.edge_feature_names
    graphs = GraphSet([*train, *test], node_feature_names=names[0], edge_feature_names=names[1])
    return graphs, [("test", np.arange(len(train), len(graphs)))]


def _tables(data: Path) -> Study:
    graphs, _ = datasets.load_tables(data / "tables")
    pairs = (*RELAXED, *ONE_HOT, *POOR)
    return Study("tables", graphs, random_folds(graphs, 3), 1.0, 1.0, 5.0, pairs, methods=("trws", "ilp"))


def _snakes(data: Path) -> Study:
    graphs, folds = _fixed(*datasets.load_snakes(data / "snakes"))
    pairs = (*RELAXED, *ONE_HOT, *POOR)
    return Study(
        "snakes", graphs, folds, 50.0, 50.0, 20.0, pairs, {"incidence": False}, methods=("trws", "ilp")
    )


def _letters(data: Path) -> Study:
    graphs, folds = _fixed(*datasets.load_letters(data / "letters"))
    options = {"incidence": False, "standardize": False}
    pairs = (*RELAXED, *TREE, *ONE_HOT, *POOR)
    return Study("letters", graphs, folds, 1000.0, 1000.0, 5.0, pairs, options)


def _cornell(data: Path, place: str) -> Study:
    graphs = datasets.load_cornell(data / "cornell", place)
    options = {"node_lift": "stumps", "degree_scale": "graph"}
    pairs = (*RELAXED, *ONE_HOT, *POOR)
    return Study(
        f"cornell {place}",
        graphs,
        random_folds(graphs, 4),
        1.0,
        1.0,
        4.0,
        pairs,
        options,
        bare=True,
        methods=("trws", "ilp"),
        classes=datasets.cornell_classes(data / "cornell", place),
    )


def _published(data: Path) -> Study:
    """Office with the thresholds of Anand et al., and with their classes of one object: between others, edges say
    nothing of colour."""
    graphs = datasets.load_cornell(data / "cornell", "office", stumps=True)
    classes = np.unique(np.concatenate([g.labels for g in graphs if g.labels is not None])).tolist()
    free = np.zeros((len(classes), len(classes)), dtype=bool)
    for parts in datasets.cornell_objects(data / "cornell", "office"):
        at = [classes.index(part) for part in parts]
        free[np.ix_(at, at)] = True
    colour = [name.startswith(("HDiff", "SDiff", "VDiff")) for name in graphs.edge_feature_names or ()]
    fixed = np.where(free[:, :, None] | ~np.array(colour), np.nan, 0.0)
    options = {"standardize": False, "intercept": False, "edge_lift": "none", "degree_scale": "graph"}
    objects = "colour within objects"
    pairs = (
        Contender("primal-dual", "cut"),
        Contender("primal-dual", "cut", note=objects),
        Contender("block", "trws", "none"),
    )
    noted = {objects: {"frozen": {"pairwise": fixed}, "classes": classes}}
    name = "cornell office, published thresholds"
    return Study(
        name, graphs, random_folds(graphs, 4), 1.0, 1.0, 20.0, pairs, options, bare=True, noted=noted
    )


_LOADERS = {
    "tables": _tables,
    "office": lambda data: _cornell(data, "office"),
    "home": lambda data: _cornell(data, "home"),
    "published": _published,
    "snakes": _snakes,
    "letters": _letters,
}
NAMES = tuple(_LOADERS)

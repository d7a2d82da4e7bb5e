"""From raw graphs to what a model sees: the feature steps in their order, saved with the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from gapcut.data import CliqueSet, Graph, GraphError, GraphFolder, GraphSet, names_differ, place
from gapcut.data.cliques import LEAST, MOST
from gapcut.features.base import Columns, State, Step, choice
from gapcut.features.block import blocks
from gapcut.features.clique_scale import CliqueColumns
from gapcut.features.degree import DegreeScaler
from gapcut.features.edge_scale import EdgeScaler
from gapcut.features.incidence import Incidence
from gapcut.features.intercept import Intercept
from gapcut.features.lift import SignLift
from gapcut.features.passes import Kept, Passes, Replayed
from gapcut.features.standardize import NodeStandardizer
from gapcut.features.stumps import QuantileStumps
from gapcut.typing import AnyArray

Standardize: TypeAlias = bool | Literal["scale"]
EdgeLift: TypeAlias = Literal["auto", "all", "none", "stumps"]
NodeLift: TypeAlias = Literal["none", "stumps"]
DegreeScale: TypeAlias = Literal["none", "graph", "node", "larger"]
IncidenceScale: TypeAlias = Literal["auto", "none", "center", "standard"]

STEPS: dict[str, type[Step]] = {
    "node stumps": QuantileStumps,
    "nodes": NodeStandardizer,
    "stumps": QuantileStumps,
    "edges": EdgeScaler,
    "lift": SignLift,
    "intercept": Intercept,
    "cliques": CliqueColumns,
    "degree": DegreeScaler,
    "incidence": Incidence,
}
"""The steps in the order in which they run."""

_SAME = "give the same columns in the same order, or train on graphs like this one"


class FeaturePipeline:
    """Raw graph in, model-ready graph out.

    - ``standardize``: node columns centred and scaled (True), only scaled (``"scale"``, keeps sparse input
      sparse), or left as they are (False). Unless False, edge columns are divided by their largest absolute
      value and columns that are constant in training are dropped.
    - ``edge_lift``: ``"auto"`` splits edge columns that are negative somewhere in training into positive and
      negative part, ``"all"`` splits every column, ``"stumps"`` replaces columns by quantile stumps,
      ``"none"`` keeps signs.
    - ``node_lift``: ``"stumps"`` replaces node columns by quantile stumps and leaves them unscaled,
      ``"none"`` does not.
    - ``incidence``: sums of the outgoing and of the incoming edge features as node features.
    - ``intercept``: a constant node column and a constant edge feature.
    - ``degree_scale``: edge features divided by the graph's mean degree (``"graph"``), by the degrees of the
      two ends (``"node"``), by the larger of these (``"larger"``), or not (``"none"``); the constant edge
      feature and the sums follow.
    - ``incidence_scale``: the sums as they are (``"none"``), centred (``"center"``) or standardised
      (``"standard"``); ``"auto"`` standardises them unless ``standardize=False``.
    - ``n_thresholds``: stumps per feature.

    Clique features are scaled, lifted and given a constant column as edge features are (they are split where
    edge features become stumps), and ``incidence`` adds their sums.

    What a weight costs depends on the scale of its column, so each of these changes what ``C`` means. With
    ``standardize=False, edge_lift="none", incidence=False, intercept=False`` features are used as given.
    Steps see the whole graph, unlabelled nodes included. After training every edge and clique feature is >= 0 unless
    ``edge_lift="none"``.
    """

    def __init__(
        self,
        standardize: Standardize = True,
        edge_lift: EdgeLift = "auto",
        incidence: bool = True,
        intercept: bool = True,
        *,
        node_lift: NodeLift = "none",
        degree_scale: DegreeScale = "none",
        incidence_scale: IncidenceScale = "auto",
        n_thresholds: int = 10,
    ) -> None:
        choice("standardize", standardize, (True, False, "scale"))
        choice("edge_lift", edge_lift, get_args(EdgeLift))
        choice("incidence", incidence, (True, False))
        choice("intercept", intercept, (True, False))
        choice("degree_scale", degree_scale, get_args(DegreeScale))
        choice("incidence_scale", incidence_scale, get_args(IncidenceScale))
        if incidence_scale == "auto":
            incidence_scale = "standard" if standardize else "none"
        choice("node_lift", node_lift, get_args(NodeLift))
        stumps, node_stumps = edge_lift == "stumps", node_lift == "stumps"
        scaled = bool(standardize) and not node_stumps
        chosen: dict[str, Step | None] = {
            "node stumps": QuantileStumps(n_thresholds, "node") if node_stumps else None,
            "nodes": NodeStandardizer(standardize, keep_constant=not intercept) if scaled else None,
            "stumps": QuantileStumps(n_thresholds) if stumps else None,
            "edges": EdgeScaler(keep_constant=not intercept) if standardize and not stumps else None,
            "lift": SignLift(edge_lift) if edge_lift in ("auto", "all") else None,
            "intercept": Intercept() if intercept else None,
            "cliques": CliqueColumns(bool(standardize), "auto" if stumps else edge_lift, intercept),
            "degree": DegreeScaler(degree_scale) if degree_scale != "none" else None,
            "incidence": Incidence(incidence_scale) if incidence else None,
        }
        self.steps: dict[str, Step] = {name: step for name in STEPS if (step := chosen[name]) is not None}
        self._raw: Columns | None = None

    def fit(self, graphs: Sequence[Graph]) -> Self:
        """Learn from raw training graphs; column names are taken from a GraphSet that has them.

        Of a :class:`gapcut.GraphFolder` memory holds a part at a time. Parts are read twice, columns of nodes wait in
        a temporary file; what is learned is the same, bit for bit.
        """
        if isinstance(graphs, GraphFolder):
            self._learn(graphs, Replayed(graphs))
        else:
            self.fit_transform(graphs)
        return self

    def fit_transform(self, graphs: Sequence[Graph]) -> list[Graph]:
        """Fit, and return the training graphs model-ready."""
        known = graphs if isinstance(graphs, GraphSet) else GraphSet(graphs)
        ready = Kept(known)
        self._learn(known, ready)
        return [graph for block in ready for graph in block.split()]

    def _learn(self, known: GraphSet | GraphFolder, ready: Passes) -> None:
        """Fit the steps in turn, each to what those before it make of the blocks."""
        if not len(known):
            raise ValueError("no graphs were given: at least one is needed to learn the feature steps")
        first = known[0]
        names = Columns(
            known.node_feature_names or _unnamed("node", first.node_dim),
            known.edge_feature_names or _unnamed("edge", first.edge_dim),
            tuple(
                tuple(f"clique{g}[{i}]" for i in range(group.dim)) for g, group in enumerate(first.cliques)
            ),
            tuple(group.order for group in first.cliques),
        )
        columns = names
        for step in self.steps.values():
            step.fit(ready, columns)
            ready.apply(step)
            columns = step.rename(columns)
        self._raw = names

    def transform(self, graph: Graph) -> Graph:
        """A raw graph, model-ready: labels, weights and name stay."""
        return self.transform_all([graph])[0]

    def transform_all(self, graphs: Sequence[Graph]) -> list[Graph]:
        """:meth:`transform` of each."""
        return list(self.transform_each(graphs))

    def transform_each(self, graphs: Iterable[Graph]) -> Iterator[Graph]:
        """The same, of which memory holds a few at a time."""
        for block in blocks(self.with_raw_columns(graph) for graph in graphs):
            for step in self.steps.values():
                block = step.transform(block)
            yield from block.split()

    @property
    def raw_columns(self) -> Columns:
        """Names of the raw node and edge feature columns."""
        if self._raw is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "the feature pipeline is not fitted yet: call fit with training graphs first"
            )
        return self._raw

    @property
    def given_names(self) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """Names of the raw node and of the raw edge feature columns, None where the training graphs had none."""
        named = (("node", self.raw_columns.node), ("edge", self.raw_columns.edge))
        node, edge = (None if names == _unnamed(kind, len(names)) else names for kind, names in named)
        return node, edge

    @property
    def node_names(self) -> tuple[str, ...]:
        """(Dn',) names of the node feature columns that the model sees."""
        return self._columns().node

    @property
    def edge_names(self) -> tuple[str, ...]:
        """(De',) names of the edge feature columns that the model sees."""
        return self._columns().edge

    @property
    def clique_names(self) -> tuple[tuple[str, ...], ...]:
        """Names of the feature columns of each clique group that the model sees."""
        return self._columns().cliques

    def to_state(self) -> State:
        """Everything as plain arrays and a JSON-able dict."""
        raw = self.raw_columns
        arrays: dict[str, AnyArray] = {}
        meta: dict[str, Any] = {"node": list(raw.node), "edge": list(raw.edge), "steps": {}}
        if raw.cliques:
            meta["cliques"] = [
                {"order": d, "names": list(names)} for d, names in zip(raw.orders, raw.cliques, strict=True)
            ]
        for name, step in self.steps.items():
            if name == "cliques" and not raw.cliques:
                continue
            learned, settings = step.to_state()
            arrays |= {f"{name}.{key}": value for key, value in learned.items()}
            meta["steps"][name] = settings
        return arrays, meta

    @classmethod
    def from_state(cls, arrays: dict[str, AnyArray], meta: dict[str, Any]) -> FeaturePipeline:
        """Inverse of :meth:`to_state`; raises ValueError on state that is incomplete or inconsistent."""
        try:
            groups = list(meta.get("cliques", []))
            columns = Columns(
                tuple(map(str, meta["node"])),
                tuple(map(str, meta["edge"])),
                tuple(tuple(map(str, group["names"])) for group in groups),
                tuple(_order(group["order"]) for group in groups),
            )
            saved = dict(meta["steps"])
        except (KeyError, TypeError, ValueError):
            raise ValueError("feature pipeline: saved state lacks column names or steps") from None
        unknown = sorted(set(saved) - set(STEPS))
        if unknown:
            raise ValueError(f"feature pipeline: unknown step {unknown[0]!r}; known are {', '.join(STEPS)}")
        pipeline = cls()
        pipeline.steps, pipeline._raw = {}, columns
        for name in (name for name in STEPS if name in saved):
            prefix = f"{name}."
            own = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
            step = STEPS[name].from_state(own, dict(saved[name]))
            step.check(columns)
            pipeline.steps[name], columns = step, step.rename(columns)
        return pipeline

    def _columns(self) -> Columns:
        columns = self.raw_columns
        for step in self.steps.values():
            columns = step.rename(columns)
        return columns

    def with_raw_columns(self, graph: Graph) -> Graph:
        """A raw graph, with the columns of what it has none of. Raises GraphError where its columns are others, by
        number or by name."""
        raw = self.raw_columns
        if graph.edge_dim == 0 and not graph.n_edges and raw.edge:
            graph = graph.with_features(edge_features=np.empty((0, len(raw.edge))))
        for found, names, kind in ((graph.node_dim, raw.node, "node"), (graph.edge_dim, raw.edge, "edge")):
            if found != len(names):
                detail = f"{found} {kind} features, but the training graphs had {len(names)}"
                raise GraphError(f"{detail}: {_SAME}", place(None, graph.name))
        given = (graph.node_feature_names, graph.edge_feature_names)
        for kind, own, known in zip(("node", "edge"), given, self.given_names, strict=True):
            if own is not None and known is not None and own != known:
                raise GraphError(
                    names_differ(kind, own, known, "the training graphs"), place(None, graph.name)
                )
        return self._with_raw_cliques(graph)

    def _with_raw_cliques(self, graph: Graph) -> Graph:
        """A graph without clique groups gets empty ones; which label tuples it names does not matter here."""
        raw = self.raw_columns
        if not graph.cliques:
            empty = [
                CliqueSet(np.empty((0, d), dtype=np.int64), np.empty((0, len(names))))
                for d, names in zip(raw.orders, raw.cliques, strict=True)
            ]
            return graph.with_features(cliques=tuple(empty))
        found = [(group.order, group.dim) for group in graph.cliques]
        wanted = [(d, len(names)) for d, names in zip(raw.orders, raw.cliques, strict=True)]
        if found != wanted:
            raise GraphError(
                f"clique groups (nodes, features) {_sizes(found)}, but the training graphs had {_sizes(wanted)}: "
                "give the same groups, or train on graphs like this one",
                place(None, graph.name),
            )
        return graph


def _unnamed(kind: str, columns: int) -> tuple[str, ...]:
    return tuple(f"{kind}[{i}]" for i in range(columns))


def _sizes(groups: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"({d}, {dim})" for d, dim in groups) or "none"


def _order(value: Any) -> int:
    if type(value) is not int or not LEAST <= value <= MOST:
        raise ValueError("a clique group has no legal number of nodes")
    return value

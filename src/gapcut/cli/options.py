"""Options that several commands share, and what they mean for the library.

Options of one command are its parameters, and ``:param name:`` in its docstring is their help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
from cyclopts import Parameter, validators

from gapcut.data import (
    GraphError,
    GraphFileError,
    GraphFolder,
    GraphSet,
    graph_files,
    is_parts,
    load_graph_file,
    place,
    sample_of,
)
from gapcut.engines.shards import ShardEngineName
from gapcut.machine import Machine
from gapcut.parameters import (
    BaseFeaturesChoice,
    Callback,
    NodeLiftChoice,
    OracleName,
    Parameters,
    Positive,
    SignRule,
    summary,
)

DataPath = Annotated[
    Path,
    Parameter(
        name="DATA", help="Graph set: one .npz, a folder with one .npz a graph, or one of gapcut convert."
    ),
]
ModelPath = Annotated[Path, Parameter(name="MODEL", help="Model file made by gapcut train.")]
Flag = Annotated[bool, Parameter(negative="")]
Json = Annotated[Flag, Parameter(name="--json", help="Print one JSON document and nothing else.")]
Select = Annotated[
    str | None, Parameter(help="Use only graphs where this boolean per-graph array of DATA is true.")
]
UnpackLimit = Annotated[
    int | None,
    Parameter(help="Bytes that a file of DATA may unpack to; default: 50 times its size and 64 MiB."),
]
Sample = Annotated[
    int | None,
    Parameter(
        validator=validators.Number(gte=1),
        help="Use only so many graphs of DATA, the first of a random order that is always the same.",
    ),
]
Certified = Annotated[Flag, Parameter(help="Exit with 1 unless the gap is proven to meet its target.")]


def option(parameter: str, name: str | None = None, more: str = "") -> Parameter:
    """The option of a parameter of :class:`gapcut.StructuredSVM`: its name and what it is for."""
    name = name or f"--{parameter.replace('_', '-')}"
    return Parameter(name=name, help=summary(Parameters, parameter) + more)


Jobs = Annotated[int, option("n_jobs", "--jobs")]
Seed = Annotated[int, option("random_state", "--seed")]

NOT_OFFERED = {
    "inference": "training does not use it; predict and evaluate take it",
    "class_weight": "--balanced stands for it; a mapping has no short form",
    "costs": "a table has no short form",
    "warm_start": "a command fits once, or along --path",
    "checkpoint": "train keeps one beside the model, for --resume",
    "callback": "commands show progress by themselves",
    "verbose": "commands show progress by themselves",
    "frozen": "arrays have no short form",
}
"""Parameters without an option in the commands that train, and why."""


def _offered(options: type[LearningOptions]) -> type[LearningOptions]:
    """Class decorator: parameters that the class does not spell itself get the options that their declaration says."""
    own, declared = options.__annotations__, get_type_hints(Parameters)
    for name in (name for name in declared if name not in own):
        how = Parameter(parse=False) if name in NOT_OFFERED else option(name)
        own[name] = Annotated[declared[name], how]
    return Parameter(name="*")(dataclass(eq=False, repr=False)(options))


@_offered
class LearningOptions(Parameters):
    """Options of training: the parameters of StructuredSVM. Those below differ in type or default."""

    standardize: Annotated[bool, option("standardize")] = True
    classes: Annotated[
        str | None, Parameter(help="All labels, separated by commas; default: those in DATA.")
    ] = None
    base: Annotated[Literal["trees", "auto"] | None, option("base")] = None
    nonnegative: Annotated[SignRule, option("nonnegative")] = "auto"
    n_jobs: Jobs = -1
    random_state: Seed = 0
    balanced: Annotated[Flag, Parameter(help="Weigh classes inversely to their frequency.")] = False

    def estimator(
        self, graphs: GraphSet | GraphFolder, callback: Callback | None = None, checkpoint: Path | None = None
    ) -> Machine:
        """The estimator these options describe, for these graphs."""
        values = {f.name: getattr(self, f.name) for f in fields(Parameters)}
        values["classes"] = None if self.classes is None else parse_labels(self.classes, graphs)
        values["class_weight"] = "balanced" if self.balanced else None
        values["engine"] = "threads" if values["engine"] == "auto" else values["engine"]
        return Machine(**{**values, "callback": callback, "checkpoint": checkpoint})

    @property
    def target(self) -> float | None:
        """The relative gap aimed at, where there is one."""
        return self.gap if self.eps is None else None


@Parameter(name="*")
@dataclass(eq=False, repr=False)
class SearchOptions(LearningOptions):
    """The same, but what is not named is searched (docs/decisions/0022-the-command-searches.md)."""

    C: Annotated[Positive | Literal["cv"], option("C")] = "cv"
    oracle: Annotated[OracleName, option("oracle")] = "auto"
    node_lift: Annotated[NodeLiftChoice, option("node_lift")] = "auto"
    base: Annotated[Literal["trees", "auto"] | None, option("base")] = "auto"
    base_features: Annotated[BaseFeaturesChoice, option("base_features")] = "auto"
    engine: Annotated[
        ShardEngineName | Literal["auto"],
        option(
            "engine", more=" Default (auto): threads, or the disk for a folder that memory does not hold."
        ),
    ] = "auto"  # type: ignore[assignment]  # decided before a fit


def parse_labels(text: str, graphs: GraphSet | GraphFolder) -> list[Any]:
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


def read_graphs(data: Path, select: str | None, unpack_limit: int | None) -> GraphSet:
    """The graphs of a file or folder; an empty set is refused."""
    _check_limit(unpack_limit)
    graphs = GraphSet.load(data, select=select, unpack_limit=unpack_limit)
    if not len(graphs):
        raise no_graphs(data, select)
    return graphs


def read_sample(data: Path, select: str | None, unpack_limit: int | None, count: int | None) -> GraphSet:
    """:func:`read_graphs`, so many of them if a count is given; of a folder of parts memory holds these alone."""
    if count is None or not is_parts(data):
        return sample_of(read_graphs(data, select, unpack_limit), count)
    return GraphFolder(data, select=select, unpack_limit=unpack_limit).sample(count)


def claim_again(
    model: Path,
    data: Path,
    select: str | None,
    unpack_limit: int | None,
    time_limit: float,
    jobs: int,
    sample: int | None = 0,
) -> tuple[Machine, GraphSet]:
    """A model and the graphs that it may have been trained on, before work on its claim: so many of DATA, 0 for all,
    None for the sample that it was trained on, if it was."""
    svm = Machine.load(model).set_params(n_jobs=jobs)
    sample = svm.model_.data.sample if sample is None else sample
    graphs = read_sample(data, select, unpack_limit, sample or None)
    if graphs[0].node_dim != svm.n_features_in_:
        raise ValueError(
            f"{data}: {graphs[0].node_dim} node features, but the model was trained on {svm.n_features_in_}"
        )
    if not time_limit >= 0:
        raise ValueError(f"--time-limit {time_limit} must be a number of seconds >= 0")
    return svm, graphs


def graph_sets(data: Path, select: str | None, unpack_limit: int | None) -> Iterator[GraphSet]:
    """:func:`read_graphs`, of a folder of parts a part at a time; sets without graphs are left out."""
    _check_limit(unpack_limit)
    if not is_parts(data):
        yield read_graphs(data, select, unpack_limit)
        return
    parts = GraphFolder(data, select=select, unpack_limit=unpack_limit).parts()
    yield from (part for part in not_empty(parts, data, select) if len(part))


@contextmanager
def named_file(svm: Machine, data: Path, unpack_limit: int | None) -> Iterator[None]:
    """While graphs of DATA are read and labelled: one whose columns are not the model's is named by its file, too."""
    try:
        yield
    except (GraphError, GraphFileError):
        for file in graph_files(data):
            graphs = load_graph_file(file, unpack_limit)
            for i, graph in enumerate(graphs):
                try:
                    svm.pipeline_.with_raw_columns(graph)
                except GraphError as error:
                    where = place(i if len(graphs) > 1 else None, graph.name)
                    raise error.at(f"{file}: {where}") from None
        raise


def not_empty(sets: Iterable[GraphSet], data: Path, select: str | None) -> Iterator[GraphSet]:
    """The sets as they are; no graph in any of them is refused."""
    found = False
    for graphs in sets:
        found = found or len(graphs) > 0
        yield graphs
    if not found:
        raise no_graphs(data, select)


def _check_limit(unpack_limit: int | None) -> None:
    if unpack_limit is not None and unpack_limit < 1:
        raise ValueError(f"--unpack-limit {unpack_limit} must be a number of bytes")


def no_graphs(data: Path, select: str | None = None) -> ValueError:
    """Of a set in which none is, or none is selected."""
    what = f"no graph is selected by {select!r}" if select else "there are no graphs in it"
    return ValueError(f"{data}: {what}")

"""``gapcut inspect`` and ``gapcut check``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from rich.console import Console

from gapcut.certificates import at_most, outwards
from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE, NOT_CERTIFIED, to_the_end
from gapcut.cli.options import (
    DataPath,
    Jobs,
    Json,
    ModelPath,
    Sample,
    Select,
    UnpackLimit,
    claim_again,
    graph_sets,
    named_file,
    read_graphs,
)
from gapcut.cli.outputs import PICTURE, Force, check_outputs, write_result
from gapcut.cli.progress import progress
from gapcut.cli.show import (
    Cells,
    base_line,
    certificate_document,
    certificate_line,
    clique_count,
    emit,
    pairs_table,
    sample_line,
    show_choice,
)
from gapcut.data import CliqueSet, Graph, GraphSet
from gapcut.digits import percent
from gapcut.machine import ClaimCheck, Machine
from gapcut.metrics import score_graphs
from gapcut.report.model import draw_model
from gapcut.report.strongest import PairWeight, TupleWeight, strongest_pairs, strongest_tuples


def inspect(
    path: Annotated[Path, Parameter(name="FILE")],
    /,
    *,
    top: int = 20,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    figures: Path | None = None,
    data: Path | None = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Show what is in a model (certificate, strongest pairs, feature steps) or in a graph set (counts).

    :param path: Model file, or graph set (.npz or folder), of which a part at a time is read.
    :param top: How many of the strongest pairwise weights to show.
    :param figures: Folder to draw a model's pairwise weights (and confusion) to.
    :param data: Labelled graph set for the confusion matrix of --figures.
    """
    if data is not None and figures is None:
        raise ValueError("--data is for the confusion matrix: add --figures FOLDER")
    if _is_graph_set(path):
        if figures is not None:
            raise ValueError("--figures draws models: name a model file, and its graphs with --data")
        counts = _data_document(graph_sets(path, select, unpack_limit))
        emit(counts, as_json, lambda console: _show_data(console, counts))
        return DONE
    if select is not None and data is None:
        raise ValueError("--select applies to graph sets, not to models")
    if figures is not None:
        names = ["weights.png"] if data is None else ["weights.png", "confusion.png"]
        check_outputs({figures / n: PICTURE for n in names}, [path, data], force, folder=figures)
    svm = Machine.load(path)
    pairs = strongest_pairs(svm.pairwise_, svm.classes_, svm.pipeline_.edge_names, max(0, top))
    tuples = strongest_tuples(svm.cliques_, svm.pipeline_.clique_names, max(0, top))
    document = _model_document(svm, pairs, tuples)
    if figures is not None:
        with named_file(svm, data, unpack_limit) if data is not None else nullcontext():
            labelled = None if data is None else read_graphs(data, select, unpack_limit)
            document["figures"] = write_result(figures, lambda folder: _figures(svm, folder, labelled))
    emit(document, as_json, lambda console: _show_model(console, svm, pairs, tuples, document))
    return DONE


def _figures(svm: Machine, folder: Path, graphs: GraphSet | None) -> list[str]:
    """Heat maps of the pairwise weights, and with labelled graphs the confusion matrix; returns their paths."""
    scores = None if graphs is None else score_graphs(graphs, svm.predict(graphs), svm.classes_)
    if scores is not None and not scores.nodes > 0:
        raise ValueError("--data has no labelled node: there is no confusion matrix to draw")
    return [str(figure.content) for figure in draw_model(folder, svm, scores, convergence=False)]


def check(
    model: ModelPath,
    data: DataPath,
    /,
    *,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    sample: Sample = None,
    time_limit: float = 600.0,
    jobs: Jobs = -1,
    as_json: Json = False,
) -> int:
    """Compute both ends of a model's certificate again on its training data.

    The upper end comes from one exact oracle pass at the stored weights, the lower end from a new training run that
    does not see them. Exit code 0 if the claim holds, 1 if it is violated or was not reproduced in the time given.

    :param time_limit: Seconds to prove the lower end again.
    """
    svm, graphs = claim_again(model, data, select, unpack_limit, time_limit, jobs, sample)
    with to_the_end(), progress("proving the lower end again") as callback:
        found = svm.check(graphs, time_limit, callback)
    known = svm.model_.data
    document = _check_document(found) | {"sample": known.sample, "left_out": known.left_out}
    emit(document, as_json, lambda console: _show_check(console, found, sample_line(svm)))
    return DONE if found.verdict == "holds" else NOT_CERTIFIED


def _is_graph_set(path: Path) -> bool:
    """By content: a folder, or a zip archive such as .npz; a broken file by its name."""
    if path.is_dir():
        return True
    with open(path, "rb") as file:
        start = file.read(9)
    return start[:2] == b"PK" or (path.suffix == ".npz" and start[8:] != b"{")


def _data_document(sets: Iterable[GraphSet]) -> dict[str, Any]:
    """Counts of the graphs of several sets, which are read once."""
    labels: Counter[Any] = Counter()
    nodes: list[int] = []
    edges: list[int] = []
    groups: list[list[int]] = []
    sparse = weighted = False
    some: Graph | None = None
    arrays: dict[str, str] = {}
    for graphs in sets:
        arrays |= {name: str(values.dtype) for name, values in graphs.extras.items()}
        for graph in graphs:
            if graph.labels is not None:
                labels.update(graph.labels[graph.labelled].tolist())
            nodes.append(graph.n_nodes)
            edges.append(graph.n_edges)
            groups.append([len(group) for group in graph.cliques])
            sparse, weighted = sparse or graph.is_sparse, weighted or graph.node_weights is not None
            some = graph
    assert some is not None  # empty sets are refused where they are read
    return {
        "graphs": len(nodes),
        "nodes": _sizes(nodes),
        "edges": _sizes(edges),
        "node_features": some.node_dim,
        "edge_features": some.edge_dim,
        "cliques": [
            _group_document(group, list(counts))
            for group, counts in zip(some.cliques, zip(*groups, strict=True), strict=True)
        ],
        "sparse": sparse,
        "node_weights": weighted,
        "unlabelled_nodes": sum(nodes) - sum(labels.values()),
        "labels": [{"label": k, "nodes": labels[k]} for k in sorted(labels, key=lambda v: (str(type(v)), v))],
        "per_graph_arrays": arrays,
    }


def _group_document(group: CliqueSet, counts: list[int]) -> dict[str, Any]:
    return {
        "count": _sizes(counts),
        "nodes": group.order,
        "features": group.dim,
        "tuples": group.tuples
        if isinstance(group.tuples, str)
        else [list(labels) for labels in group.tuples],
    }


def _sizes(values: list[int]) -> dict[str, float]:
    return {
        "total": sum(values),
        "smallest": min(values),
        "median": float(np.median(values)),
        "largest": max(values),
    }


def _show_data(console: Console, counts: dict[str, Any]) -> None:
    rows = [[name, *counts[name].values()] for name in ("nodes", "edges")]
    rows += [[f"cliques of {c['nodes']} nodes", *c["count"].values()] for c in counts["cliques"]]
    console.print(Cells([counted(graph=counts["graphs"]), "total", "smallest", "median", "largest"], rows))
    total = sum(entry["nodes"] for entry in counts["labels"])
    rows = [[str(e["label"]), e["nodes"], percent(e["nodes"] / total)] for e in counts["labels"]]
    if counts["unlabelled_nodes"]:
        rows.append(["(unlabelled)", counts["unlabelled_nodes"], ""])
    console.print(Cells(["label", "nodes", "share"], rows))
    console.print(f"node features {counts['node_features']}, edge features {counts['edge_features']}")
    for g, group in enumerate(counts["cliques"]):
        chosen = group["tuples"] if isinstance(group["tuples"], str) else f"{len(group['tuples'])} of the"
        console.print(f"clique group {g}: {group['features']} features, {chosen} label tuples")
    for name, dtype in counts["per_graph_arrays"].items():
        console.print(f"per-graph array {name} ({dtype})")


def _model_document(svm: Machine, pairs: list[PairWeight], tuples: list[TupleWeight]) -> dict[str, Any]:
    model = svm.model_
    params = {
        name: value
        for name, value in svm.get_params(deep=False).items()
        if name not in ("frozen", "nonnegative")
    }
    return {
        "classes": model.coder.classes.tolist(),
        "certificate": certificate_document(model.certificate),
        "message": model.message,
        "trained_on": {"graphs": model.data.graphs, "nodes": model.data.nodes, "edges": model.data.edges}
        | {"cliques": model.data.cliques, "sample": model.data.sample, "left_out": model.data.left_out},
        "weights": {
            "unary": model.unary.size,
            "pairwise": model.pairwise.size,
            "pairwise_zero": int(model.pairwise.size - np.count_nonzero(model.pairwise)),
            "clique": sum(group.weights.size for group in model.cliques),
            "clique_zero": sum(int((group.weights == 0.0).sum()) for group in model.cliques),
        },
        "base": base_line(model.base),
        "C": svm.C_,
        "choice": None if model.choice is None else model.choice.to_state(),
        "node_features": list(model.node_names),
        "edge_features": list(model.pipeline.edge_names),
        "cliques": [
            {"nodes": group.order, "tuples": len(group.tuples), "features": list(names)}
            for group, names in zip(model.cliques, model.pipeline.clique_names, strict=True)
        ],
        "raw_node_features": model.n_features,
        "strongest_pairs": [asdict(p) for p in pairs],
        "strongest_tuples": [asdict(t) for t in tuples],
        "params": params,
    }


def _show_model(
    console: Console,
    svm: Machine,
    pairs: list[PairWeight],
    tuples: list[TupleWeight],
    document: dict[str, Any],
) -> None:
    weights, data, certificate = document["weights"], document["trained_on"], svm.certificate_
    console.print(f"certificate   {certificate_line(certificate)}")
    console.print(
        f"              rounding {at_most(certificate.rounding, 2)}, {certificate.oracle_calls:,} oracle calls in "
        f"{counted(**{'pass': certificate.passes})}; {document['message']}"
    )
    if sampled := sample_line(svm):
        console.print(f"              {sampled}")
    if certificate.iteration_bound is not None:
        console.print(
            f"              at most {counted(iteration=certificate.iteration_bound)} by Theorem B.4"
        )
    console.print(
        f"trained on    {counted(graph=data['graphs'], node=data['nodes'], edge=data['edges'])}, "
        f"{clique_count(data['cliques'])}C={svm.C_:g}"
    )
    if document["base"]:
        console.print(f"base          {document['base']}")
    show_choice(console, svm.choice_)
    console.print(f"labels        {', '.join(str(c) for c in document['classes'])}")
    console.print(
        f"features      {document['raw_node_features']} raw node columns become "
        f"{len(document['node_features'])}; {len(document['edge_features'])} edge columns"
    )
    console.print(
        f"feature steps incidence={svm.incidence}, standardize={svm.standardize}, intercept={svm.intercept}, "
        f"edge_lift={svm.edge_lift}"
    )
    console.print(
        f"weights       {weights['unary']:,} unary; {weights['pairwise_zero']:,} of "
        f"{weights['pairwise']:,} pairwise are "
        f"exactly zero ({percent(weights['pairwise_zero'] / max(1, weights['pairwise']))})"
    )
    for g, group in enumerate(document["cliques"]):
        console.print(
            f"clique group {g}: {group['nodes']} nodes, {group['tuples']:,} label tuples, "
            f"{len(group['features'])} feature columns"
        )
    if document["cliques"]:
        console.print(
            f"              {weights['clique_zero']:,} of {weights['clique']:,} weights of cliques are exactly zero"
        )
    if pairs:
        console.print(pairs_table(pairs))
    if tuples:
        rows = [[t.group, " - ".join(map(str, t.labels)), t.feature, f"{t.weight:.4g}"] for t in tuples]
        console.print(Cells(["clique group", "labels", "feature", "weight"], rows, keys=3))
    for drawn in document.get("figures", ()):
        console.print(f"figure        {drawn}")


def _check_document(found: ClaimCheck) -> dict[str, Any]:
    claimed = found.claimed
    return {
        "verdict": found.verdict,
        "reason": found.reason,
        "claimed": certificate_document(claimed),
        "recomputed": {"lower": found.lower, "upper": found.upper, "best_upper": found.best_upper},
        "same_data": found.same_data,
        "seconds": found.seconds,
    }


def _show_check(console: Console, found: ClaimCheck, sampled: str | None) -> None:
    """An end that nothing has computed, as on other data, is a dash."""
    claimed = zip(("lower end", "upper end"), found.claimed.shown(9), strict=True)
    again = zip((found.lower, found.upper), outwards(found.lower, found.upper, 9), strict=True)
    ways = ("a new training run", "an exact pass at the stored weights")
    rows = [
        [*end, shown, way] if math.isfinite(value) else [*end, "-", "-"]
        for end, (value, shown), way in zip(claimed, again, ways, strict=True)
    ]
    console.print(Cells(["", "claimed", "recomputed", "by"], rows))
    console.print(
        f"the claim {'is ' if found.verdict != 'holds' else ''}{found.verdict}: {found.reason} "
        f"({found.seconds:.1f} s)"
    )
    if sampled:
        console.print(sampled)

"""The result as tables for people and as a document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapcut.certificates import gap_percent
from gapcut.digits import decimal, percent
from gapcut.machine import Machine
from gapcut.metrics import Scores, pooled_scores
from gapcut.scenes.bridges import CLASSES, TYPES
from gapcut.scenes.experiment.folds import FoldResult
from gapcut.scenes.experiment.per_bridge import BRIDGE_COLUMNS, METHOD_COLUMNS, bridge_rows, method_rows
from gapcut.scenes.experiment.scans import BridgeScan
from gapcut.typing import FloatArray

Row = list[str]

COLUMNS = (
    *("fold", "nodes right", "points right", "macro precision", "macro recall", "node-only"),
    *("forest only", "proven gap", "graphs proven", "train s", "train CPU s", "test s"),
)
PAPER = ("paper (other data)", 0.9007, *[None] * 7, 4680.0, None, 89.0)
"""Li and Huber 2017: their 25 bridges were never published, so 90.07 %, 1.3 h and 89 s stand beside, not above."""

CLASS_COLUMNS = ("class", "precision", "recall", "parts", "recall, node-only", "most often taken for")
_ON_TOP_OF = "rests on"
_ROUNDING = 1e-12
"""Of the largest weight: what a mean of those that cancel may be off by."""
ON_TOP_COLUMNS = ("upper part, lower part", *CLASSES)
CLAIM_COLUMNS = ("the paper says", "weight here", "mean (least to largest)", "so here")
TYPE_COLUMNS = (
    *("type", "bridges", "parts", "parts seen", "edges", "edges a part"),
    *("points", "fewest", "most", "mean voxel"),
)


def rows(results: Sequence[FoldResult]) -> list[list[object]]:
    """One row a fold, then their mean where there are several, then the paper's."""
    values = [
        [
            *(r.nodes.accuracy, r.points.accuracy, r.nodes.macro_precision, r.nodes.macro_recall),
            *(r.node_only.accuracy, r.forest_only.accuracy, r.certificate.relative_gap),
            sum(s.status == "optimal" for s in r.solutions) / len(r.solutions),
            *(r.train_seconds, r.train_cpu_seconds, r.test_seconds),
        ]
        for r in results
    ]
    mean: list[object] = ["mean", *np.mean(values, axis=0).tolist()]
    folds = [[str(i + 1), *v] for i, v in enumerate(values)]
    return [*folds, *([mean] if len(folds) > 1 else []), list(PAPER)]


def shown_rows(results: Sequence[FoldResult]) -> list[Row]:
    """The same as text."""
    return [[str(row[0]), *(_cell(i, value) for i, value in enumerate(row[1:], 1))] for row in rows(results)]


def all_scores(results: Sequence[FoldResult], which: str = "nodes") -> Scores:
    """Scores over the test bridges of all folds; ``which``: nodes, points, node_only or forest_only."""
    return pooled_scores([getattr(r, which) for r in results])


def class_rows(results: Sequence[FoldResult]) -> list[Row]:
    """One row a class, over all folds."""
    scores, alone = all_scores(results), all_scores(results, "node_only")
    labels, out = scores.labels, []
    for k, (mine, other) in enumerate(zip(scores.classes, alone.classes, strict=True)):
        wrong = scores.confusion[k].copy()
        wrong[k] = 0
        worst = f"{labels[wrong.argmax()]} ({wrong.max():.0f})" if wrong.any() else "-"
        shown = (
            percent(mine.precision),
            percent(mine.recall),
            f"{mine.support:.0f}",
            percent(other.recall),
        )
        out.append([str(labels[k]), *shown, worst])
    return out


def on_top_weights(model: Machine) -> FloatArray:
    """(11, 11) weights of *on top of* between parts, upper class first; zeros for classes that the model does not
    know."""
    out = np.zeros((len(CLASSES), len(CLASSES)))
    place = {str(name): k for k, name in enumerate(model.classes_)}
    known = [k for k, name in enumerate(CLASSES) if name in place]
    rows = [place[CLASSES[k]] for k in known]
    names = list(model.pipeline_.edge_names)
    if _ON_TOP_OF in names:
        out[np.ix_(known, known)] = model.pairwise_[np.ix_(rows, rows)][:, :, names.index(_ON_TOP_OF)]
    return out


def on_top_rows(weights: FloatArray) -> list[Row]:
    """The whole matrix: one row an upper class, mean over folds with the least and the largest.

    ``weights`` (folds, 11, 11) of :func:`on_top_weights`.
    """
    return [
        [name, *(_spread(weights[:, k, m]) for m in range(len(CLASSES)))] for k, name in enumerate(CLASSES)
    ]


def claim_rows(weights: FloatArray) -> list[Row]:
    """What the paper says about *on top of*, cell by cell; same ``weights``."""
    return [[says, where, _spread(found), _verdict(found)] for says, where, found in _claims(weights)]


def _claims(weights: FloatArray) -> list[tuple[str, str, FloatArray]]:
    """What is said, the cell or difference of cells that it is about, and what that is in each fold."""

    def cell(upper: str, lower: str) -> FloatArray:
        return np.asarray(weights[:, CLASSES.index(upper), CLASSES.index(lower)])

    single = [
        ("an abutment is beneath the deck", "deck", "abutment"),
        ("an attached beam is beneath the deck", "deck", "girder"),
        ("an attached beam is on top of connections", "girder", "bearing"),
    ]
    compared = [
        ("a connecting beam is not beneath the deck", ("deck", "girder"), ("deck", "cross beam")),
        ("a connecting beam is not on top of connections", ("girder", "bearing"), ("cross beam", "bearing")),
    ]
    out = [(says, f"{upper} on {lower}", cell(upper, lower)) for says, upper, lower in single]
    for says, more, less in compared:
        where = f"{more[0]} on {more[1]} minus {less[0]} on {less[1]}"
        out.append((says, where, cell(*more) - cell(*less)))
    return out


def _verdict(found: FloatArray) -> str:
    positive = int((found > 0).sum())
    return f"yes, in {positive} of {len(found)}" if positive else "no: not learned in any fold"


def _spread(values: FloatArray) -> str:
    """Mean, least and largest; a bare 0 where all are."""
    if not values.any():
        return "0"
    mean, largest = float(values.mean()), float(np.abs(values).max())
    if abs(mean) < _ROUNDING * largest:
        mean = 0.0
    shown = [decimal(value, 3) for value in (mean, float(values.min()), float(values.max()))]
    return shown[0] if len(values) == 1 else f"{shown[0]} ({shown[1]} to {shown[2]})"


def type_rows(bridges: Sequence[BridgeScan]) -> list[Row]:
    """Mean sizes of the bridges of each type, then of all; edges are those of surroundings too."""
    out = []
    for name in (*TYPES, "all"):
        some = [b for b in bridges if name == "all" or b.name.rsplit("-", 1)[0] == name]
        if some:
            nodes = float(np.mean([b.scan.n_segments for b in some]))
            seen = float(np.mean([(b.labels < len(CLASSES)).sum() for b in some]))
            parts = seen + float(np.mean([b.unseen for b in some]))
            edges = float(np.mean([len(b.scan.contacts.edges) for b in some]))
            points, voxel = [len(b.scan.xyz) for b in some], 100 * np.mean([b.voxel for b in some])
            size = (f"{np.mean(points):,.0f}", f"{min(points):,}", f"{max(points):,}")
            shown = (f"{parts:.0f}", f"{seen:.0f}", f"{edges:,.0f}", f"{edges / nodes:.1f}", *size)
            out.append([name, str(len(some)), *shown, f"{voxel:.1f} cm"])
    return out


def nodes_word(labels: Sequence[object]) -> str:
    """What nodes of these labels are called."""
    return "parts" if set(labels) <= set(CLASSES) else "parts and surroundings"


def headline(results: Sequence[FoldResult]) -> str:
    """The result in a sentence."""
    accuracy, alone = all_scores(results).accuracy, all_scores(results, "node_only").accuracy
    gap = max(r.certificate.relative_gap for r in results)
    bridges = sum(len(r.test) for r in results)
    which = "a test bridge" if bridges == 1 else f"{bridges} test bridges"
    what = nodes_word(results[0].nodes.labels)
    return (
        f"{percent(accuracy, 1)} of the {what} of {which} are labelled right, {percent(alone, 1)} by the same learner "
        f"without relations between them. Training is proven to be within {gap_percent(gap)} of its optimum"
        f"{' in every fold' if len(results) > 1 else ''}."
    )


def markdown_table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return (
        "\n".join("| " + " | ".join(line) + " |" for line in (columns, ["---"] * len(columns), *lines)) + "\n"
    )


def report_tables(
    bridges: Sequence[BridgeScan], results: Sequence[FoldResult]
) -> dict[str, tuple[Sequence[str], list[Row]]]:
    """Title -> columns and rows of all tables."""
    scores = all_scores(results)
    labels = [str(label) for label in scores.labels]
    weights = np.array([on_top_weights(r.model) for r in results])
    confusion = [
        [name, *(f"{n:.0f}" for n in line)] for name, line in zip(labels, scores.confusion, strict=True)
    ]
    return {
        "Folds": (COLUMNS, shown_rows(results)),
        "Parts, by what labels them": (METHOD_COLUMNS, method_rows(bridges, results)),
        "Classes, all folds": (CLASS_COLUMNS, class_rows(results)),
        f"{nodes_word(labels).capitalize()} by true class (rows) and predicted class": (
            ("", *labels),
            confusion,
        ),
        "Weights of on top of, mean of the folds (least to largest)": (ON_TOP_COLUMNS, on_top_rows(weights)),
        "What the paper says of on top of": (CLAIM_COLUMNS, claim_rows(weights)),
        "Bridges": (TYPE_COLUMNS, type_rows(bridges)),
        "Each bridge, by the model that has not seen it": (BRIDGE_COLUMNS, bridge_rows(bridges, results)),
    }


def markdown_report(bridges: Sequence[BridgeScan], results: Sequence[FoldResult]) -> str:
    """All tables in Markdown."""
    tables = report_tables(bridges, results)
    text = "".join(f"\n## {title}\n\n{markdown_table(*table)}" for title, table in tables.items())
    return f"# Bridges\n\n{headline(results)}\n{text}"


def result_document(bridges: Sequence[BridgeScan], results: Sequence[FoldResult]) -> dict[str, Any]:
    """Everything of the tables, for programs."""
    return {
        "columns": list(COLUMNS),
        "rows": rows(results),
        "parts_unseen": {b.name: b.unseen for b in bridges},
        "sizes": {
            b.name: {
                "parts": b.scan.n_segments,
                "edges": len(b.scan.contacts.edges),
                "points": len(b.scan.xyz),
                "measured": b.measured,
            }
            for b in bridges
        },
        "folds": [
            {
                "train": r.train,
                "test": r.test,
                "train_nodes": sum(g.n_nodes for g in r.graphs.training),
                "train_edges": sum(g.n_edges for g in r.graphs.training),
                "labels": list(r.nodes.labels),
                "confusion": r.nodes.confusion.tolist(),
                "lower": r.certificate.lower,
                "upper": r.certificate.upper,
                "status": r.certificate.status,
                "largest_test_gap": max(s.gap for s in r.solutions),
                "forest_seconds": r.graphs.seconds,
                "test_cpu_seconds": r.test_cpu_seconds,
                "on_top_of": on_top_weights(r.model).tolist(),
            }
            for r in results
        ],
    }


def _cell(column: int, value: object) -> str:
    if not isinstance(value, float):
        return "-"
    if COLUMNS[column].endswith(" s"):
        return f"{value:.2f}"
    return gap_percent(value) if COLUMNS[column] == "proven gap" else percent(value)

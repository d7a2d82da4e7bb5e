"""What commands print: one JSON document for programs, or tables for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from gapcut.certificates import Certificate, at_least
from gapcut.cli.counts import counted
from gapcut.digits import number, percent
from gapcut.files import json_text
from gapcut.machine import Choice, Machine
from gapcut.metrics import Scores
from gapcut.report.strongest import PairWeight
from gapcut.stacking import Base


def emit(document: dict[str, Any], as_json: bool, render: Callable[[Console], object]) -> None:
    """Print ``document`` as JSON and nothing else, or what ``render`` draws."""
    if as_json:
        print(json_text(document))
    else:
        render(console())


def clique_count(cliques: int) -> str:
    """For a list of counts: nothing where there are none."""
    return f"{counted(clique=cliques)}, " if cliques else ""


NARROWEST = 20
"""Columns that a table can do with; a $COLUMNS below counts as none."""


def console() -> Console:
    """Standard output; a pipe or a file is as wide as $COLUMNS, or 80."""
    asked = os.environ.get("COLUMNS", "")
    wide = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 5 else 0
    width = None if sys.stdout.isatty() else wide if wide >= NARROWEST else 80
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=width, soft_wrap=True)


@dataclass(frozen=True)
class Cells:
    """A table for :class:`rich.console.Console`. One that is too wide comes in blocks, each with the first ``keys``
    columns, which name the rows; a block of one more column that is still too wide folds its cells.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str | None = None
    keys: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        named, count = list(range(self.keys)), len(self.columns)
        end, title = self.keys, self.title
        while end < count:
            shown = [*named, end]
            while (end := end + 1) < count and self._fits([*shown, end], console, options):
                shown.append(end)
            yield self._drawn(shown, title)
            title = None

    def _fits(self, shown: Sequence[int], console: Console, options: ConsoleOptions) -> bool:
        wanted = Measurement.get(console, options.update(max_width=10_000), self._drawn(shown, None))
        return wanted.maximum <= options.max_width

    def _drawn(self, shown: Sequence[int], title: str | None) -> Table:
        """First column to the left, numbers to the right; cells are taken literally."""
        drawn = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
        for i in shown:
            drawn.add_column(self.columns[i], justify="left" if i == 0 else "right", overflow="fold")
        for row in self.rows:
            cells = (row[i] for i in shown)
            drawn.add_row(*(Text(number(c) if type(c) in (int, float) else str(c)) for c in cells))
        return drawn


def certificate_line(certificate: Certificate) -> str:
    """The certificate in one line."""
    lower, upper = certificate.shown(6)
    ends = f"{lower} <= optimum <= model <= {upper}"
    gap = certificate.shown_gap()
    line = f"{certificate.problem}: {ends}, relative gap {gap}, {certificate.status}"
    claim = certificate.one_hot
    if claim is None:
        return line
    beside = f"one-hot: {at_least(claim.lower, 6)} <= optimum, gap {claim.shown_gap()}, {claim.status}"
    return f"{line}; {beside}, tight on {claim.tight_graphs:,} of {counted(graph=claim.graphs)}"


def sample_line(svm: Machine) -> str | None:
    """What the certificate of a model of a sample is about, in one line; None where nothing was left out."""
    data = svm.model_.data
    if not data.left_out:
        return None
    others = f"{data.left_out:,} other graphs were left out"
    return f"the certificate is about a random sample of {counted(graph=data.sample)} alone: {others}"


def base_line(base: Base | None) -> str | None:
    """What a model's base is and means for its certificate, in one line."""
    if base is None:
        return None
    return f"{base.description}; the certificate holds for the problem with its held-out columns"


def show_choice(console: Console, choice: Choice | None) -> None:
    """What a fit chose by its folds, and why."""
    if choice is None:
        return
    console.print(f"chosen        {choice.reason}")
    count = max((len(t.scores) for t in choice.trials), default=0)
    rows = [
        [
            f"{t.C:g}",
            "context" if t.context else "yes" if t.base else "no",
            t.oracle,
            percent(float(np.mean(t.scores))) if len(t.scores) == count else "-",
            *map(percent, t.scores),
        ]
        + ["-"] * (count - len(t.scores))
        for t in choice.trials
    ]
    if rows:
        folds = [f"fold {i + 1}" for i in range(count)]
        console.print(
            Cells(["C", "base", "oracle", "mean", *folds], rows, "Accuracy on held-out folds", keys=3)
        )


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """The certificate for programs."""
    document = {**asdict(certificate), "gap": certificate.gap, "relative_gap": certificate.relative_gap}
    if certificate.one_hot is None:
        del document["one_hot"]
    return document


def scores_document(scores: Scores) -> dict[str, Any]:
    """Scores for programs."""
    return {
        "accuracy": scores.accuracy,
        "macro_precision": scores.macro_precision,
        "macro_recall": scores.macro_recall,
        "macro_f1": scores.macro_f1,
        "never_predicted": list(scores.never_predicted),
        "node_weight": scores.nodes,
        "classes": [asdict(c) for c in scores.classes],
        "confusion": scores.confusion,
    }


def scores_table(scores: Scores) -> Cells:
    """Precision, recall and F1 of every class."""
    rows = [
        [str(c.label), percent(c.precision), percent(c.recall), percent(c.f1), c.support]
        for c in scores.classes
    ]
    means = (scores.macro_precision, scores.macro_recall, scores.macro_f1)
    rows.append(["mean over classes", *(percent(m) for m in means), scores.nodes])
    counted = "node weight" if scores.weighted else "nodes"
    return Cells(["label", "precision", "recall", "F1", counted], rows)


def pairs_table(pairs: Sequence[PairWeight]) -> Cells:
    """Pairwise weights, one per row."""
    rows = [[str(p.tail), str(p.head), p.feature, f"{p.weight:.4g}"] for p in pairs]
    return Cells(
        ["tail label", "head label", "edge feature", "weight"], rows, "Strongest pairwise weights", keys=3
    )

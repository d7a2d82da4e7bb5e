"""Terms over three parts of the bridges beside pairs alone: Li and Huber (2017), section 3.3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapcut.comparison.bridges import AS_GIVEN, Variant
from gapcut.comparison.contenders import Contender
from gapcut.comparison.document import comparison_document
from gapcut.comparison.folds import Comparison
from gapcut.comparison.markdown import rows_table
from gapcut.digits import decimal
from gapcut.machine import Machine
from gapcut.scenes.experiment import FoldGraphs
from gapcut.scenes.experiment.tables import markdown_table
from gapcut.scenes.experiment.triples import TRIPLES
from gapcut.typing import FloatArray

SAID = ("abutment", "column", "abutment")
"""The paper's example."""

_COLUMNS = ("first - middle - last", "mean weight", "least", "largest")
_SHOWN = 8


def triple_variants() -> list[Variant]:
    """By one learner; the first row has all terms."""
    plans: list[tuple[str, bool, tuple[str, ...]]] = [
        ("paper's, pairs, chains and supports", True, TRIPLES),
        ("paper's, pairs and chains", True, TRIPLES[:1]),
        ("paper's, pairs and supports", True, TRIPLES[1:]),
        ("paper's, pairs alone", True, ()),
        ("ours, pairs, chains and supports", False, TRIPLES),
        ("ours, pairs alone", False, ()),
    ]
    return [
        Variant(Contender("block", "cut", note=note), paper, triples=kinds, options=AS_GIVEN if paper else {})
        for note, paper, kinds in plans
    ]


def triples_markdown(found: Comparison) -> str:
    """The rows, and which label tuples the models of the first one reward most, beside the paper's example."""
    text = f"# Terms over three parts of bridges\n\n{rows_table(found)}\n"
    for g, kind in enumerate(TRIPLES if found.models else ()):
        lines = [
            [" - ".join(labels), *(decimal(value, 4) for value in (w.mean(), w.min(), w.max()))]
            for labels, w in _heaviest(found.models, g)
        ]
        text += (
            f"\n## Weights of {kind}\n\n{markdown_table((f'{kind}: {_COLUMNS[0]}', *_COLUMNS[1:]), lines)}"
        )
    return text


def triples_document(found: Comparison, folds: Sequence[FoldGraphs]) -> dict[str, Any]:
    """The same for programs; ``triples``: of each kind label tuples and their weight in each fold."""
    graphs = sum(len(fold.tests) for fold in folds)
    weights = {
        kind: [[*labels, w.tolist()] for labels, w in _heaviest(found.models, g)]
        for g, kind in enumerate(TRIPLES if found.models else ())
    }
    return {**comparison_document(found, [], graphs, len(folds)), "triples": weights}


def _heaviest(models: Sequence[Machine], group: int) -> list[tuple[tuple[str, ...], FloatArray]]:
    """Label tuples and their weights in each model: those of the largest mean, and the paper's example."""
    tuples = [tuple(map(str, t)) for t in models[0].cliques_[group][0]]
    weights = np.array([model.cliques_[group][1][:, 0] for model in models])
    order = np.argsort(-weights.mean(axis=0), kind="stable")[:_SHOWN].tolist()
    if SAID in tuples and tuples.index(SAID) not in order:
        order.append(tuples.index(SAID))
    return [(tuples[t], weights[:, t]) for t in order]

"""``gapcut compare``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from gapcut.cli.exits import DONE
from gapcut.cli.options import DataPath, Json, LearningOptions, Select, UnpackLimit, read_graphs
from gapcut.cli.outputs import PICTURE, Force, check_outputs, write_result
from gapcut.cli.show import emit
from gapcut.cli.training import fit_to_the_end
from gapcut.cli.validation import FoldArray, Folds, test_folds
from gapcut.comparison import (
    Contender,
    compare_methods,
    comparison_document,
    comparison_markdown,
    default_contenders,
    parse_contenders,
)
from gapcut.comparison import compare as run_comparison
from gapcut.data import GraphSet
from gapcut.inference import MethodName
from gapcut.machine import Machine
from gapcut.parameters import Parameters, accepted
from gapcut.report.comparison import comparison_figure
from gapcut.report.figures import save_figure

_DEFAULTS = LearningOptions()
_PAIR = ("learner", "oracle", "nonnegative")


def compare(
    data: DataPath,
    /,
    *,
    pairs: str | None = None,
    folds: Folds = 4,
    fold_array: FoldArray = None,
    inference: str | None = None,
    figure: Path | None = None,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    options: LearningOptions = _DEFAULTS,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Cross-validate pairs of a learner and an oracle on the same folds, as Markdown.

    --time-limit holds for each fit. A pair that is refused or fails is a row with the reason.

    :param pairs: learner/oracle[/signed or /nonnegative], separated by commas; default: the paper's comparison.
    :param inference: Methods such as trws,ilp to label held-out graphs with, by the first pair's models.
    :param figure: PNG to draw the comparison to.
    """
    _check_options(options)
    if figure is not None:
        check_outputs({figure: PICTURE}, [data], force)
    methods = _methods(inference)
    graphs = read_graphs(data, select, unpack_limit)
    parts = test_folds(graphs, folds, fold_array, options.random_state)
    contenders = default_contenders(graphs) if pairs is None else parse_contenders(pairs)
    found = run_comparison(graphs, parts, contenders, _fitter(options))
    labelled = (
        compare_methods(graphs, parts, found.models, methods, options.time_limit) if found.models else []
    )
    if figure is not None:
        drawn = comparison_figure(found)
        write_result(figure, lambda path: save_figure(drawn, path))
    document = comparison_document(found, labelled, len(graphs), len(parts))
    emit(document, as_json, lambda console: print(comparison_markdown(found, labelled)))
    return DONE


def _check_options(options: LearningOptions) -> None:
    for name in _PAIR:
        if getattr(options, name) != getattr(_DEFAULTS, name):
            raise ValueError(f"--{name} is part of a pair here: use --pairs, as in --pairs block/trws/signed")


def _methods(text: str | None) -> list[MethodName]:
    given = [] if text is None else text.split(",")
    return [accepted(Parameters, "inference", part.strip()) for part in given]


def _fitter(options: LearningOptions) -> Any:
    def fit(contender: Contender, graphs: GraphSet, task: str) -> Machine:
        pair = {name: getattr(contender, name) for name in _PAIR}
        return fit_to_the_end(graphs, replace(options, **pair), task)

    return fit

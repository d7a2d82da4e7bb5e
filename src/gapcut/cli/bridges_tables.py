"""Tables of ``gapcut bridges reproduce`` in place of its report: ``--paper``, ``--triples`` and ``--grown``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapcut.cli.exits import DONE
from gapcut.cli.outputs import write_result
from gapcut.cli.progress import working
from gapcut.cli.show import emit
from gapcut.files import json_text, write_text

if TYPE_CHECKING:
    from gapcut.scenes.experiment import BridgeScan, ExperimentSettings

Say = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """What a table is made of: ``settings``; the folder ``cache``; ``limit``: CPU seconds a fit."""

    settings: ExperimentSettings
    cache: Path
    limit: float


def described(settings: ExperimentSettings, cache: Path, say: Say) -> list[BridgeScan]:
    """The bridges of an experiment, scanned and described."""
    from gapcut.scenes.experiment import describe_bridges

    def progress(done: int, of: int) -> None:
        say(f"scanned and described {done} of {of} bridges")

    training = settings.training
    return describe_bridges(settings, training.seed, cache, training.n_jobs or 1, progress)


def table_files(name: str) -> tuple[str, str]:
    """What a table is written to."""
    return f"{name}.md", f"{name}.json"


def write_table(name: str, folder: Path, asked: Asked, as_json: bool) -> int:
    """Make the table of that name, one of ``TABLES``, write it in both forms, and show it."""
    with working("scanning bridges ...") as status:
        text, document = TABLES[name](asked, status)
    files = table_files(name)
    document["seed"] = asked.settings.training.seed

    def write(place: Path) -> tuple[dict[str, Any], list[str]]:
        place.mkdir(parents=True, exist_ok=True)
        write_text(place / files[0], text)
        write_text(place / files[1], json_text(document))
        return document, [str(place / file) for file in files]

    document, written = write_result(folder, write)
    emit({**document, "files": written}, as_json, lambda console: print(text))
    return DONE


def _paper(asked: Asked, say: Say) -> tuple[str, dict[str, Any]]:
    """The paper's features, its competitors, and what each of ours adds."""
    from gapcut.comparison.bridges import (
        bridge_variants,
        bridges_document,
        bridges_markdown,
        compare_on_bridges,
    )
    from gapcut.scenes.experiment import fold_graphs

    folds = fold_graphs(described(asked.settings, asked.cache, say), asked.settings, asked.cache, say)
    found = compare_on_bridges(folds, bridge_variants(), asked.settings, asked.limit, say)
    return bridges_markdown(found), bridges_document(found, folds)


def _triples(asked: Asked, say: Say) -> tuple[str, dict[str, Any]]:
    """Terms over three parts beside pairs alone."""
    from gapcut.comparison.bridge_triples import triple_variants, triples_document, triples_markdown
    from gapcut.comparison.bridges import compare_on_bridges
    from gapcut.scenes.experiment import fold_graphs
    from gapcut.scenes.experiment.triples import with_triples

    bridges = described(asked.settings, asked.cache, say)
    folds = with_triples(fold_graphs(bridges, asked.settings, asked.cache, say), bridges)
    found = compare_on_bridges(folds, triple_variants(), asked.settings, asked.limit, say)
    return triples_markdown(found), triples_document(found, folds)


def _grown(asked: Asked, say: Say) -> tuple[str, dict[str, Any]]:
    """Segments grown from the points beside true parts."""
    from gapcut.comparison import cpu_limit
    from gapcut.scenes.experiment import run_experiment
    from gapcut.scenes.experiment.grown import SEGMENT_COLUMNS, segment_row, with_grown
    from gapcut.scenes.experiment.tables import markdown_table

    rows = []
    for name, settings in (("true parts", asked.settings), ("grown", with_grown(asked.settings))):
        bridges = described(settings, asked.cache, say)
        results = run_experiment(bridges, settings, asked.cache, say, lambda: cpu_limit(asked.limit))
        rows.append(segment_row(name, bridges, results))
    text = f"# Segments grown from the points\n\n{markdown_table(SEGMENT_COLUMNS, rows)}"
    return text, {"columns": list(SEGMENT_COLUMNS), "rows": rows}


TABLES: dict[str, Callable[[Asked, Say], tuple[str, dict[str, Any]]]] = {
    "paper": _paper,
    "triples": _triples,
    "grown": _grown,
}

"""``gapcut bridges reproduce --paper``: the paper's features, its competitors, and what each of ours adds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapcut.cli.exits import DONE
from gapcut.cli.outputs import write_result
from gapcut.cli.show import emit, working
from gapcut.files import json_text, write_text

if TYPE_CHECKING:
    from gapcut.scenes.experiment import ExperimentSettings

PAPER_FILES = ("paper.md", "paper.json")


def compare_as_in_paper(
    folder: Path,
    settings: ExperimentSettings,
    seed: int,
    cache: Path | None,
    workers: int,
    limit: float,
    as_json: bool,
) -> int:
    """All rows on the folds of the experiment, each fit within ``limit`` CPU seconds; written and shown."""
    from gapcut.comparison.bridges import (
        bridge_variants,
        bridges_document,
        bridges_markdown,
        compare_on_bridges,
    )
    from gapcut.scenes.experiment import describe_bridges, fold_graphs

    kept = cache or folder / "cache"
    settings = replace(settings, training=replace(settings.training, seed=seed, n_jobs=workers))
    with working("scanning bridges ...") as status:
        bridges = describe_bridges(
            settings, seed, kept, workers, lambda done, of: status(f"scanned {done} of {of} bridges")
        )
        folds = fold_graphs(bridges, settings, kept, status)
        found = compare_on_bridges(folds, bridge_variants(), settings, limit, status)
    text, document = bridges_markdown(found), {**bridges_document(found, folds), "seed": seed}

    def write(place: Path) -> tuple[dict[str, Any], list[str]]:
        place.mkdir(parents=True, exist_ok=True)
        write_text(place / PAPER_FILES[0], text)
        write_text(place / PAPER_FILES[1], json_text(document))
        return document, [str(place / name) for name in PAPER_FILES]

    document, files = write_result(folder, write)
    emit({**document, "files": files}, as_json, lambda console: print(text))
    return DONE

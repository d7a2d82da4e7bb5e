"""Learners and oracles on the data sets of the paper's argument: accuracy, time, and what is proven of each.

    python benchmarks/compare.py --data all --out comparison

Every pair of a learner and an oracle trains on the same folds with the same features. A fit ends at a certified gap of
1 %, or with the pass in which it reaches the CPU seconds of its data set (``--scale`` multiplies them), or, inside a
pass, after thirty times as many seconds of wall clock (six with linear and integer programs, which may hang there).
C is fixed, or with ``--search`` the most accurate of four powers of ten on three folds of the training graphs, for
every row and fold, each fit of the search within a quarter of those limits; ``CPU s`` then includes the search. The
output folder gets ``comparison.md`` and ``comparison.json`` with everything, and two PNG a data set (accuracy and time;
confusion of the first row); they are renewed after each data set. One thread; start a few of them at once only on a
machine with as many idle cores.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from studies import NAMES, Study, load_study, random_folds

import gapcut
from gapcut import GraphSet
from gapcut.comparison import (
    Comparison,
    Contender,
    MethodRow,
    Row,
    compare,
    compare_methods,
    comparison_document,
    cpu_clock,
    cpu_limit,
    methods_table,
    rows_table,
)
from gapcut.engines import describe_machine
from gapcut.machine import Machine
from gapcut.metrics import confusion_scores
from gapcut.oracles.kinds import KINDS
from gapcut.report.comparison import comparison_figure
from gapcut.report.figures import confusion_figure, save_figure

GAP = 0.01
WALL, PROGRAM_WALL = 30.0, 6.0
"""Wall-clock limit of a fit as a multiple of its CPU limit, and that of linear and integer programs: only what hangs
inside one pass should meet it, on a busy machine too."""
SEARCHED, INNER, SHARE = (0.1, 1.0, 10.0, 100.0), 3, 0.25
"""Values of C that a search tries, folds of the training graphs that it tries them on, and the share of a fit's limits
that each of these fits has."""
GRAPH_LIMIT = 5.0
"""Seconds per graph at test time."""


def main() -> None:
    options = _options()
    print(describe_machine(), file=sys.stderr)
    names = NAMES if options.data == "all" else tuple(options.data.split(","))
    for name in names:
        if name not in NAMES:
            sys.exit(f"--data: {name!r} is none of {', '.join(NAMES)}, all")
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    sections, documents = [], {}
    for name in names:
        try:
            study = load_study(name, options.shared)
        except OSError as error:
            print(f"{name} left out: {error}", file=sys.stderr)
            continue
        wanted = options.pairs.split(";") if options.pairs else [c.name for c in study.pairs]
        pairs = tuple(c for c in study.pairs if c.name in wanted)
        study = replace(study, pairs=pairs, limit=options.scale * study.limit)
        start, chosen = cpu_clock(), {}
        found, labelled = run(study, chosen if options.search else None)
        documents[study.name] = {
            **comparison_document(found, [], len(study.graphs), len(study.folds)),
            "inference": {name: [asdict(row) for row in methods] for name, methods in labelled},
            "conditions": conditions(study, chosen),
            "chosen": chosen,
            "cpu_seconds": cpu_clock() - start,
        }
        sections.append(section(study, found, labelled, chosen))
        save_figure(
            comparison_figure(found, f"{study.name}: held-out accuracy and training time"),
            out / f"{name}.png",
        )
        if found.reference is not None:
            save_figure(confusion(study, found.reference), out / f"{name}-confusion.png")
        _write(out, sections, documents)


Chosen = dict[str, list[float]]
"""The values of C that a search chose, fold by fold, by the name of the row."""


def run(study: Study, chosen: Chosen | None) -> tuple[Comparison, list[tuple[str, list[MethodRow]]]]:
    """All pairs of a study, and inference methods on the models of the first pair of each problem. With ``chosen`` C is
    searched, and what was found is put there."""
    rows, models, labelled, seen = [], (), [], set()
    plan = [(c, study.graphs) for c in study.pairs]
    if study.bare:
        bare = GraphSet(g.replace(edges=None, edge_features=None) for g in study.graphs)
        plan.append((Contender("primal-dual", "cut", note="node features only"), bare))
    for contender, graphs in plan:
        print(f"{study.name}: {contender.name}", file=sys.stderr, flush=True)
        found = compare(graphs, study.folds, [contender], fitter(study, chosen))
        rows.extend(found.rows)
        models = models or found.models
        kind = KINDS[contender.oracle]
        if study.methods and contender.oracle in ("cut", "trws") and found.models and kind.solves not in seen:
            seen.add(kind.solves)
            methods = compare_methods(graphs, study.folds, found.models, study.methods, GRAPH_LIMIT)
            labelled.append((contender.name, methods))
    return Comparison(tuple(rows), models), labelled


def fitter(study: Study, chosen: Chosen | None) -> Any:
    """Fits a contender within the study's CPU seconds; ``chosen``: at the best C of folds of its training graphs."""

    def fit_at(C: float, contender: Contender, graphs: GraphSet, share: float = 1.0) -> Machine:
        limit = share * study.limit
        settings = {
            "C": C,
            "gap": GAP,
            "learner": contender.learner,
            "oracle": contender.oracle,
            "nonnegative": contender.nonnegative,
            "time_limit": limit * (PROGRAM_WALL if contender.oracle in ("ilp", "lp") else WALL),
            "callback": cpu_limit(limit),
            **study.options,
            **study.noted.get(contender.note, {}),
        }
        return Machine(**settings).fit(graphs)

    def held_out(C: float, contender: Contender, graphs: GraphSet) -> float:
        found = compare(
            graphs, random_folds(graphs, INNER), [contender], lambda c, g, _: fit_at(C, c, g, SHARE)
        )
        return found.rows[0].pooled.accuracy

    def fit(contender: Contender, graphs: GraphSet, task: str) -> Machine:
        one_hot = KINDS[contender.oracle].solves != "relaxed binary"
        C = study.C_one_hot if one_hot else study.C_relaxed
        if chosen is not None:
            C = max(SEARCHED, key=lambda C: held_out(C, contender, graphs))
            chosen.setdefault(contender.name, []).append(C)
            print(f"{task}: C = {C:g}", file=sys.stderr, flush=True)
        return fit_at(C, contender, graphs)

    return fit


def confusion(study: Study, row: Row) -> Any:
    """The confusion matrix of a row over all folds, as the paper's figures 2 and 3 have it."""
    names = [study.classes.get(label, str(label)) for label in row.pooled.labels]
    scores = confusion_scores(names, row.pooled.confusion)
    return confusion_figure(scores, f"{study.name}, {row.contender.name}, all folds")


def conditions(study: Study, chosen: Chosen) -> str:
    """Graphs, folds, C and limits in one sentence."""
    tried = ", ".join(f"{C:g}" for C in SEARCHED)
    within = f"fits of {SHARE * study.limit:g} CPU seconds"
    search = (
        f"C of each row and fold is the best of {tried} on {INNER} folds of its training graphs, {within}"
    )
    return study.describe(search if chosen else "")


def section(
    study: Study, found: Comparison, labelled: Sequence[tuple[str, list[MethodRow]]], chosen: Chosen
) -> str:
    """The part of the report on one data set."""
    text = f"### {study.name}\n\n{conditions(study, chosen)}\n\n{rows_table(found)}\n"
    if chosen:
        rows = "".join(
            f"| {name} | {', '.join(f'{C:g}' for C in values)} |\n" for name, values in chosen.items()
        )
        text += f"\n| row searched | C in each fold |\n| --- | ---: |\n{rows}"
    for name, methods in labelled:
        text += f"\nTest time, models of {name}:\n\n{methods_table(methods)}\n"
    return text


def _write(out: Path, sections: list[str], documents: dict[str, Any]) -> None:
    (out / "comparison.md").write_text("\n".join(sections))
    document = {
        "gapcut": gapcut.__version__,
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "gap": GAP,
        "data": documents,
    }
    (out / "comparison.json").write_text(json.dumps(_finite(document), indent=1) + "\n")


def _finite(value: Any) -> Any:
    """Numbers that JSON does not know as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = Path(os.environ.get("GAPCUT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    parser.add_argument("--data", default="all", help=f"all, or some of {','.join(NAMES)}")
    parser.add_argument("--out", type=Path, default=Path("comparison"), help="folder for the results")
    parser.add_argument("--pairs", help="only these rows, by name, separated by semicolons")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the CPU limits")
    parser.add_argument(
        "--search", action="store_true", help="choose C for each row by folds of its training graphs"
    )
    parser.add_argument("--shared", type=Path, default=shared, help="folder with data/")
    return parser.parse_args()


if __name__ == "__main__":
    main()

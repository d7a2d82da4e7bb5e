"""``gapcut demo``: the whole story on generated bridges, in a minute or two."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.console import Console

from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE
from gapcut.cli.options import Jobs, Json, LearningOptions
from gapcut.cli.outputs import Force, check_outputs, kind_of_ending, report_files, write_result
from gapcut.cli.progress import WRITING, speak, working
from gapcut.cli.show import certificate_line, emit, pairs_table, scores_document, scores_table
from gapcut.cli.training import fit_to_the_end, training_document
from gapcut.data import GraphSet
from gapcut.digits import percent
from gapcut.machine import Machine
from gapcut.metrics import Scores, score_graphs
from gapcut.report.model import draw_model
from gapcut.report.strongest import strongest_pairs

if TYPE_CHECKING:
    from gapcut.scenes.experiment import FoldResult

_TRAIN, _TEST = 20, 10


def demo(
    *,
    out: Path = Path("report"),
    seed: int = 0,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Generate bridges, scan them, learn from ten and label five others: a page to look at.

    It takes a minute or two. Without embreex, which traces the scanner's rays, graphs are drawn by chance instead, and
    it takes seconds.

    :param out: Folder for page, figures and model.
    :param seed: Seed of everything random.
    """
    check_outputs({path: kind_of_ending(path) for path in report_files(out)}, (), force, folder=out)
    with speak():  # whoever runs this first sees that something happens, in a notebook too
        if find_spec("embreex") is None:
            return _planted(out, seed, jobs, as_json)
        return _bridges(out, seed, jobs, as_json)


def _bridges(out: Path, seed: int, jobs: int, as_json: bool) -> int:
    """The bridge experiment in its quick form."""
    from gapcut.cli.bridges import experiment
    from gapcut.scenes.experiment import ExperimentSettings

    out.mkdir(parents=True, exist_ok=True)
    settings = ExperimentSettings.quick()
    training = replace(settings.training, seed=seed, n_jobs=(os.cpu_count() or 1) if jobs == -1 else jobs)
    settings = replace(settings, training=training)
    start = time.monotonic()
    with TemporaryDirectory(prefix="gapcut-") as scratch:
        document, results = experiment(out, settings, Path(scratch), pictures=3)
    document["seconds"] = time.monotonic() - start
    emit(document, as_json, lambda console: _show_bridges(console, results, document))
    return DONE


def _show_bridges(console: Console, results: list[FoldResult], document: dict[str, Any]) -> None:
    from gapcut.cli.bridges import show_experiment

    result = results[0]
    graphs = result.graphs.training
    console.print(
        f"trained on    {counted(scan=len(graphs))} of generated bridges: "
        f"{counted(part=sum(g.n_nodes for g in graphs), edge=sum(g.n_edges for g in graphs))}"
    )
    console.print(f"certificate   {certificate_line(result.certificate)}")
    console.print("")
    files = document["files"]
    show_experiment(console, results, files)
    console.print(f"all of it     {document['seconds']:.0f} s")
    model = files[-1]
    console.print("")
    console.print(f"Look at {files[0]} in a browser. What to try next:")
    console.print(f"  gapcut inspect {model}")
    console.print("  gapcut bridges reproduce                          (25 bridges, 5 folds, fine scans)")
    console.print("  gapcut train YOUR_GRAPHS.npz --out mine.gapcut    (layout: gapcut.GraphSet(...).save)")


def _planted(out: Path, seed: int, jobs: int, as_json: bool) -> int:
    """Graphs drawn by chance: needs nothing but the command line."""
    from gapcut.datasets import make_planted

    graphs = make_planted(_TRAIN + _TEST, seed=seed)
    training, test = graphs[:_TRAIN], graphs[_TRAIN:]
    options = LearningOptions(n_jobs=jobs, random_state=seed)
    start = time.monotonic()
    svm = fit_to_the_end(training, options, "training")
    seconds = time.monotonic() - start
    scores = score_graphs(test, svm.predict(test), svm.classes_)
    alone = fit_to_the_end(_without_edges(training), options, "training without edges")
    baseline = alone.score(_without_edges(test))
    svm.set_params(n_jobs=1)
    with working(WRITING):
        files = write_result(out, lambda folder: _write(svm, scores, folder))
    document = {
        **training_document(svm, training, seconds),
        "test": scores_document(scores),
        "node_only_accuracy": baseline,
        "files": files,
    }
    emit(document, as_json, lambda console: _show(console, svm, scores, document))
    return DONE


def _without_edges(graphs: GraphSet) -> GraphSet:
    return GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)


def _write(svm: Machine, scores: Scores, out: Path) -> list[str]:
    figures = draw_model(out, svm, scores, tested="Test graphs")
    svm.save(out / "model.gapcut")
    return [*(str(figure.content) for figure in figures), str(out / "model.gapcut")]


def _show(console: Console, svm: Machine, scores: Scores, document: dict[str, Any]) -> None:
    data = document["labelled"]
    console.print(
        'no bridges    they need embreex: pip install "gapcut[scan]"; these are graphs drawn by chance'
    )
    console.print(
        f"trained on    {data['graphs']} generated graphs, {counted(node=data['nodes'], edge=data['edges'])}, "
        f"{document['seconds']:.1f} s"
    )
    console.print(f"certificate   {certificate_line(svm.certificate_)}")
    console.print(
        f"test accuracy {percent(scores.accuracy)} (node features alone: "
        f"{percent(document['node_only_accuracy'])})"
    )
    console.print(scores_table(scores))
    console.print(pairs_table(strongest_pairs(svm.pairwise_, svm.classes_, svm.pipeline_.edge_names, 8)))
    for file in document["files"]:
        console.print(f"written       {file}")
    model = document["files"][-1]
    console.print("")
    console.print("What to try next:")
    console.print(f"  gapcut inspect {model}")
    console.print("  gapcut train YOUR_GRAPHS.npz --out mine.gapcut    (layout: gapcut.GraphSet(...).save)")
    console.print("  gapcut evaluate mine.gapcut YOUR_TEST_GRAPHS.npz")

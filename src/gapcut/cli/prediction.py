"""``gapcut predict`` and ``gapcut evaluate``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import Console

from gapcut.certificates import at_most
from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE
from gapcut.cli.file_queue import (
    Address,
    EngineOption,
    FileJob,
    FileResults,
    FileWork,
    do_files,
    engine_for,
    processes_for,
    settings_digest,
)
from gapcut.cli.options import (
    DataPath,
    Jobs,
    Json,
    ModelPath,
    Select,
    UnpackLimit,
    graph_sets,
    named_file,
    no_graphs,
    option,
)
from gapcut.cli.outputs import LABELS, Force, check_outputs, kind_of_ending, write_result
from gapcut.cli.predicted import Labelled, write_npz, writer
from gapcut.cli.progress import working
from gapcut.cli.show import (
    certificate_document,
    certificate_line,
    emit,
    sample_line,
    scores_document,
    scores_table,
)
from gapcut.data import Graph, GraphSet, graph_files, load_graph_file, unpacked_bytes
from gapcut.digits import decimal, percent
from gapcut.engines import Engine
from gapcut.files import write_atomically
from gapcut.inference import MethodName, Solution
from gapcut.machine import Machine
from gapcut.metrics import Calibration, Scores, score_graphs
from gapcut.typing import AnyArray

_PROCESS = 120 << 20
"""Bytes of a process that has done nothing yet."""

Inference = Annotated[MethodName | None, option("inference", more=" Default: the model's.")]


def predict(
    model: ModelPath,
    /,
    *data: DataPath,
    out: Path,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    inference: Inference = None,
    engine: EngineOption = "threads",
    address: Address = None,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Label graphs and write the labels as .npz, .csv or .parquet.

    An .npz has energies, bounds and gaps too; the others are tables of one row a node. Where OUT is a folder, each file
    or part of DATA gets an .npz there as soon as it is labelled; what is done is not done again, and a file that fails
    stops no other.

    :param out: File to write; its ending says what: .npz, .csv or .parquet (with pyarrow). Or a folder.
    """
    if not data:
        raise ValueError("missing argument DATA (see gapcut predict --help)")
    if out.suffix == "" or out.is_dir():
        if select is not None:
            raise ValueError("--select is for one OUT: name a file with --out")
        files = _FileJobs.of(model, data, out, force)
        processes = processes_for(engine, jobs, files.needs(unpack_limit) if engine == "processes" else [])
        with closing(engine_for(engine, processes, address)) as workers:
            results = files.done(workers, unpack_limit, inference)
        report = {
            "out": str(out),
            "files": results.documents,
            "before": results.before,
            "failed": results.failed,
        }
        emit(report, as_json, lambda console: _show_files(console, report))
        return results.code("files could not be labelled")
    if len(data) != 1:
        raise ValueError(f"--out {out} is one file, but there are {len(data)} DATA: name a folder with --out")
    if engine != "threads":
        raise ValueError(f"--engine {engine} works on many files: name a folder with --out")
    write = writer(out)
    check_outputs(
        {out: LABELS if out.suffix.lower() == ".npz" else kind_of_ending(out)}, [model, *data], force
    )
    svm = _load(model, jobs, inference)
    with working("labelling ...") as say, named_file(svm, data[0], unpack_limit):
        labelled = Labelled.of(svm, graph_sets(data[0], select, unpack_limit), say)
    write_result(out, lambda path: write_atomically(path, lambda file: write(file, labelled)))
    document = {"out": str(out), **labelled.counts}
    emit(document, as_json, lambda console: _show_prediction(console, document))
    return DONE


def evaluate(
    model: ModelPath,
    data: DataPath,
    /,
    *,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    inference: Inference = None,
    jobs: Jobs = -1,
    as_json: Json = False,
) -> int:
    """Compare predicted labels with those of the data, weighted by node weights."""
    svm = _load(model, jobs, inference)
    calibration = None if svm.model_.temperature is None else Calibration(svm.classes_)
    truth: list[Graph] = []  # without features, which are read a part at a time

    def compare(graphs: GraphSet, solutions: list[Solution[AnyArray]]) -> None:
        truth.extend(_bare(graph) for graph in graphs)
        if calibration is not None:
            calibration.add(graphs, svm.predict_proba(graphs, solutions))

    with working("labelling ...") as say, named_file(svm, data, unpack_limit):
        labelled = Labelled.of(svm, graph_sets(data, select, unpack_limit), say, compare)
    scores = score_graphs(truth, [s.labels for s in labelled.solutions], svm.classes_)
    if not scores.nodes > 0:
        raise ValueError(f"{data}: no labelled node to compare with")
    document = {**scores_document(scores), **labelled.counts}
    document["calibration_error"] = None if calibration is None else calibration.error
    document["certificate"] = certificate_document(svm.certificate_)
    document["graphs_left_out_of_training"] = svm.model_.data.left_out
    emit(document, as_json, lambda console: _show_evaluation(console, svm, scores, document))
    return DONE


def _bare(graph: Graph) -> Graph:
    """Its labels and weights."""
    return Graph(np.empty((graph.n_nodes, 0)), None, None, graph.labels, graph.node_weights, name=graph.name)


def _load(path: Path, jobs: int, inference: MethodName | None) -> Machine:
    svm = Machine.load(path)
    svm.set_params(n_jobs=jobs)
    if inference is not None:
        svm.set_params(inference=inference)
    return svm


@dataclass(frozen=True)
class _FileJobs:
    """Many files to label, each into a file of its own."""

    model: Path
    jobs: list[FileJob]

    @classmethod
    def of(cls, model: Path, data: tuple[Path, ...], out: Path, force: bool) -> _FileJobs:
        """Checked before anything is begun."""
        sources = [file for path in data for file in graph_files(path)]
        if not sources:
            raise no_graphs(data[0])
        jobs = [FileJob(source, out / f"{source.stem}.npz") for source in sources]
        if len({job.target for job in jobs}) < len(jobs):
            raise ValueError(f"{out}: two files would be written to one name: label them into two folders")
        check_outputs({job.target: LABELS for job in jobs}, [model, *data], force, folder=out)
        return cls(model, jobs)

    def needs(self, unpack_limit: int | None) -> list[float]:
        """Bytes of a process at work on each, at most, about: its arrays, and what the model makes of them, as if all
        were one graph."""
        known = Machine.load(self.model).model_
        raw, labels = known.pipeline.raw_columns, known.coder.n_labels
        columns = max(len(known.node_names), len(known.pipeline.node_names))
        a_node = (columns + labels) / (len(raw.node) + 1)
        an_edge = (len(known.pipeline.edge_names) + labels**2) / (len(raw.edge) + 2)
        own = _PROCESS + 2.0 * self.model.stat().st_size
        made = 1.0 + max(a_node, an_edge)
        return [own + made * unpacked_bytes(job.source, unpack_limit) for job in self.jobs]

    def done(self, engine: Engine, unpack_limit: int | None, inference: MethodName | None) -> FileResults:
        """Labels of each."""
        svm = _load(self.model, engine.threads, inference)
        self.jobs[0].target.parent.mkdir(parents=True, exist_ok=True)
        settings = settings_digest([self.model], command="predict", inference=inference)
        return do_files(engine, _LabelGraphs(svm, unpack_limit), self.jobs, settings)


@dataclass(frozen=True)
class _LabelGraphs:
    """Work of a queue: the graphs of a file labelled."""

    svm: Machine
    unpack_limit: int | None

    def __call__(self, job: FileJob) -> FileWork:
        graphs = load_graph_file(job.source, self.unpack_limit)
        if not len(graphs):
            raise no_graphs(job.source)
        labelled = Labelled.of(self.svm, [graphs])
        write_atomically(job.target, lambda file: write_npz(file, labelled))
        document = {"data": str(job.source), "out": str(job.target), **labelled.counts}
        return FileWork([job.target], document)


def _show_prediction(console: Console, document: dict[str, Any]) -> None:
    console.print(f"labelled     {counted(graph=document['graphs'], node=document['nodes'])}")
    console.print(_inference_line(document))
    console.print(f"written      {document['out']}")


def _show_files(console: Console, document: dict[str, Any]) -> None:
    files = document["files"]
    graphs, nodes = (sum(each[what] for each in files) for what in ("graphs", "nodes"))
    console.print(f"labelled     {counted(file=len(files), graph=graphs, node=nodes)}")
    if document["before"]:
        console.print(f"             {document['before']:,} of the files were done before")
    console.print(f"written      {document['out']}")


def _show_evaluation(console: Console, svm: Machine, scores: Scores, document: dict[str, Any]) -> None:
    console.print(scores_table(scores))
    for label in scores.never_predicted:
        console.print(
            f"warning      no node is labelled {label!s:.40}, though some are: try train --balanced"
        )
    console.print(
        f"accuracy     {percent(scores.accuracy)} over nodes of {counted(graph=document['graphs'])}"
    )
    if document["calibration_error"] is not None:
        console.print(
            f"calibration  expected error {decimal(document['calibration_error'], 3)} of the labels' probabilities"
        )
    console.print(_inference_line(document))
    console.print(f"certificate  {certificate_line(svm.certificate_)}")
    if sampled := sample_line(svm):
        console.print(f"             {sampled}")


def _inference_line(document: dict[str, Any]) -> str:
    found = document["inference"]
    return (
        f"inference    {found['proven_optimal']:,} of {counted(graph=document['graphs'])} proven optimal, "
        f"largest gap {at_most(found['largest_gap'], 3)}, {found['seconds']:.2f} s"
    )

"""``gapcut train``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console

from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE, NOT_CERTIFIED, Interrupted, to_the_end, watch_interrupt
from gapcut.cli.large_sets import training_graphs
from gapcut.cli.options import (
    Certified,
    DataPath,
    Flag,
    Json,
    LearningOptions,
    Sample,
    SearchOptions,
    Select,
    UnpackLimit,
)
from gapcut.cli.outputs import CHECKPOINT, MODEL, Force, check_outputs, write_result
from gapcut.cli.progress import progress
from gapcut.cli.proving import proof_document, proof_line, proof_outputs, write_proof
from gapcut.cli.show import (
    base_line,
    certificate_document,
    certificate_line,
    clique_count,
    emit,
    sample_line,
    show_choice,
)
from gapcut.data import GraphFolder, GraphSet
from gapcut.digits import percent
from gapcut.engines import peak_memory_mb
from gapcut.engines.shards import ClusterLost
from gapcut.machine import Machine, Proof
from gapcut.typing import AnyArray

_DEFAULTS = SearchOptions()


def train(
    data: DataPath,
    /,
    *,
    out: Path,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    sample: Sample = None,
    options: SearchOptions = _DEFAULTS,
    certified: Certified = False,
    proof: Path | None = None,
    resume: Flag = False,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Learn a model from labelled graphs and prove its gap to the global optimum.

    Ctrl-C and SIGTERM save the best model so far and exit with 130. A long run of the primal-dual learner keeps
    MODEL.checkpoint beside the model; after Ctrl-C, a time limit, a crash or a kill, the same command with
    --resume goes on from there.

    :param out: Model file to write.
    :param proof: Proof of the claim to write (.npz), for others to check; the graphs that it is about go beside it.
    :param resume: Go on from the checkpoint of a run that was ended.
    """
    checkpoint = out.with_name(f"{out.name}.checkpoint")
    writes = (
        {out: MODEL} | ({} if resume else {checkpoint: CHECKPOINT}) | proof_outputs(proof, [out, checkpoint])
    )
    check_outputs(writes, [data], force)
    if sample is not None and proof is not None:
        raise ValueError("--proof is about all graphs of DATA: leave out --sample")
    start = time.monotonic()
    at_once = proof is not None or (resume and options.engine == "auto")  # others chose as they do again
    given = training_graphs(data, select, unpack_limit, options, sample, at_once)
    with given as (graphs, options, left_out), watch_interrupt() as interrupt:
        kept = _kept(graphs, checkpoint, options, resume)
        try:
            svm, shown = _fit(graphs, options, "training", kept, proof is not None)
            interrupt.saving = True
            if left_out:
                svm.of_sample(len(graphs), left_out)
        except KeyboardInterrupt:
            raise Interrupted("interrupted before there was a model: nothing was written") from None
        svm.set_params(n_jobs=1)  # the model should not remember the machine
        write_result(out, svm.save)
        if kept is not None and svm.certificate_.status == "certified":
            kept.unlink(missing_ok=True)
        if shown is not None and proof is not None:
            write_proof(shown, proof, data, select)
    document = training_document(svm, graphs, time.monotonic() - start)
    document |= {"model": str(out), "interrupted": interrupt.pressed, "graphs_left_out": left_out}
    if shown is not None and proof is not None:
        document["proof"] = proof_document(shown, proof)
    emit(document, as_json, lambda console: _show(console, svm, document))
    if interrupt.pressed:
        raise Interrupted(f"interrupted: the best model so far was saved to {out}")
    return NOT_CERTIFIED if certified and svm.certificate_.status != "certified" else DONE


def _kept(graphs: GraphSet | GraphFolder, path: Path, options: LearningOptions, resume: bool) -> Path | None:
    """Where the run keeps its state, if it does; an old file is dropped unless it is to be resumed."""
    estimator = options.estimator(graphs, None, None)
    if estimator.engine == "disk" or not estimator.takes_checkpoint(graphs):
        if resume:
            raise ValueError(
                "--resume needs --learner primal-dual with --oracle cut or lp, graphs without cliques, and "
                "--engine threads or ray"
            )
        return None
    if resume and not path.exists():
        raise ValueError(f"{path}: no checkpoint to resume from: leave out --resume to start anew")
    if not resume:
        path.unlink(missing_ok=True)
    return path


def _fit(
    graphs: GraphSet | GraphFolder,
    options: LearningOptions,
    task: str,
    checkpoint: Path | None = None,
    proven: bool = False,
) -> tuple[Machine, Proof | None]:
    """Fit, showing bounds on a terminal; with a proof if it is to be ``proven`` and Ctrl-C does not end that."""
    searches = options.C == "cv" or options.base == "auto"
    before = "choosing what is not named by folds of the graphs, then " if searches else ""
    with progress(task, options.target, before) as callback:
        svm = options.estimator(graphs, callback, checkpoint)
        proof = None
        try:
            if proven:
                proof = svm.fit_proven(graphs)
            else:
                svm.fit_resumable(graphs)
        except KeyboardInterrupt:
            if not hasattr(svm, "certificate_"):
                raise
        except ClusterLost as error:  # after the model was there
            if not hasattr(svm, "certificate_"):
                raise
            warnings.warn(f"no proof: {error}; gapcut prove makes one of the model", stacklevel=2)
    return svm.set_params(callback=None, checkpoint=None), proof


def fit_to_the_end(graphs: GraphSet, options: LearningOptions, task: str) -> Machine:
    """The same where half a result is of no use: Ctrl-C ends the command."""
    with to_the_end():
        return _fit(graphs, options, task)[0]


def fit_path_to_the_end(
    graphs: GraphSet,
    options: LearningOptions,
    task: str,
    C_values: Sequence[float | Literal["cv"]],
    classes: AnyArray,
) -> list[Machine]:
    """One model per value of C, for these labels unless the options name others; Ctrl-C ends the command. A model that
    chooses its C is fitted by itself.
    """
    with to_the_end(), progress(task, options.target) as callback:
        estimator = options.estimator(graphs, callback, None)
        if estimator.classes is None:
            estimator.set_params(classes=classes)
        numbers = [C for C in C_values if not isinstance(C, str)]
        return estimator.fit_path(graphs, numbers) if numbers else [estimator.fit(graphs)]


def training_document(svm: Machine, graphs: GraphSet | GraphFolder, seconds: float) -> dict[str, Any]:
    """What ``train`` reports."""
    model = svm.model_
    return {
        "seconds": seconds,
        "peak_memory_mb": peak_memory_mb(),
        "graphs": len(graphs),
        "labelled": {
            "graphs": model.data.graphs,
            "nodes": model.data.nodes,
            "edges": model.data.edges,
            "cliques": model.data.cliques,
        },
        "classes": model.coder.classes.tolist(),
        "certificate": certificate_document(model.certificate),
        "message": model.message,
        "base": base_line(model.base),
        "advice": model.advice,
        "C": svm.C_,
        "choice": None if model.choice is None else model.choice.to_state(),
        "weights": {
            "unary": model.unary.size,
            "pairwise": model.pairwise.size,
            "pairwise_nonzero": int(np.count_nonzero(model.pairwise)),
            "clique": sum(group.weights.size for group in model.cliques),
            "clique_nonzero": sum(int(np.count_nonzero(group.weights)) for group in model.cliques),
        },
    }


def _show(console: Console, svm: Machine, document: dict[str, Any]) -> None:
    data, weights = document["labelled"], document["weights"]
    share = weights["pairwise_nonzero"] / max(1, weights["pairwise"])
    console.print(
        f"trained on    {counted(graph=data['graphs'], node=data['nodes'], edge=data['edges'])}, "
        f"{clique_count(data['cliques'])}"
        f"{counted(label=len(document['classes']))}, {document['seconds']:.1f} s, "
        f"peak memory {document['peak_memory_mb']:,.0f} MB"
    )
    console.print(f"certificate   {certificate_line(svm.certificate_)}")
    if sampled := sample_line(svm):
        console.print(f"              {sampled} (the same one with --sample {document['graphs']})")
    if svm.certificate_.status != "certified":
        console.print(f"              {document['message']}")
    if document["advice"]:
        console.print(f"warning       {document['advice']}")
    if document["base"]:
        console.print(f"base          {document['base']}")
    show_choice(console, svm.choice_)
    console.print(
        f"weights       {weights['unary']:,} unary; {weights['pairwise_nonzero']:,} of "
        f"{weights['pairwise']:,} pairwise "
        f"are not zero ({percent(share)})"
    )
    if weights["clique"]:
        console.print(
            f"              {weights['clique_nonzero']:,} of {weights['clique']:,} of cliques are not zero"
        )
    console.print(f"model         {document['model']}")
    if "proof" in document:
        console.print(f"proof         {proof_line(document['proof'])}")

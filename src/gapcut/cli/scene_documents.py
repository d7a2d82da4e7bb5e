"""What ``gapcut scenes train`` and ``gapcut label`` say of their work: documents, and lines for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from gapcut.cli.show import Cells, certificate_document, certificate_line, number, percent
from gapcut.engines import peak_memory_mb

if TYPE_CHECKING:
    from gapcut.scenes.clouds import PointCloud
    from gapcut.scenes.labelling import LabelledScan, SceneModel, TrainedScenes
    from gapcut.scenes.labelling.scene import Stopwatch


def training_document(trained: TrainedScenes, n_scans: int, out: Path, seconds: float) -> dict[str, Any]:
    model = trained.model
    return {
        "model": str(out),
        "seconds": seconds,
        "steps": trained.seconds,
        "peak_memory_mb": peak_memory_mb(),
        "scans": n_scans,
        "graphs": len(trained.scans),
        "points": sum(len(s.point_segment) for s in trained.scans),
        "segments": sum(s.n_segments for s in trained.scans),
        "edges": sum(g.n_edges for g in trained.graphs),
        "classes": model.class_names,
        "channels": list(model.channels),
        "settings": model.settings.to_state(),
        "certificate": certificate_document(model.learner.certificate_),
    }


def show_training(console: Console, trained: TrainedScenes, document: dict[str, Any]) -> None:
    console.print(
        f"trained on    {document['scans']:,} scans, {document['points']:,} points, {document['segments']:,} "
        f"segments, {document['edges']:,} edges; {', '.join(document['classes'])}"
    )
    _show_skipped(console, document["skipped"])
    used = ", ".join(document["channels"]) or "places alone"
    console.print(f"features      {used}, voxel {trained.model.settings.lengths['voxel']:.3g} m")
    console.print(f"certificate   {certificate_line(trained.model.learner.certificate_)}")
    console.print(Cells(["step", "seconds"], list(document["steps"].items())))
    console.print(
        f"model         {document['model']}, {document['seconds']:.1f} s, "
        f"peak memory {document['peak_memory_mb']:,.0f} MB"
    )


def label_document(
    model: SceneModel,
    source: Path,
    target: Path,
    found: LabelledScan,
    labelled: PointCloud,
    clock: Stopwatch,
) -> dict[str, Any]:
    from gapcut.scenes.labelling.model import agreement

    def steps(own: dict[str, float], inner: dict[str, float]) -> dict[str, float]:
        return {"reading": own["reading"], **inner, "writing": own["writing"]}

    seconds = steps(clock.seconds, found.seconds)
    values, counts = np.unique(found.labels, return_counts=True)
    accuracy, compared = agreement(labelled, model.numbers)
    solution = found.solution
    return {
        "scan": str(source),
        "out": str(target),
        "points": labelled.n_points,
        "kept": found.n_kept,
        "segments": found.n_segments,
        "edges": found.n_edges,
        "labels": {model.names.get(int(v), str(v)): int(c) for v, c in zip(values, counts, strict=True)},
        "confidence": float(found.confidence.mean(dtype=np.float64)),
        "energy": solution.energy,
        "bound": solution.bound,
        "gap": solution.gap,
        "status": solution.status,
        "accuracy": accuracy,
        "compared": compared,
        "strange": found.strange,
        "strange_in_training": model.familiar.usual,
        "unlike_training": model.familiar.unlike(found.strange),
        "steps": seconds,
        "cpu_steps": steps(clock.cpu, found.cpu_seconds),
        "seconds": sum(seconds.values()),
        "peak_memory_mb": peak_memory_mb(),
    }


def show_labels(console: Console, documents: list[dict[str, Any]], skipped: list[str]) -> None:
    for document in documents:
        _show_label(console, document)
    _show_skipped(console, skipped)


def _show_skipped(console: Console, skipped: list[str]) -> None:
    if skipped:
        console.print(f"left out    {', '.join(skipped)}: no point clouds")


def _show_label(console: Console, document: dict[str, Any]) -> None:
    console.print(
        f"labelled    {document['points']:,} points in {document['segments']:,} segments, "
        f"{document['edges']:,} edges"
    )
    total = document["points"]
    rows = [[name, n, percent(n / total)] for name, n in document["labels"].items()]
    console.print(Cells(["label", "points", "share"], rows))
    console.print(
        f"inference   {document['status']}, energy {document['energy']:.6g}, proven gap {document['gap']:.3g}; "
        f"mean confidence {percent(document['confidence'])}"
    )
    if document["accuracy"] is not None:
        console.print(
            f"agreement   {percent(document['accuracy'])} of {document['compared']:,} points that had a label "
            "called like one of the model's"
        )
    if document["unlike_training"]:
        console.print(
            f"unlike      {percent(document['strange'])} of the points are unlike those of training (of a training "
            f"scan at most {percent(document['strange_in_training'])}): its confidences may be too high"
        )
    steps = [[name, number(round(value, 2))] for name, value in document["steps"].items()]
    console.print(Cells(["step", "seconds"], steps))
    console.print(
        f"written     {document['out']}, {document['seconds']:.1f} s, "
        f"peak memory {document['peak_memory_mb']:,.0f} MB"
    )

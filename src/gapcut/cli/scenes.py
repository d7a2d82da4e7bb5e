"""``gapcut scenes train``: from labelled scans to a model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App
from rich.console import Console

from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE, NOT_CERTIFIED, Interrupted, InterruptWatch, watch_interrupt
from gapcut.cli.options import Certified, Jobs, Json, option
from gapcut.cli.outputs import (
    MODEL,
    Force,
    check_outputs,
    write_result,
)
from gapcut.cli.progress import working
from gapcut.cli.show import Cells, certificate_document, certificate_line, emit
from gapcut.cli.streets import streets
from gapcut.engines import peak_memory_mb, thread_count

if TYPE_CHECKING:
    from gapcut.scenes.clouds import PointCloud
    from gapcut.scenes.labelling import Corrections, SceneSettings, TrainedScenes, TrainingOptions
    from gapcut.scenes.labelling.scene import Say

SCENES = App(name="scenes", help="Models that label point clouds.")
SCENES.command(streets)


@SCENES.command(name="train")
def train_command(
    folder: Path,
    /,
    *,
    out: Path,
    voxel: float | None = None,
    channels: str | None = None,
    C: Annotated[
        float | None, option("C", more=" Default: 1, or 0.1 where folds of the scans say so clearly.")
    ] = None,
    gap: Annotated[float, option("gap")] = 1e-2,
    trees: int = 60,
    time_limit: float | None = None,
    seed: int = 0,
    columns: str | None = None,
    classes: Path | None = None,
    corrections: tuple[Path, ...] = (),
    new_classes: str | None = None,
    jobs: Jobs = -1,
    certified: Certified = False,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Learn to label scans: forests, features and certified weights in one model file.

    :param folder: Folder of labelled scans (or one): las laz ply pcd e57 xyz npz.
    :param out: Model file to write.
    :param voxel: Metres; one point a voxel is worked with. Default: two point spacings.
    :param channels: Of intensity,echoes,colour, or none; scans to label need the same. Default: all but echoes.
    :param trees: Trees of each of the two forests.
    :param time_limit: Seconds of learning, after the forests.
    :param seed: Seed of everything random.
    :param columns: Names of the columns of text files, as in x,y,z,red,green,blue,label; default: their headers.
    :param classes: JSON file of classes to learn and the LAS classes they are read from: {"vegetation": [5, 3, 4]}.
    :param corrections: File saved from the page of a labelled scan, which lies in FOLDER or beside the file.
    :param new_classes: Classes, separated by commas, that corrections may choose though no scan has them.
    """
    from gapcut.scenes.labelling import SceneSettings, TrainingOptions

    start = time.monotonic()
    check_outputs({out: MODEL}, [folder, classes, *corrections], force)
    tried, used, n = TrainingOptions.C_values if C is None else (C,), _channels(channels), thread_count(jobs)
    options = TrainingOptions(
        n_trees=trees, C_values=tried, gap=gap, channels=used, time_limit=time_limit, seed=seed, n_jobs=n
    )
    with watch_interrupt() as interrupt, working("reading scans ...") as status:
        try:
            clouds, skipped = _training_clouds(folder, columns, classes, corrections, new_classes)
            trained = _train(clouds, SceneSettings(voxel=voxel), options, interrupt, status)
            interrupt.saving = True
        except KeyboardInterrupt:
            raise Interrupted("interrupted before there was a model: nothing was written") from None
        trained.model.learner.set_params(n_jobs=1)  # the model should not remember the machine
        write_result(out, trained.model.save)
    document = {**_training_document(trained, len(clouds), out, time.monotonic() - start), "skipped": skipped}
    emit(document, as_json, lambda console: _show_training(console, trained, document))
    if interrupt.pressed:
        raise Interrupted(f"interrupted: the best model so far was saved to {out}")
    return NOT_CERTIFIED if certified and document["certificate"]["status"] != "certified" else DONE


def _train(
    clouds: list[PointCloud],
    settings: SceneSettings,
    options: TrainingOptions,
    interrupt: InterruptWatch,
    status: Say,
) -> TrainedScenes:
    """A model learned from labelled scans. Raises KeyboardInterrupt where Ctrl-C came before the final run."""
    from sklearn.exceptions import ConvergenceWarning

    from gapcut.scenes.labelling import train_scenes

    def say(line: str) -> None:
        if interrupt.pressed:  # a fit that was all but done went on
            raise KeyboardInterrupt
        status(line)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the line of the certificate says it
        return train_scenes(clouds, settings, options, say)


def _training_clouds(
    folder: Path,
    columns: str | None,
    classes: Path | None,
    corrections: Sequence[Path],
    new_classes: str | None,
) -> tuple[list[PointCloud], list[str]]:
    """The labelled scans of a folder, and those that corrections speak of, in the classes of a file, if one is named;
    and the files left out."""
    from gapcut.scenes.clouds import ClassMap, read_cloud
    from gapcut.scenes.labelling import apply_corrections, key_of, read_corrections

    class_map = None if classes is None else ClassMap.read(classes)
    corrected = read_corrections(corrections)
    files, skipped = scan_files(folder)
    clouds = [
        read_cloud(path, need_labels=True, invalid="drop", columns=columns_for(path, folder, columns))
        for path in files
    ]
    keys = [key_of(cloud) if corrected else None for cloud in clouds]
    spoken_of = {one.key for one in corrected}
    for cloud, key in zip(clouds, keys, strict=True):
        if "label" in cloud.added and key not in spoken_of:
            raise ValueError(
                f"{cloud.name}: its labels are guesses of a model: correct them in its page and name the file with "
                f"--corrections, or take the scan out of {folder}"
            )
    for one in corrected:
        if one.key not in keys:
            clouds += _beside(one, folder, columns)
    expected = [name.strip() for name in (new_classes or "").split(",") if name.strip()]
    clouds = apply_corrections(clouds, corrected, expected)
    return clouds if class_map is None else [class_map.ours(cloud) for cloud in clouds], skipped


def _beside(one: Corrections, folder: Path, columns: str | None) -> list[PointCloud]:
    """The scan that a file of corrections speaks of, if it lies beside the file; one of its name with other segments
    if there is no better."""
    from gapcut.scenes.clouds import clouds_in, read_cloud

    named = [path for path in clouds_in(one.file.absolute().parent)[0] if path.stem == one.scan]
    found = [read_cloud(path, invalid="drop", columns=columns_for(path, folder, columns)) for path in named]
    return sorted(found, key=one.fit)[-1:]


def scan_files(folder: Path) -> tuple[list[Path], list[str]]:
    """The point clouds in a folder, by name, and the names of the files left out (other endings, notes); a file is
    itself. Raises ValueError where there are none."""
    from gapcut.scenes.clouds import READABLE, clouds_in

    if folder.is_file():
        return [folder], []
    if not folder.exists():
        raise FileNotFoundError(f"{folder}: no such file or folder")
    found, others = clouds_in(folder)
    if not found:
        raise ValueError(f"{folder}: no point cloud in it (known endings: {' '.join(READABLE)})")
    return found, [path.name for path in others if not path.name.endswith(".labels.json")]


def columns_for(path: Path, scan: Path, columns: str | None) -> list[str] | None:
    """What ``--columns`` says about a file: in a folder it is about the text files."""
    from gapcut.scenes.clouds import is_text

    names = None if columns is None else columns.replace(",", " ").split()
    return names if is_text(path) or scan.is_file() else None


def _channels(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    return () if parts == ("none",) else parts


def _training_document(trained: TrainedScenes, n_scans: int, out: Path, seconds: float) -> dict[str, Any]:
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


def _show_training(console: Console, trained: TrainedScenes, document: dict[str, Any]) -> None:
    console.print(
        f"trained on    {counted(scan=document['scans'], point=document['points'], segment=document['segments'])}, "
        f"{counted(edge=document['edges'])}; {', '.join(document['classes'])}"
    )
    show_skipped(console, document["skipped"])
    used = ", ".join(document["channels"]) or "places alone"
    console.print(f"features      {used}, voxel {trained.model.settings.lengths['voxel']:.3g} m")
    console.print(f"certificate   {certificate_line(trained.model.learner.certificate_)}")
    console.print(Cells(["step", "seconds"], list(document["steps"].items())))
    console.print(
        f"model         {document['model']}, {document['seconds']:.1f} s, "
        f"peak memory {document['peak_memory_mb']:,.0f} MB"
    )


def show_skipped(console: Console, skipped: list[str]) -> None:
    if skipped:
        console.print(f"left out    {', '.join(skipped)}: no point clouds")

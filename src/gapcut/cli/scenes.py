"""``gapcut scenes train`` and ``gapcut label``: from labelled scans to a model, and from scans to labelled scans."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App

from gapcut.cli.exits import DONE, NOT_CERTIFIED, Interrupted, watch_interrupt
from gapcut.cli.options import Certified, Flag, Jobs, Json, option
from gapcut.cli.outputs import (
    LABELLED_SCAN,
    MODEL,
    SEGMENTS,
    Force,
    check_outputs,
    kind_of_ending,
    segments_path,
    summary_path,
    write_result,
)
from gapcut.cli.progress import working
from gapcut.cli.scene_documents import label_document, show_labels, show_training, training_document
from gapcut.cli.show import emit
from gapcut.engines import thread_count
from gapcut.files import json_text, write_text

if TYPE_CHECKING:
    from gapcut.scenes.clouds import ClassMap, PointCloud
    from gapcut.scenes.labelling import (
        SceneModel,
        SceneSettings,
        TrainedScenes,
        TrainingOptions,
    )
    from gapcut.typing import IntArray

SCENES = App(name="scenes", help="Models that label point clouds.")


@SCENES.command(name="train")
def train_command(
    folder: Path,
    /,
    *,
    out: Path,
    voxel: float | None = None,
    channels: str | None = None,
    C: Annotated[float | None, option("C", more=" Default: 0.1 or 1, by folds of the scans.")] = None,
    gap: Annotated[float, option("gap")] = 1e-2,
    trees: int = 60,
    time_limit: float | None = None,
    seed: int = 0,
    columns: str | None = None,
    classes: Path | None = None,
    jobs: Jobs = -1,
    certified: Certified = False,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Learn to label scans: forests, features and certified weights in one model file.

    :param folder: Folder of labelled scans (or one): las laz ply pcd e57 xyz npz.
    :param out: Model file to write.
    :param voxel: Metres; one point a voxel is worked with. Default: two point spacings.
    :param channels: Of intensity,colour, or none; default: those that every scan has. Scans to label need the same.
    :param trees: Trees of each of the two forests.
    :param time_limit: Seconds of learning, after the forests.
    :param seed: Seed of everything random.
    :param columns: Names of the columns of text files, as in x,y,z,red,green,blue,label; default: their headers.
    :param classes: JSON file of classes to learn and the LAS classes they are read from: {"vegetation": [5, 3, 4]}.
    """
    from gapcut.scenes.clouds import ClassMap
    from gapcut.scenes.labelling import SceneSettings, TrainingOptions

    check_outputs({out: MODEL}, [folder, classes], force)
    class_map = None if classes is None else ClassMap.read(classes)
    start = time.monotonic()
    options = TrainingOptions(
        n_trees=trees,
        C_values=TrainingOptions.C_values if C is None else (C,),
        gap=gap,
        channels=_channels(channels),
        time_limit=time_limit,
        seed=seed,
        n_jobs=thread_count(jobs),
    )
    with watch_interrupt() as interrupt, working("reading scans ...") as status:
        files, skipped = scan_files(folder)
        names = [_names_for(path, folder, columns) for path in files]
        trained = _train(files, names, class_map, SceneSettings(voxel=voxel), options, status)
        interrupt.saving = True
        trained.model.learner.set_params(n_jobs=1)  # the model should not remember the machine
        write_result(out, trained.model.save)
    document = training_document(trained, len(files), out, time.monotonic() - start)
    document["skipped"] = skipped
    emit(document, as_json, lambda console: show_training(console, trained, document))
    if interrupt.pressed:
        raise Interrupted(f"interrupted: the best model so far was saved to {out}")
    open_ = trained.model.learner.certificate_.status != "certified"
    return NOT_CERTIFIED if certified and open_ else DONE


def _train(
    files: list[Path],
    columns: list[list[str] | None],
    class_map: ClassMap | None,
    settings: SceneSettings,
    options: TrainingOptions,
    say: Any,
) -> TrainedScenes:
    """A model learned from labelled scans in files; ``columns`` of each, where it is text."""
    from sklearn.exceptions import ConvergenceWarning

    from gapcut.scenes.clouds import read_cloud
    from gapcut.scenes.labelling import train_scenes

    clouds = [
        read_cloud(path, need_labels=True, invalid="drop", columns=names)
        for path, names in zip(files, columns, strict=True)
    ]
    clouds = clouds if class_map is None else [class_map.ours(cloud) for cloud in clouds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the line of the certificate says it
        return train_scenes(clouds, settings, options, say)


def label(
    scan: Path,
    /,
    *,
    model: Path,
    out: Path,
    time_limit: float = 300.0,
    invalid: Literal["error", "drop"] = "error",
    columns: str | None = None,
    classes: Path | None = None,
    segments: Flag = False,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Label every point of a scan: label, confidence and segment are added to what the file holds.

    A summary with energy, proven bound and seconds by step is written beside the labelled scan (.run.json).

    :param scan: Point cloud, or a folder of them.
    :param model: Model file made by gapcut scenes train.
    :param out: Labelled scan to write; where SCAN is a folder, a folder.
    :param time_limit: Seconds of inference a scan; the best labels then count.
    :param invalid: Points whose places are not finite: error, or drop them.
    :param columns: Names of the columns of a text file, as in x,y,z,red,green,blue,label; default: its header.
    :param classes: JSON file of the model's classes and the LAS classes to write, as for scenes train.
    :param segments: Write a table of the segments beside each labelled scan, too (.segments.csv).
    """
    from gapcut.scenes.clouds import ClassMap
    from gapcut.scenes.labelling import SceneModel

    pairs, skipped = _outputs(scan, out)
    for _, target in pairs:
        summary, listed = summary_path(target), {segments_path(target): SEGMENTS} if segments else {}
        writes = {target: LABELLED_SCAN, summary: kind_of_ending(summary), **listed}
        check_outputs(writes, [scan, model, classes], force)
    scene_model, class_map = SceneModel.load(model), None if classes is None else ClassMap.read(classes)
    if class_map is not None and classes is not None:
        class_map.check(scene_model.names, classes)
    labelling = _Labelling(scene_model, time_limit, invalid, class_map, segments, thread_count(jobs))
    documents: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    for source, target in pairs:
        names = _names_for(source, scan, columns)
        with working(f"{source.name}: reading ...") as status:
            try:
                documents.append(labelling.run(source, target, names, status))
            except (ValueError, OSError) as error:
                if scan.is_file():
                    raise
                failed.append({"scan": str(source), "error": str(error)})
    document = documents[0] if scan.is_file() else {"scans": documents, "failed": failed, "skipped": skipped}
    emit(document, as_json, lambda console: show_labels(console, documents, skipped))
    if failed:
        told = "; ".join(each["error"] for each in failed)
        raise ValueError(f"{len(failed)} of {len(pairs)} scans could not be labelled: {told}")
    return DONE


@dataclass(frozen=True)
class _Labelling:
    """What all scans of a command have in common."""

    model: SceneModel
    time_limit: float
    invalid: Literal["error", "drop"]
    classes: ClassMap | None
    segments: bool
    threads: int

    def run(self, source: Path, target: Path, columns: list[str] | None, say: Any) -> dict[str, Any]:
        """Label one scan; its summary."""
        from gapcut.scenes.clouds import check_labelled, read_cloud, write_labelled
        from gapcut.scenes.labelling.inventory import segment_table
        from gapcut.scenes.labelling.scene import Stopwatch

        clock = Stopwatch()
        clock.begin("reading")
        cloud = read_cloud(source, invalid=self.invalid, columns=columns)
        original = None
        if self.classes is not None and "label" not in cloud.added:
            original, cloud = cloud.labels, self.classes.ours(cloud)
        check_labelled(target, source, cloud)
        clock.begin(None)
        found = self.model.label(
            cloud, self.threads, self.time_limit, lambda step: say(f"{source.name}: {step}")
        )
        say(f"{source.name}: writing ...")
        clock.begin("writing")
        labelled = _with_original(found.on(cloud, self.model.names), original)
        options: dict[str, Any] = {"invalid": self.invalid, "columns": columns, "classes": self.classes}
        write_result(target, lambda path: write_labelled(path, source, labelled, **options))
        if self.segments:
            write_text(segments_path(target), segment_table(labelled))
        clock.begin(None)
        document = label_document(self.model, source, target, found, labelled, clock)
        write_text(summary_path(target), json_text(document))
        return document


def _with_original(labelled: PointCloud, labels: IntArray | None) -> PointCloud:
    """With the labels as they were before a file of classes, which may join several and leave out others."""
    if labels is None:
        return labelled
    extra = {**labelled.extra, "original": labels}
    return labelled.replace(extra=extra, added=(*labelled.added, "original"))


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


def _names_for(path: Path, scan: Path, columns: str | None) -> list[str] | None:
    """What ``--columns`` says about a file: in a folder it is about the text files."""
    from gapcut.scenes.clouds import is_text

    names = None if columns is None else columns.replace(",", " ").split()
    return names if is_text(path) or scan.is_file() else None


def _outputs(scan: Path, out: Path) -> tuple[list[tuple[Path, Path]], list[str]]:
    """Scans and where they go, and the files that are left out. A format that is not written becomes LAZ, with both
    endings where a scan of the folder has that name."""
    from gapcut.scenes.clouds import WRITABLE

    files, skipped = scan_files(scan)
    if scan.is_dir():
        if out.is_file():
            raise ValueError(f"{out} is a file, but {scan} is a folder: name a folder with --out")
        out.mkdir(parents=True, exist_ok=True)
        if out.resolve() == scan.resolve():
            raise ValueError(f"--out {out} is the folder of the scans itself: name another one")
        taken = {f.name.lower() for f in files}
        pairs = []
        for f in files:
            name = f.name if f.suffix.lower() in WRITABLE else f"{f.stem}.laz"
            pairs.append((f, out / (f"{f.name}.laz" if name != f.name and name.lower() in taken else name)))
        if len({target for _, target in pairs}) < len(pairs):
            raise ValueError(f"{scan}: two scans would be written to one name: rename one")
        return pairs, skipped
    if out.suffix.lower() not in WRITABLE:
        raise ValueError(f"--out {out}: labelled scans are written as {' '.join(WRITABLE)}")
    if out.exists() and out.resolve() == scan.resolve():
        raise ValueError(f"--out {out} is the scan itself: name another file")
    return [(scan, out)], skipped


def _channels(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    return () if parts == ("none",) else parts

"""``gapcut label``: from scans to labelled scans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from rich.console import Console

from gapcut.certificates import at_most
from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE, Interrupted
from gapcut.cli.file_queue import (
    Address,
    EngineOption,
    FileJob,
    FileResults,
    FileWork,
    do_files,
    engine_for,
    settings_digest,
)
from gapcut.cli.neighbours import Seams, lacking, show_lacking, wanted
from gapcut.cli.options import Jobs, Json
from gapcut.cli.outputs import (
    LABELLED_SCAN,
    REASONS,
    SEGMENTS,
    Force,
    Kind,
    check_outputs,
    kind_of_ending,
    reasons_path,
    segments_path,
    summary_path,
    write_result,
)
from gapcut.cli.progress import working
from gapcut.cli.scenes import columns_for, scan_files, show_skipped
from gapcut.cli.show import Cells, emit
from gapcut.cli.tiling import Tiling, label_in_tiles
from gapcut.digits import number, percent
from gapcut.engines import Engine, peak_memory_mb, thread_count
from gapcut.extras import needed
from gapcut.files import json_text, write_text

if TYPE_CHECKING:
    from gapcut.scenes.clouds import ClassMap, PointCloud
    from gapcut.scenes.labelling import LabelledScan, SceneModel
    from gapcut.scenes.labelling.scene import Stopwatch

SegmentFormat = Literal["csv", "gpkg", "dxf"]


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
    segments: SegmentFormat | None = None,
    tile: float | None = None,
    halo: float | None = None,
    neighbours: bool | None = None,
    engine: EngineOption = "threads",
    address: Address = None,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Label every point of a scan: label, confidence and segment are added to what the file holds.

    A summary with energy, proven bound and seconds by step is written beside the labelled scan (.run.json), and why
    each segment has its label, for gapcut report (.reasons). Of a folder, scans that are done are not done again, and
    one that fails stops no other.

    :param scan: Point cloud, or a folder of them.
    :param model: Model file made by gapcut scenes train.
    :param out: Labelled scan to write; where SCAN is a folder, a folder.
    :param time_limit: Seconds of inference a scan; the best labels then count.
    :param invalid: Points whose places are not finite: error, or drop them.
    :param columns: Names of the columns of a text file, as in x,y,z,red,green,blue,label; default: its header.
    :param classes: JSON file of the model's classes and the LAS classes to write, as for scenes train.
    :param segments: Write a table of the segments beside each labelled scan, too: .segments.csv, .gpkg or .dxf.
    :param tile: Metres: label square tiles of this size in --jobs processes; large LAS is cut unasked.
    :param halo: Metres around a tile that it sees; default: 170 voxels of the model.
    :param neighbours: Files of a folder that lie side by side see each other's points in halos; default: with tiles.
    """
    from gapcut.scenes.clouds import label_names_path
    from gapcut.scenes.labelling import SceneModel

    pairs, skipped = _outputs(scan, out)
    check_outputs(_writes(pairs, segments), [scan, model, classes], force)
    scene_model = SceneModel.load(model)
    jobs_of = [FileJob(s, t, columns_for(s, scan, columns), label_names_path(s)) for s, t in pairs]
    tiling = Tiling(tile, halo, thread_count(jobs))
    known = _checked_map(classes, scene_model)
    labelling = _Labelling(scene_model, time_limit, invalid, known, segments, model.absolute(), tiling)
    if scan.is_file():
        _check_alone(engine, address, neighbours)
        return _label_one(labelling, jobs_of[0], as_json)
    tiling.check()
    asked = {"time_limit": time_limit, "invalid": invalid, "segments": segments, "tile": tile, "halo": halo}
    with closing(engine_for(engine, jobs, address)) as workers:
        labelling = replace(labelling, tiling=tiling.among(workers, len(jobs_of)))
        settings = settings_digest([model, classes], command="label", **asked)
        found = _label_folder(workers, labelling, jobs_of, settings, neighbours)
    return _told(found, skipped, as_json)


def _label_folder(
    workers: Engine, labelling: _Labelling, jobs: list[FileJob], settings: str, neighbours: bool | None
) -> FileResults:
    """All files of a folder; what they see of each other is gathered before."""
    from gapcut.scenes.tiles import remove_strips

    seams = Seams.of(labelling.model, labelling.tiling, jobs[0].target.parent)
    if wanted(neighbours, labelling.tiling, jobs, labelling.model):
        jobs = seams.around(workers, jobs, labelling.invalid, labelling.classes)
    found = do_files(workers, labelling, jobs, settings)
    remove_strips(seams.folder)
    return found


def _told(found: FileResults, skipped: list[str], as_json: bool) -> int:
    """The exit code, after what is said of a folder."""
    lacked = lacking(found.documents)
    report = {"scans": found.documents, "before": found.before, "failed": found.failed, "skipped": skipped}
    emit({**report, "lacked": lacked}, as_json, lambda console: _show_labels(console, found, skipped))
    show_lacking(lacked)
    return found.code("scans could not be labelled")


def _check_alone(engine: str, address: str | None, neighbours: bool | None) -> None:
    """That nothing is asked of a single scan that only folders have."""
    if engine != "threads" or address is not None:
        raise ValueError("--engine and --address are for many scans: name a folder of them")
    if neighbours is not None:
        raise ValueError("--neighbours is for files side by side: name the folder that they are in")


def _checked_map(path: Path | None, model: SceneModel) -> ClassMap | None:
    from gapcut.scenes.clouds import ClassMap

    if path is None:
        return None
    found = ClassMap.read(path)
    found.check(model.names, path)
    return found


def _label_one(labelling: _Labelling, job: FileJob, as_json: bool) -> int:
    try:
        with working(f"{job.source.name}: reading ...") as status:
            document = labelling.run(job, status)
    except KeyboardInterrupt:
        from gapcut.scenes.tiles import scratch_path

        kept = scratch_path(job.target)
        if not kept.is_dir():
            raise
        raise Interrupted(
            f"interrupted: {kept} holds what is done; the same command goes on from there"
        ) from None
    emit(document, as_json, lambda console: _show_label(console, document))
    return DONE


def _writes(pairs: list[tuple[Path, Path]], segments: SegmentFormat | None) -> dict[Path, Kind]:
    """What is written of scans, and beside them. Raises ImportError where something that writes it is not there."""
    from gapcut.scenes.labelling.inventory import NEEDS

    if segments in NEEDS:
        needed(*NEEDS[segments], "gis")
    writes: dict[Path, Kind] = {}
    for _, target in pairs:
        summary = summary_path(target)
        writes |= {target: LABELLED_SCAN, summary: kind_of_ending(summary), reasons_path(target): REASONS}
        writes |= {segments_path(target, segments): SEGMENTS} if segments else {}
    return writes


@dataclass(frozen=True)
class _Labelling:
    """What all scans of a command have in common."""

    model: SceneModel
    time_limit: float
    invalid: Literal["error", "drop"]
    classes: ClassMap | None
    segments: SegmentFormat | None
    file: Path
    tiling: Tiling

    def __call__(self, job: FileJob) -> FileWork:
        document = self.run(job)
        listed = [segments_path(job.target, self.segments)] if self.segments else []
        return FileWork([job.target, summary_path(job.target), reasons_path(job.target), *listed], document)

    def run(self, job: FileJob, say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
        """Label one scan; its summary."""
        from gapcut.scenes.clouds import check_labelled, read_cloud, with_original, write_labelled
        from gapcut.scenes.labelling.inventory import Inventory
        from gapcut.scenes.labelling.scene import Stopwatch
        from gapcut.scenes.tiles import ScanFile

        source, target, columns = job.source, job.target, job.options
        how = self.tiling.options(source, self.model, job.around is not None)
        if how is not None:
            scan = ScanFile(source, self.invalid, columns, self.classes)
            with _known(target):
                document = label_in_tiles(
                    scan, target, self.model, self.file, how, self.time_limit, say, self.segments, job.around
                )
            write_text(summary_path(target), json_text(document))
            return document
        clock = Stopwatch()
        clock.begin("reading")
        cloud = read_cloud(source, invalid=self.invalid, columns=columns)
        original = None
        if self.classes is not None and "label" not in cloud.added:
            original, cloud = cloud.labels, self.classes.ours(cloud)
        check_labelled(target, source, cloud)
        clock.begin(None)
        found = self.model.label(
            cloud, self.tiling.jobs, self.time_limit, lambda step: say(f"{source.name}: {step}")
        )
        say(f"{source.name}: writing ...")
        clock.begin("writing")
        labelled = with_original(found.on(cloud, self.model.names), original)
        options: dict[str, Any] = {"invalid": self.invalid, "columns": columns, "classes": self.classes}
        with _known(target):
            write_result(target, lambda path: write_labelled(path, source, labelled, **options))
        found.reasons.save(reasons_path(target))
        if self.segments:
            Inventory.of(labelled).write(segments_path(target, self.segments), self.segments)
        clock.begin(None)
        document = _label_document(self.model, source, target, found, labelled, clock)
        write_text(summary_path(target), json_text(document))
        return document


@contextmanager
def _known(target: Path) -> Iterator[None]:
    """A scan that is written here is known as ours from its first moment on, by a summary that says nothing yet."""
    summary, before = summary_path(target), _state(target)
    new = not summary.exists()
    if new:
        write_text(summary, "{}\n")
    try:
        yield
    except BaseException:
        if new and _state(target) == before:
            summary.unlink(missing_ok=True)
        raise


def _state(path: Path) -> tuple[int, int] | None:
    """Other where a file was replaced."""
    if not path.exists():
        return None
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


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


def _label_document(
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


def _show_labels(console: Console, found: FileResults, skipped: list[str]) -> None:
    for document in found.documents:
        _show_label(console, document)
    if found.before:
        console.print(f"before      {found.before:,} of these scans were labelled before")
    show_skipped(console, skipped)


def _show_label(console: Console, document: dict[str, Any]) -> None:
    console.print(
        f"labelled    {counted(point=document['points'])} in {counted(segment=document['segments'])}, "
        f"{counted(edge=document['edges'])}"
    )
    total = document["points"]
    rows = [[name, n, percent(n / total)] for name, n in document["labels"].items()]
    console.print(Cells(["label", "points", "share"], rows))
    console.print(
        f"inference   {document['status']}, energy {at_most(document['energy'], 6)}, "
        f"proven gap {at_most(document['gap'], 3)}; "
        f"mean confidence {percent(document['confidence'])}"
    )
    if document["accuracy"] is not None:
        console.print(
            f"agreement   {percent(document['accuracy'])} of {counted(point=document['compared'])} that had a label "
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

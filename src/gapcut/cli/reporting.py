"""``gapcut report``: a page and pictures of a model or of labelled scans."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from gapcut.cli.exits import DONE
from gapcut.cli.options import Json
from gapcut.cli.outputs import Force, check_outputs, kind_of_ending, reasons_path, summary_path, write_result
from gapcut.cli.progress import working
from gapcut.cli.scenes import scan_files
from gapcut.cli.show import emit
from gapcut.files import ModelFileError
from gapcut.machine import Machine

if TYPE_CHECKING:
    from gapcut.report.run import RunScene
    from gapcut.scenes.clouds import PointCloud
    from gapcut.scenes.labelling.reasons import Reasons


def report(
    run: Path,
    /,
    *,
    model: Path | None = None,
    out: Path = Path("report"),
    title: str | None = None,
    points: int = 500_000,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write one HTML page that needs no network, and PNG pictures.

    Points in 3D with switches for truth, prediction, errors and segments; confusion matrix, weights, convergence,
    scenes with energies and gaps.

    :param run: A scan labelled by gapcut label, a folder of them, or a model file.
    :param model: Model whose weights and convergence are shown too.
    :param out: Folder for report.html and pictures.
    :param title: Title of the page.
    :param points: Points of a scene that the page shows at most.
    """
    from gapcut.report.run import write_report

    writes = [out / "report.html", *out.glob("*.png")]
    check_outputs({path: kind_of_ending(path) for path in writes}, [run, model], force, folder=out)
    if points < 1:
        raise ValueError(f"--points {points}: show at least one point")
    alone = run.is_file() and run.suffix == ".gapcut"
    with working("reading ...") as status:
        learner, names = load_learner(run if alone else model)
        scenes = [] if alone else read_scenes(run)
        about = (title or f"gapcut: {run.stem}", scenes, learner, names, points)
        files = write_result(out, lambda folder: write_report(folder, *about, say=status))
    emit({"files": files}, as_json, lambda console: console.print("\n".join(f"written  {f}" for f in files)))
    return DONE


def load_learner(path: Path | None) -> tuple[Machine | None, list[str] | None]:
    """The learner of a model of graphs or of scenes, and the names of a scene model's classes."""
    from gapcut.scenes.labelling import SceneModel

    if path is None:
        return None, None
    try:
        scenes = SceneModel.load(path)
    except ModelFileError:
        return Machine.load(path), None
    return scenes.learner, scenes.class_names


def read_scenes(run: Path) -> list[RunScene]:
    """The labelled scans of a file or folder. Raises ValueError where a scan carries no labels."""
    from gapcut.report.run import RunScene, read_summary
    from gapcut.scenes.clouds import read_cloud

    scenes = []
    for path in scan_files(run)[0]:
        cloud, beside = read_cloud(path, need_labels=True), reasons_path(path)
        reasons = _reasons_of(cloud, beside) if beside.is_file() else None
        scenes.append(RunScene(cloud, read_summary(summary_path(path)), reasons))
    return scenes


def _reasons_of(cloud: PointCloud, path: Path) -> Reasons | None:
    """Why segments have their labels, if it is said of these labels: some may have been corrected by hand since."""
    from gapcut.scenes.labelling.reasons import Reasons

    try:
        reasons = Reasons.load(path)
    except ModelFileError:
        warnings.warn(f"{path} is damaged: the page does not say why labels are as they are", stacklevel=2)
        return None
    if cloud.labels is None or cloud.segments is None or not reasons.fit(cloud.segments, cloud.labels):
        warnings.warn(
            f"{path} is of other labels than its scan has now: the page does not say why they are as they are",
            stacklevel=2,
        )
        return None
    return reasons

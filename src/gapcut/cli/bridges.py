"""``gapcut bridges``: models, scans, and the experiment on them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console

from gapcut.cli.bridges_tables import TABLES, Asked, described, table_files, write_table
from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE, NOT_CERTIFIED
from gapcut.cli.options import Certified, Flag, Json, option
from gapcut.cli.outputs import Force, check_outputs, kind_of_ending, report_files, write_result
from gapcut.cli.progress import WRITING, working
from gapcut.cli.show import Cells, emit

if TYPE_CHECKING:
    from gapcut.scenes.bridges import Bridge
    from gapcut.scenes.experiment import BridgeScan, ExperimentSettings, FoldResult

Count = Annotated[int, Parameter(help="Number of bridges; every five in a row are one of each type.")]
Seed = Annotated[int, Parameter(help="Seed of everything random.")]
Workers = Annotated[int, Parameter(name="--jobs", help="Processes over bridges, -1 for all cores.")]
Out = Annotated[Path, Parameter(help="Folder to write to.")]
Hard = Annotated[
    str,
    Parameter(
        name="--difficulty", help="plain, or field: with surroundings, hidden parts, a place on earth."
    ),
]

_SEVERAL = Parameter(
    consume_multiple=True, negative_iterable=""
)  # such as *.ifc, which a shell makes many words of

# With these, the table would be too wide for a terminal.
_ONLY_IN_FILES = ("macro precision", "macro recall", "graphs proven", "train CPU s")

BRIDGES = App(
    name="bridges", help="Bridges with known parts: models, laser scans, and the experiment on them."
)


@BRIDGES.command
def make(
    *,
    out: Out = Path("bridges"),
    n: Count = 25,
    seed: Seed = 0,
    difficulty: Hard = "plain",
    jobs: Workers = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write n bridges as GLB and PLY, and as IFC where ifcopenshell is installed."""
    _check_difficulty(difficulty)
    folder = _folder(out, _names(n, "glb", "ply", "ifc"), force)
    made = _parallel(_make, [(i, seed, difficulty, folder) for i in _numbers(n)], jobs, "building")
    written = [file for files in made for file in files]
    emit({"files": written}, as_json, lambda console: _written(console, written))
    return DONE


@BRIDGES.command
def scan(
    *,
    out: Out = Path("scans"),
    n: Count = 25,
    seed: Seed = 0,
    difficulty: Hard = "plain",
    form: Annotated[str, Parameter(name="--format")] = "npz",
    quick: Flag = False,
    ifc: Annotated[list[Path] | None, _SEVERAL] = None,
    class_map: Annotated[list[str] | None, _SEVERAL, Parameter(name="--map")] = None,
    jobs: Workers = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Scan n bridges and write labelled clouds: classes, part ids (segments), station and intensity.

    With --ifc: bridges of yours. Elements without a class are named and left out; flat ground is put under a bridge
    that has none.

    :param form: npz, las, laz, ply, pcd or xyz.
    :param quick: Coarse scans.
    :param ifc: Scan bridges from IFC files of yours instead: one or more.
    :param class_map: Classes of IFC elements, as in IfcPlate/SHEET=deck: one or more.
    """
    from gapcut.scenes.clouds import WRITABLE

    if f".{form}" not in WRITABLE:
        raise ValueError(f"--format {form}: use one of {', '.join(e.lstrip('.') for e in WRITABLE)}")
    names = _scan_names(ifc, form) if ifc else _names(n, form)
    _check_difficulty(difficulty)
    if ifc and difficulty != "plain":
        raise ValueError(f"--difficulty {difficulty} is for generated bridges: leave it out with --ifc")
    folder = _folder(out, names, force, ifc or ())
    if ifc:
        classes = _class_map(class_map or [])
        tasks = [(path, classes, seed, quick, form, folder) for path in ifc]
        scanned = _parallel(_scan_ifc, tasks, jobs, "scanning")
    else:
        made = [(i, seed, difficulty, quick, form, folder) for i in _numbers(n)]
        scanned = _parallel(_scan, made, jobs, "scanning")
    emit({"scans": scanned}, as_json, lambda console: _show_scans(console, scanned))
    return DONE


@BRIDGES.command
def reproduce(
    *,
    out: Out = Path("bridge-report"),
    seed: Seed = 0,
    difficulty: Hard = "plain",
    quick: Flag = False,
    features: str = "shot",
    paper_edges: Flag = False,
    paper: Flag = False,
    triples: Flag = False,
    grown: Flag = False,
    limit: float = 30.0,
    C: Annotated[float | None, option("C")] = None,
    cache: Path | None = None,
    graphs: Flag = False,
    jobs: Workers = -1,
    certified: Certified = False,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Bridges, scans, forest, graphs, certified learning, labels with bounds: a table and a page of all folds.

    :param quick: One fold of coarse scans: 10 bridges to train, 5 to test.
    :param features: What forests see of points: shot (as in the paper), shape (with heights), or both.
    :param paper_edges: Only three edge features, as in the paper.
    :param paper: The paper's own features instead, beside its competitors and what each of ours adds: a table.
    :param triples: Terms over three parts beside pairs alone instead: a table.
    :param grown: Segments grown from the points beside true parts instead: a table.
    :param limit: CPU seconds of each fit with --paper, --triples or --grown.
    :param cache: Folder for scans, descriptions and forests; default: OUT/cache.
    :param graphs: Also write every fold's graphs, for other commands.
    """
    from gapcut.scenes.experiment.settings import PAPER_EDGES, VIEWS, ExperimentSettings

    _check_difficulty(difficulty)
    settings = (ExperimentSettings.quick() if quick else ExperimentSettings()).of_difficulty(difficulty)
    if features not in VIEWS:
        raise ValueError(f"--features {features}: use one of {', '.join(VIEWS)}")
    scene = replace(settings.scene, points=VIEWS[features])
    if paper_edges:
        scene = replace(scene, edges=PAPER_EDGES)
    learning = settings.training
    training = replace(learning, C=learning.C if C is None else C, seed=seed, n_jobs=_workers(jobs))
    settings = replace(settings, scene=scene, training=training)
    if wanted := [name for name, asked in zip(TABLES, (paper, triples, grown), strict=True) if asked]:
        if len(wanted) > 1 or graphs or (not grown and (paper_edges or features != "shot")):
            raise ValueError(
                f"--{wanted[0]} sets features itself and writes no graphs: leave out the other options"
            )
        folder = _folder(out, table_files(wanted[0]), force)
        return write_table(wanted[0], folder, Asked(settings, cache or folder / "cache", limit), as_json)
    folder = _folder(out, [path.name for path in report_files(out)], force)
    document, results = experiment(folder, settings, cache or folder / "cache", graphs)
    emit(document, as_json, lambda console: show_experiment(console, results, document["files"]))
    open_ = any(r.certificate.status != "certified" for r in results)
    return NOT_CERTIFIED if certified and open_ else DONE


def experiment(
    folder: Path, settings: ExperimentSettings, cache: Path, graphs: bool = False, pictures: int = 5
) -> tuple[dict[str, Any], list[FoldResult]]:
    """Run everything and write the report; the result as a document and as folds."""
    from gapcut.scenes.experiment import run_experiment

    seed = settings.training.seed
    with working(f"scanning bridges, {settings.training.n_jobs} at a time ...") as status:
        start = time.monotonic()
        bridges = described(settings, cache, status)
        made = time.monotonic() - start
        results = run_experiment(bridges, settings, cache, status)
    with working(WRITING):
        document, files = write_result(
            folder, lambda place: _write(place, bridges, results, settings, pictures, graphs)
        )
    return {**document, "scan_seconds": made, "seed": seed, "files": files}, results


def _write(
    folder: Path,
    bridges: Sequence[BridgeScan],
    results: Sequence[FoldResult],
    settings: ExperimentSettings,
    pictures: int,
    graphs: bool,
) -> tuple[dict[str, Any], list[str]]:
    from gapcut.report.bridges import write_graphs, write_report

    folder.mkdir(parents=True, exist_ok=True)
    seed = settings.training.seed
    document, files = write_report(folder, bridges, results, seed, pictures, settings.difficulty)
    return document, files + (write_graphs(folder, results) if graphs else [])


def show_experiment(console: Console, results: list[FoldResult], files: list[str]) -> None:
    """The table of the folds, one sentence, and where to look."""
    from gapcut.scenes.experiment import headline, tables

    shown = [i for i, name in enumerate(tables.COLUMNS) if name not in _ONLY_IN_FILES]
    rows = [[row[i] for i in shown] for row in tables.shown_rows(results)]
    console.print(Cells([tables.COLUMNS[i] for i in shown], rows))
    console.print(headline(results))
    console.print("")
    _written(console, files)


def _written(console: Console, files: list[str]) -> None:
    for file in files:
        console.print(f"written  {file}")


def _make(number: int, seed: int, difficulty: str, out: Path) -> list[str]:
    from gapcut.scenes.bridges import write_glb, write_ifc, write_ply
    from gapcut.scenes.bridges.make import numbered_bridge

    bridge = numbered_bridge(number, seed, difficulty)
    writers: dict[str, Callable[[Bridge, Path], None]] = {"glb": write_glb, "ply": write_ply}
    if find_spec("ifcopenshell") is not None:
        writers["ifc"] = write_ifc
    files = {out / f"{bridge.name}.{ending}": write for ending, write in writers.items()}
    for path, write in files.items():
        write(bridge, path)
    return [str(path) for path in files]


def _scan(number: int, seed: int, difficulty: str, quick: bool, form: str, out: Path) -> dict[str, Any]:
    from gapcut.scenes.bridges.make import numbered_bridge

    return _write_scan(numbered_bridge(number, seed, difficulty), seed, quick, out, form, difficulty)


def _scan_ifc(
    path: Path, classes: dict[str, str], seed: int, quick: bool, form: str, out: Path
) -> dict[str, Any]:
    from gapcut.scenes.bridges import read_ifc
    from gapcut.scenes.bridges.site import ready_to_scan

    found = read_ifc(path, classes)
    bridge = ready_to_scan(replace(found.bridge, name=path.stem))
    document = _write_scan(bridge, seed, quick, out, form)
    return {**document, "left_out": found.report()}


def _write_scan(
    bridge: Bridge, seed: int, quick: bool, out: Path, form: str, difficulty: str = "plain"
) -> dict[str, Any]:
    """The file has places on earth."""
    from gapcut.scenes.clouds import write_cloud
    from gapcut.scenes.experiment import ExperimentSettings
    from gapcut.scenes.experiment.scans import scan_cloud
    from gapcut.scenes.scanner import scan_bridge

    settings = (ExperimentSettings.quick() if quick else ExperimentSettings()).of_difficulty(difficulty)
    found = scan_bridge(bridge, seed, settings.scanner)
    path = out / f"{found.name}.{form}"
    write_cloud(path, scan_cloud(found))
    unseen = {label: left for label, (left, _) in found.unseen_by_class(bridge).items() if left}
    return {
        "file": str(path),
        "points": found.n_points,
        "parts": bridge.n_parts,
        "stations": len(found.stations),
        "parts_unseen": unseen,
    }


def _check_difficulty(name: str) -> None:
    """Raises ValueError for one that there is none of."""
    from gapcut.scenes.bridges.difficulty import DIFFICULTIES

    if name not in DIFFICULTIES:
        raise ValueError(f"--difficulty {name}: use one of {', '.join(DIFFICULTIES)}")


def _scan_names(models: list[Path], form: str) -> list[str]:
    """A file for each model, called like it. Raises ValueError where two would be one file."""
    names: dict[str, Path] = {}
    for path in models:
        name = f"{path.stem}.{form}"
        if name in names:
            raise ValueError(
                f"--ifc {names[name]} and {path} would both be written to {name}: rename one of them"
            )
        names[name] = path
    return list(names)


def _class_map(entries: list[str]) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in entries]
    for entry, (element, _, label) in zip(entries, pairs, strict=True):
        if not element or not label:
            raise ValueError(f"--map {entry}: write an IFC element and a class, as in IfcPlate/SHEET=deck")
    return {element: label for element, _, label in pairs}


def _show_scans(console: Console, scans: list[dict[str, Any]]) -> None:
    for scan in scans:
        unseen = ", ".join(f"{n} {label}" for label, n in scan["parts_unseen"].items())
        console.print(
            f"written  {scan['file']}: {counted(point=scan['points'])} of {counted(part=scan['parts'])} from "
            f"{counted(station=scan['stations'])}" + (f"; not seen: {unseen}" if unseen else "")
        )
        if scan.get("left_out"):
            console.print(f"left out {scan['left_out']}")


def _parallel(work, tasks, jobs: int, task: str) -> list:  # type: ignore[no-untyped-def,type-arg]
    from gapcut.scenes.experiment.scans import run_parallel

    with working(f"{task} ...") as status:
        return run_parallel(
            work, tasks, _workers(jobs), lambda done, of: status(f"{task}: {done} of {of} bridges")
        )


def _numbers(n: int) -> range:
    if n < 1:
        raise ValueError(f"--n {n}: ask for at least one bridge")
    return range(n)


def _workers(jobs: int) -> int:
    if jobs == 0 or jobs < -1:
        raise ValueError(f"--jobs {jobs}: give a number of processes, or -1 for all cores")
    return (os.cpu_count() or 1) if jobs == -1 else jobs


def _names(n: int, *endings: str) -> list[str]:
    from gapcut.scenes.bridges import bridge_specs

    return [f"{kind}-{variant}.{ending}" for kind, variant in bridge_specs(n) for ending in endings]


def _folder(out: Path, names: Sequence[str], force: bool, reads: Sequence[Path] = ()) -> Path:
    """The folder, made; files of these names in it are what they should be."""
    check_outputs({out / name: kind_of_ending(out / name) for name in names}, reads, force, folder=out)
    out.mkdir(parents=True, exist_ok=True)
    return out

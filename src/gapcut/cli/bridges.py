"""``gapcut bridges``: models, scans, and the experiment on them."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from cyclopts import App, Parameter
from rich.console import Console

from gapcut.cli.exits import DONE, NOT_CERTIFIED
from gapcut.cli.options import Certified, Json
from gapcut.cli.show import emit, plain, table, working
from gapcut.files import write_atomically

if TYPE_CHECKING:
    from gapcut.scenes.experiment import DescribedBridge, FoldResult

Count = Annotated[
    int, Parameter(name="--n", help="Number of bridges; every five in a row are one of each type.")
]
Seed = Annotated[int, Parameter(name="--seed", help="Seed of everything random.")]
Workers = Annotated[int, Parameter(name="--jobs", help="Processes over bridges, -1 for all cores.")]
Out = Annotated[Path, Parameter(name="--out", help="Folder to write to.")]

BRIDGES = App(
    name="bridges", help="Bridges with known parts: models, laser scans, and the experiment on them."
)


@BRIDGES.command
def make(
    *, out: Out = Path("bridges"), n: Count = 25, seed: Seed = 0, jobs: Workers = -1, as_json: Json = False
) -> int:
    """Write n bridges as GLB and PLY, and as IFC where ifcopenshell is installed."""
    written = _parallel(_make, [(i, seed, _folder(out)) for i in _numbers(n)], jobs, "building")
    emit({"files": written}, as_json, lambda console: _written(console, written))
    return DONE


@BRIDGES.command
def scan(
    *,
    out: Out = Path("scans"),
    n: Count = 25,
    seed: Seed = 0,
    form: Annotated[str, Parameter(name="--format", help="npz, las, laz, ply, pcd or xyz.")] = "npz",
    quick: Annotated[bool, Parameter(name="--quick", negative="", help="Coarse scans.")] = False,
    jobs: Workers = -1,
    as_json: Json = False,
) -> int:
    """Scan n bridges and write labelled clouds: classes, part ids (segments), station and intensity."""
    from gapcut.scenes.clouds import WRITABLE

    if f".{form}" not in WRITABLE:
        raise ValueError(f"--format {form}: use one of {', '.join(e.lstrip('.') for e in WRITABLE)}")
    written = _parallel(_scan, [(i, seed, quick, form, _folder(out)) for i in _numbers(n)], jobs, "scanning")
    files = [file for group in written for file in group]
    emit({"files": files}, as_json, lambda console: _written(console, files))
    return DONE


@BRIDGES.command
def reproduce(
    *,
    out: Out = Path("bridge-report"),
    seed: Seed = 0,
    quick: Annotated[
        bool,
        Parameter(
            name="--quick", negative="", help="One fold of coarse scans: 5 bridges to train, 3 to test."
        ),
    ] = False,
    extra: Annotated[
        bool, Parameter(name="--extra", negative="", help="Six more edge features than the paper has.")
    ] = False,
    C: Annotated[float, Parameter(name="--C", help="Trade-off between training loss and 1/2 |w|^2.")] = 1.0,
    cache: Annotated[
        Path | None, Parameter(name="--cache", help="Folder for described scans; default: OUT/cache.")
    ] = None,
    jobs: Workers = -1,
    certified: Certified = False,
    as_json: Json = False,
) -> int:
    """Bridges, scans, forest, graphs, certified learning, labels with bounds: a table and a page of all folds."""
    from dataclasses import replace

    from gapcut.scenes.experiment import (
        ExperimentSettings,
        describe_bridges,
        markdown_table,
        result_document,
        run_experiment,
    )

    settings = replace(ExperimentSettings.quick() if quick else ExperimentSettings(), extra=extra, C=C)
    folder, workers = _folder(out), _workers(jobs)
    with working("scanning bridges ...") as status:
        bridges = describe_bridges(
            settings,
            seed,
            cache or folder / "cache",
            workers,
            lambda done, of: status(f"scanned and described {done} of {of} bridges"),
        )
        results = run_experiment(bridges, settings, seed, workers, status)
    document = plain(result_document(results))
    files = {"results.md": markdown_table(results), "results.json": json.dumps(document, indent=2)}
    for name, text in files.items():
        write_atomically(folder / name, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
    _page(folder / "report.html", bridges, results)
    document["parts_unseen"] = {b.name: len(b.unseen) for b in bridges}
    document["files"] = [str(folder / name) for name in (*files, "report.html")]

    emit(
        document,
        as_json,
        lambda console: _show(console, results, document["files"]),
    )
    open_ = any(r.certificate.status != "certified" for r in results)
    return NOT_CERTIFIED if certified and open_ else DONE


def _show(console: Console, results: list[FoldResult], files: list[str]) -> None:
    from gapcut.scenes.experiment.tables import COLUMNS, shown_rows

    console.print(table(COLUMNS, shown_rows(results)))
    _written(console, files)


def _written(console: Console, files: list[str]) -> None:
    for file in files:
        console.print(f"written  {file}")


def _page(path: Path, bridges: list[DescribedBridge], results: list[FoldResult]) -> None:
    """Truth, prediction and errors of the test bridges of the first fold, and the table."""
    from gapcut.report.page import PageTable, write_page
    from gapcut.report.scene_view import SceneView
    from gapcut.scenes.bridges import CLASSES
    from gapcut.scenes.experiment.tables import COLUMNS, shown_rows

    scenes = []
    for number, solution in zip(results[0].test, results[0].solutions, strict=True):
        bridge = bridges[number]
        solid = bridge.point_node >= 0
        node = bridge.point_node[solid]
        guess = np.array([CLASSES.index(str(label)) for label in solution.labels])
        layers = {"truth": bridge.label[node], "prediction": guess[node], "segments": node}
        scenes.append(
            SceneView(bridge.name, bridge.xyz[solid].astype(np.float64), layers, dict(enumerate(CLASSES)))
        )
    write_page(
        path,
        "Bridges: labelled parts of laser scans",
        scenes,
        tables=[PageTable("Folds", COLUMNS, shown_rows(results))],
        notes=["The paper's bridges were never published: its row is from another data set."],
    )


def _make(number: int, seed: int, out: Path) -> str:
    from gapcut.scenes.bridges import bridge_specs, make_bridge, write_glb, write_ifc, write_ply

    kind, variant = bridge_specs(number + 1)[number]
    bridge = make_bridge(kind, seed, variant)
    write_glb(bridge, out / f"{bridge.name}.glb")
    write_ply(bridge, out / f"{bridge.name}.ply")
    if find_spec("ifcopenshell") is not None:
        write_ifc(bridge, out / f"{bridge.name}.ifc")
    return str(out / f"{bridge.name}.glb")


def _scan(number: int, seed: int, quick: bool, form: str, out: Path) -> list[str]:
    from gapcut.scenes.bridges import CLASSES
    from gapcut.scenes.clouds import PointCloud, write_cloud
    from gapcut.scenes.experiment import ExperimentSettings
    from gapcut.scenes.experiment.described import scan_number

    settings = ExperimentSettings.quick() if quick else ExperimentSettings()
    found = scan_number(number, seed, settings.scanner)
    cloud = PointCloud(
        found.xyz,
        labels=found.label,
        label_names=dict(enumerate(CLASSES)),
        segments=found.part,
        intensity=found.intensity,
        extra={"station": found.station.astype(np.int32)},
        name=found.name,
    )
    path = out / f"{found.name}.{form}"
    write_cloud(path, cloud)
    return [str(path)]


def _parallel(work, tasks, jobs: int, task: str) -> list:  # type: ignore[no-untyped-def,type-arg]
    from gapcut.scenes.experiment.described import run_parallel

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


def _folder(out: Path) -> Path:
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is not a folder: name another with --out")
    out.mkdir(parents=True, exist_ok=True)
    return out


COMMANDS = (BRIDGES,)

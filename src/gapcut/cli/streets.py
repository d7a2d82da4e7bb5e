"""``gapcut scenes streets``: labelled streets of a public set, for ``gapcut scenes train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from rich.console import Console

from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE
from gapcut.cli.options import Flag, Json
from gapcut.cli.outputs import Force, check_outputs, kind_of_ending
from gapcut.cli.progress import working
from gapcut.cli.show import Cells, emit

if TYPE_CHECKING:
    from gapcut.scenes.clouds import PointCloud

LICENCE = (
    "no licence is stated for these scans: ask their authors before you give them, or a model of them, on"
)


def streets(
    root: Path | None = None,
    /,
    *,
    out: Path,
    part: Literal["all", "2", "3"] = "all",
    others: Flag = False,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write labelled streets (Oakland 3-D, from a car) to learn from: LAZ in the classes of a street model.

    Classes: ground, vegetation, building, wire, pole, vehicle. Then: gapcut scenes train OUT --out street.gapcut.
    Without ROOT, the scans are fetched from their public home (32 MB), checked and kept.

    :param root: Folder that holds the set's files, oakland_part2_ac.xyz_label_conf and others.
    :param out: Folder for the labelled scans; made if absent.
    :param part: Scans to take: those of part 2 (ten), of part 3 (two; no model of part 2 has seen them), or all.
    :param others: Keep what is none of the six (signs, fences, people) as a seventh class; else it has no label.
    """
    from gapcut.scenes.clouds import write_cloud
    from gapcut.scenes.datasets.streets import STREETS, load_streets

    wanted = tuple(s for s in STREETS if part == "all" or s.name.startswith(f"oakland_part{part}_"))
    paths = [out / f"{source.name.partition('.')[0]}.laz" for source in wanted]
    reads = () if root is None or not root.is_dir() else (root,)
    check_outputs({path: kind_of_ending(path) for path in paths}, reads, force, folder=out)
    with working("reading scans ...") as status:
        clouds = load_streets(root, others=others, sources=wanted, say=status)
        out.mkdir(parents=True, exist_ok=True)
        for path, cloud in zip(paths, clouds, strict=True):
            status(f"writing {path} ...")
            write_cloud(path, cloud)
    document = _document(clouds, paths)
    emit(document, as_json, lambda console: _show(console, document, out))
    return DONE


def _document(clouds: list[PointCloud], paths: list[Path]) -> dict[str, Any]:
    names = clouds[0].label_names
    counts = np.zeros(len(names) + 1, dtype=np.int64)
    for cloud in clouds:
        if cloud.labels is not None:
            counts += np.bincount(cloud.labels + 1, minlength=len(counts))
    return {
        "scans": [{"path": str(p), "points": c.n_points} for p, c in zip(paths, clouds, strict=True)],
        "points": {name: int(counts[number + 1]) for number, name in names.items()},
        "unlabelled": int(counts[0]),
        "licence": LICENCE,
    }


def _show(console: Console, document: dict[str, Any], out: Path) -> None:
    console.print(f"written       {counted(scan=len(document['scans']))} to {out}")
    rows = [*document["points"].items(), ("unlabelled", document["unlabelled"])]
    console.print(Cells(["class", "points"], rows))
    console.print(f"licence       {document['licence']}")
    console.print(f"next          gapcut scenes train {out} --out street.gapcut")

"""``gapcut label`` of a folder: which files adjoin, what that needs, and the strips that they see of each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gapcut.cli.exits import Interrupted
from gapcut.cli.file_queue import LEDGER, FileJob
from gapcut.cli.progress import working
from gapcut.cli.tiling import MOST_AT_ONCE, Tiling
from gapcut.digits import percent
from gapcut.engines import Engine
from gapcut.files import Ledger

if TYPE_CHECKING:
    from gapcut.scenes.clouds import ClassMap
    from gapcut.scenes.labelling import SceneModel
    from gapcut.scenes.tiles import Extent, Neighbour, ScanFile, SideBySide


@dataclass(frozen=True)
class Seams:
    """How files of a folder see each other: ``halo`` in metres, ``voxel`` and ``channels`` of the model; ``folder`` of
    the strips between them."""

    halo: float
    voxel: float
    channels: tuple[str, ...]
    folder: Path

    @classmethod
    def of(cls, model: SceneModel, tiling: Tiling, out: Path) -> Seams:
        from gapcut.scenes.tiles import FOLDER, HALO

        voxel = model.settings.lengths["voxel"]
        return cls(tiling.halo or HALO * voxel, voxel, model.channels, out.absolute() / FOLDER)

    def around(
        self,
        engine: Engine,
        jobs: Sequence[FileJob],
        invalid: Literal["error", "drop"],
        classes: ClassMap | None,
    ) -> list[FileJob]:
        """The jobs, with what each file sees of others, and the strips of all that are left to do."""
        from gapcut.scenes.tiles import Around, Neighbour, ScanFile, look, side_by_side

        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(
                f"{self.folder} is a file, but what scans see of each other is kept in a folder of this name: "
                "remove it, name another folder for --out or add --no-neighbours"
            )
        scans = [ScanFile(job.absolute().source, invalid, job.options, classes) for job in jobs]
        extents = _each(engine, look, scans, "files looked at")
        beside = side_by_side(extents, self.halo, self.voxel)
        files = [
            None if extent is None else Neighbour(s, extent) for s, extent in zip(scans, extents, strict=True)
        ]
        found = []
        for job, own, others, shift in zip(jobs, files, beside.neighbours, beside.shift, strict=True):
            seen = tuple(n for i in others if (n := files[i]) is not None)
            around = Around(own, seen, self.halo, shift, self.folder) if own is not None and seen else None
            found.append(replace(job, around=around))
        self._tell(engine, scans, extents, beside)
        self._leave_strips(engine, found)
        return found

    def _leave_strips(self, engine: Engine, jobs: Sequence[FileJob]) -> None:
        """Those that files which are not done will ask for; a file that asks for others leaves them itself."""
        from gapcut.scenes.tiles import forget_refused

        forget_refused(self.folder)
        ledger = Ledger(jobs[0].target.parent / LEDGER)
        asked: dict[Path, tuple[Neighbour, list[Neighbour]]] = {}
        for job in jobs:
            known = ledger.get(job.target)
            done = known is not None and job.target.exists() and known.document.get("neighbours") is not None
            for neighbour in job.around.neighbours if job.around is not None and not done else ():
                asked.setdefault(neighbour.scan.path, (neighbour, []))[1].append(job.around.own)
        if asked:
            work = partial(_leave, self.folder, self.halo, self.channels)
            _each(engine, work, list(asked.values()), "files read for their neighbours")

    def _tell(
        self, engine: Engine, scans: Sequence[ScanFile], extents: Sequence[Extent | None], beside: SideBySide
    ) -> None:
        from gapcut.scenes.tiles import Needs, overlap_points

        own, seen = [], []
        for extent, others in zip(extents, beside.neighbours, strict=True):
            if extent is not None and others:
                near = [e for i in others if (e := extents[i]) is not None]
                own.append(extent.points)
                seen.append(sum(overlap_points(extent.box, e, self.halo) for e in near))
        lines = []
        if own:
            both = [a + b for a, b in zip(own, seen, strict=True)]
            memory, disk = Needs.of_a_file(max(both), engine.threads)
            at_once = min(engine.at_once, len(own))
            lines.append(
                f"{len(own):,} of {len(scans):,} files adjoin others: their halos of {self.halo:.4g} m see them; "
                f"about {sum(seen):,} points ({percent(sum(seen) / sum(own), 0)}) are worked on twice, each file is "
                f"read once more; at most {at_once * memory:,.0f} MB of memory for {at_once:,} at a time, "
                f"{at_once * disk + Needs.of_strips(sum(seen), len(self.channels)):,.0f} MB of disk"
            )
        for i, j in beside.apart:
            names = f"{scans[i].path.name} and {scans[j].path.name}"
            lines.append(
                f"{names} lie side by side but state other coordinate systems: neither sees the other"
            )
        if lines:
            print("\n".join(lines), file=sys.stderr, flush=True)


def wanted(asked: bool | None, tiling: Tiling, jobs: Sequence[FileJob], model: SceneModel) -> bool:
    """Whether files of a folder see their neighbours: as it is ``asked``, else where tiles are asked for or a file is
    so large that it is cut into tiles unasked."""
    if asked is not None:
        return asked
    if model.settings.segments == "given":
        return False
    from gapcut.scenes.clouds.las import announced_points

    return tiling.check() or any((announced_points(job.source) or 0) > MOST_AT_ONCE for job in jobs)


def lacking(documents: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Scans that were labelled without the points of a neighbour, and why."""
    return [
        {"scan": each["scan"], "neighbour": name, "reason": reason}
        for each in documents
        for name, reason in (each.get("neighbours") or {}).get("lacked", {}).items()
    ]


def show_lacking(found: Sequence[dict[str, str]]) -> None:
    """On standard error, a line each."""
    if found:
        n = len({each["scan"] for each in found})
        print(
            f"gapcut: {n} scans were labelled without points of a neighbour, so seams may show:",
            file=sys.stderr,
        )
    for each in found:
        print(f"gapcut: {each['scan']}: without {each['neighbour']} ({each['reason']})", file=sys.stderr)


def _leave(
    folder: Path, halo: float, channels: tuple[str, ...], asked: tuple[Neighbour, list[Neighbour]]
) -> bool:
    from gapcut.scenes.tiles import leave_strips

    leave_strips(folder, asked[0], asked[1], halo, channels)
    return True


def _each(engine: Engine, work: Callable[[Any], Any], items: Sequence[Any], what: str) -> list[Any]:
    """Results in the order of the items, None where there was an error: the work that needs the file will say it."""
    found: list[Any] = [None] * len(items)
    with working(f"{len(items):,} {what} ...") as say, closing(engine.map(work, items)) as outcomes:
        try:
            for count, outcome in enumerate(outcomes, 1):
                found[outcome.index] = outcome.result
                say(f"{count:,} of {len(items):,} {what}")
        except KeyboardInterrupt:
            raise Interrupted(
                "interrupted before the first file was labelled; the same command goes on"
            ) from None
    return found

"""``gapcut label`` of large scans, tile by tile: when, what is told before, and the summary."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapcut.cli.counts import counted
from gapcut.cli.outputs import reasons_path, segments_path
from gapcut.engines import SHARE, Engine, free_bytes, peak_memory_mb

if TYPE_CHECKING:
    from gapcut.scenes.labelling import SceneModel
    from gapcut.scenes.labelling.inventory import Kind
    from gapcut.scenes.labelling.scene import Say
    from gapcut.scenes.tiles import Around, Needs, ScanFile, TiledScan, TileOptions

MOST_AT_ONCE = 5_000_000
"""Points of a LAS or LAZ file from which on it is cut into tiles unasked."""
_WHOLE_BYTES_A_POINT = 600


def whole_bytes(at_once: int) -> float:
    """What each of so many scans at work may take if it is labelled whole, of the memory that is free now."""
    return SHARE * free_bytes() / max(1, at_once)


@dataclass(frozen=True)
class Tiling:
    """What ``--tile`` and ``--halo`` ask for (None: nothing), and the number of processes. ``whole``: bytes that a scan
    may take if it is labelled whole (None: as if it were the only one, when its turn comes)."""

    tile: float | None
    halo: float | None
    jobs: int
    whole: float | None = None

    def check(self) -> bool:
        """Whether tiles are asked for. Raises ValueError for sizes that are none."""
        from gapcut.scenes.tiles import TileOptions

        TileOptions(self.tile, self.halo, self.jobs)
        return self.tile is not None or self.halo is not None

    def among(self, workers: Engine, scans: int) -> Tiling:
        """For so many scans: all that are at work at once here share the memory; other machines ask for theirs."""
        whole = None if workers.elsewhere else whole_bytes(min(workers.at_once, scans))
        return replace(self, jobs=workers.threads, whole=whole)

    def options(self, source: Path, model: SceneModel, adjoins: bool = False) -> TileOptions | None:
        """How to cut a file into tiles; None, to label it whole, where nothing asks for tiles and it is small. One that
        ``adjoins`` others is always cut: only tiles see them."""
        from gapcut.scenes.clouds.las import announced_points
        from gapcut.scenes.tiles import TileOptions

        asked = self.check()
        n = announced_points(source) or 0
        most = whole_bytes(1) if self.whole is None else self.whole
        large = n > MOST_AT_ONCE or n * _WHOLE_BYTES_A_POINT > most
        if not (asked or adjoins or (large and model.settings.segments == "grown")):
            return None
        return TileOptions(self.tile, self.halo, self.jobs, most / 2)


def label_in_tiles(
    scan: ScanFile,
    target: Path,
    model: SceneModel,
    model_file: Path,
    how: TileOptions,
    limit: float,
    say: Say,
    segments: Kind | None = None,
    around: Around | None = None,
) -> dict[str, Any]:
    """Label a file tile by tile, with a table of its ``segments`` if one is asked for; ``around``: the files beside it.
    Its summary. After Ctrl-C what is found stays for another run."""
    from gapcut.scenes.tiles import label_tiled

    def announce(needs: Needs) -> None:
        print(f"{scan.path.name}: {told(needs, how)}", file=sys.stderr, flush=True)

    found = label_tiled(
        target,
        scan,
        model_file,
        how,
        time_limit=limit,
        say=lambda step: say(f"{scan.path.name}: {step}"),
        announce=announce,
        listed=segments is not None,
        around=around,
    )
    if segments is not None and found.inventory is not None:
        found.inventory.write(segments_path(target, segments), segments)
    found.reasons.save(reasons_path(target))
    document = _document(found, scan.path, target, model)
    if around is not None and found.outside is not None:
        seen = [n.scan.path.name for n in around.neighbours if n.scan.path.name not in found.outside.lacked]
        document["neighbours"] = {
            "seen": seen,
            "points": found.outside.n_points,
            "lacked": found.outside.lacked,
        }
    return document


def told(needs: Needs, how: TileOptions) -> str:
    """What a scan needs, in one line."""
    from gapcut.scenes.tiles import spelled

    return (
        f"{counted(point=needs.points)} in {needs.tiles:,} tiles of {needs.size:.4g} m, at most {needs.most:,} with "
        f"its halo; about {needs.memory_mb:,.0f} MB of memory in {how.jobs} processes, {needs.disk_mb:,.0f} MB of "
        f"disk, {spelled(needs.seconds / how.jobs)}"
    )


def _document(found: TiledScan, source: Path, target: Path, model: SceneModel) -> dict[str, Any]:
    """As of a scan that was labelled whole, and ``tiles``: what it was thought to need."""
    solution, labelled = found.solution, found.found
    return {
        "scan": str(source),
        "out": str(target),
        "points": sum(labelled.counts.values()),
        "kept": found.n_kept,
        "segments": found.n_segments,
        "edges": found.n_edges,
        "labels": {model.names.get(k, str(k)): count for k, count in labelled.counts.items()},
        "confidence": labelled.confidence,
        "energy": solution.energy,
        "bound": solution.bound,
        "gap": solution.gap,
        "status": solution.status,
        "accuracy": labelled.agreement,
        "compared": labelled.compared,
        "strange": found.strange,
        "strange_in_training": model.familiar.usual,
        "unlike_training": model.familiar.unlike(found.strange),
        "tiles": found.needs.to_document(),
        "steps": found.seconds,
        "cpu_steps": found.cpu_seconds,
        "seconds": sum(found.seconds.values()),
        "peak_memory_mb": peak_memory_mb(),
    }

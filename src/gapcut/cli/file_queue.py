"""Commands that work on many files: done in any order by an engine, none twice, none that fails stops another."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE, SOME_FAILED, Interrupted
from gapcut.cli.progress import working
from gapcut.engines import SHARE, Engine, EngineName, free_bytes, open_engine, thread_count
from gapcut.files import Entry, Ledger, are_there, digest, digests
from gapcut.version import __version__

LEDGER = ".gapcut-done.jsonl"
"""In the folder of the results: what is done, for a restart."""

EngineOption = Annotated[
    EngineName,
    Parameter(
        help="Who works on many files: threads (a file at a time on --jobs threads), processes (--jobs of them) or ray."
    ),
]
Address = Annotated[
    str | None,
    Parameter(help="Of a Ray cluster: HOST:PORT, or auto; default: $RAY_ADDRESS, or this machine."),
]


@dataclass(frozen=True)
class FileJob:
    """A file to read, with what is ``beside`` it (if it is there), and the one to write; ``options`` for this file;
    ``around``: other files that its result is made of, too, which it has ``described``; ``known``: what is written down
    of it."""

    source: Path
    target: Path
    options: Any = None
    beside: Path | None = None
    known: Entry | None = None
    around: Any = None

    def absolute(self) -> FileJob:
        """The same for a worker with another working folder."""
        beside = None if self.beside is None else self.beside.absolute()
        return replace(self, source=self.source.absolute(), target=self.target.absolute(), beside=beside)


@dataclass(frozen=True)
class FileResults:
    """``documents`` of the files that are done, in the order of the jobs; how many of them were done before; the files
    that ``failed`` with the reasons."""

    documents: list[dict[str, Any]]
    before: int
    failed: list[dict[str, str]]

    def code(self, what: str) -> int:
        """The exit code, after a line on standard error for each file that failed."""
        if not self.failed:
            return DONE
        total = len(self.documents) + len(self.failed)
        print(f"gapcut: {len(self.failed)} of {total} {what}:", file=sys.stderr)
        for each in self.failed:
            where = "" if each["error"].startswith(each["file"]) else f"{each['file']}: "
            print(f"gapcut: {where}{each['error']}", file=sys.stderr)
        return SOME_FAILED


def engine_for(name: EngineName, jobs: int, address: str | None) -> Engine:
    """What ``--engine``, ``--jobs`` and ``--address`` name. With Ray a file takes one CPU, or ``--jobs`` of them."""
    return open_engine(name, max(1, jobs) if name == "ray" else thread_count(jobs), address)


def processes_for(engine: EngineName, jobs: int, needs: Sequence[float]) -> int:
    """``--jobs``, or as many processes as the free memory is enough for, whatever files are at work together: then a
    line says so. ``needs``: bytes that each file takes, about."""
    if engine != "processes":
        return jobs
    asked, most = min(thread_count(jobs), len(needs)), SHARE * free_bytes()
    largest = np.cumsum(sorted(needs, reverse=True)[:asked])
    fitting = max(1, int((largest <= most).sum()))
    if fitting < asked or largest[0] > most:
        one, together, half = (f"{size / 2**20:,.0f} MB" for size in (largest[0], largest[-1], most))
        print(
            f"gapcut: {fitting} of {asked} processes: the largest file takes about {one}, the {asked} largest together "
            f"{together}, and half of the free memory is {half}",
            file=sys.stderr,
            flush=True,
        )
    return fitting if fitting < asked else jobs


def settings_digest(files: Iterable[Path | None], **options: Any) -> str:
    """Of all that results depend on besides the file they are made of: other files, options, this version."""
    kept = [None if path is None else digest(path) for path in files]
    text = json.dumps([__version__, kept, options], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def do_files(
    engine: Engine, work: Callable[[FileJob], FileWork], jobs: Sequence[FileJob], settings: str
) -> FileResults:
    """``work`` done on every file whose result is not there, or was made of another file or with other ``settings``.

    Results count as they come; Interrupted says how many there are.
    """
    ledger = Ledger(jobs[0].target.parent / LEDGER)
    found: dict[int, Entry] = {}
    failed: dict[int, str] = {}
    before = 0
    items = [replace(job, known=ledger.get(job.target)) for job in jobs]
    if engine.elsewhere:
        items = [i.absolute() for i in items]
    begun = engine.map(Once(work, settings), items)
    with working(f"{counted(file=len(jobs))} ...") as say, closing(begun) as outcomes:
        try:
            for outcome in outcomes:
                job = items[outcome.index]
                if outcome.result is None:
                    failed[outcome.index] = str(outcome.error)
                else:
                    found[outcome.index] = outcome.result
                    if outcome.result == job.known:
                        before += 1
                    else:
                        ledger.add(job.target, outcome.result)
                say(f"{len(found):,} of {counted(file=len(jobs))} done, {len(failed):,} failed")
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted: {len(found):,} of {len(jobs):,} files are done; the same command goes on"
            ) from None
    return FileResults(
        [found[i].document for i in sorted(found)],
        before,
        [{"file": str(jobs[i].source), "error": failed[i]} for i in sorted(failed)],
    )


@dataclass(frozen=True)
class FileWork:
    """What work on a file came to: the files written and the document about it."""

    written: list[Path]
    document: dict[str, Any]


@dataclass(frozen=True)
class Once:
    """``work`` on a file, unless its results are there."""

    work: Callable[[FileJob], FileWork]
    settings: str

    def __call__(self, job: FileJob) -> Entry:
        beside = digest(job.beside) if job.beside is not None and job.beside.is_file() else None
        more = [] if job.around is None else [job.around.described()]
        own = json.dumps([self.settings, digest(job.source), beside, job.options, *more], sort_keys=True)
        made_of = hashlib.sha256(own.encode()).hexdigest()
        known = job.known
        if known is not None and known.made_of == made_of and are_there(job.target.parent, known.written):
            return known
        done = self.work(job)
        return Entry(made_of, digests(done.written), done.document)

"""README.md and the pages of docs/: their code, and what it prints.

Comments in a page, which readers do not see, say what is what:

- ``<!-- run: ID -->`` before code: the fenced block after it shows the output in docs/runs/ID.json. After the ID may
  follow ``slow`` (not run in CI), ``needs=FOLDER`` of ../shared/data, ``exit=CODE``.
- ``<!-- try: needs=FOLDER -->``: the same words for code whose output is not shown.
- ``<!-- skip: REASON -->``: code that is not run. ``<!-- setup: CODE -->``: Python that is run but not shown.
- ``<!-- table: ID -->`` ... ``<!-- end -->``: the tables in docs/runs/ID.json, and how they were made. With a name
  after the ID: the one table whose first column is called so.
- ``<!-- value: ID ROW @ COLUMN -->`` ... ``<!-- end -->``, within a line (not at its start): a cell of such a table.

Code is fenced as ``python`` or ``sh``. The blocks of a page are run in order, in one folder and one namespace.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "docs" / "runs"
SHARED = Path(os.environ.get("GAPCUT_SHARED", ROOT.parent / "shared")) / "data"
PATHS = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
ITEM = re.compile(r"^<!-- (run|try|skip|setup): (.*?) -->$|^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """All but the decisions, which are records of their day and stay as written."""
    return [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def shown_runs(page: Path) -> list[str]:
    """The runs of which a page shows output, tables or values."""
    return sorted(set(re.findall(r"<!-- (?:run|table|value): (\S+)", page.read_text())))


def record(run: str) -> dict[str, Any]:
    """What docs/runs holds of a run."""
    path = RUNS / f"{run}.json"
    if not path.is_file():
        sys.exit(f"no record of {run}: python docs/record.py {run}")
    return json.loads(path.read_text())  # type: ignore[no-any-return]


@dataclass
class Block:
    """Code of a page. ``shown``: where in the page's text the output is that belongs to it."""

    where: str
    language: str
    code: str
    run: str | None = None
    skip: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    shown: slice | None = None

    def reason_to_skip(self, slow: bool) -> str | None:
        """Why it is not run here; None if it is."""
        folder = self.options.get("needs")
        if folder and not (SHARED / folder).is_dir():
            return f"no folder {SHARED / folder}"
        return self.skip or ("slow" if "slow" in self.options and not slow else None)


def blocks(page: Path) -> list[Block]:
    """The code of a page in order, hidden set-up included."""
    text, found, mark, words = page.read_text(), [], "", ""
    for item in ITEM.finditer(text):
        kind, said, language, code = item.groups()
        where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, item.start()) + 1}"
        if kind == "setup":
            found.append(Block(where, "python", said))
        elif kind:
            mark, words = kind, said
        elif language in ("python", "sh"):
            block = Block(where, language, code)
            if mark == "skip":
                block.skip = words
            elif mark:
                names = words.split()
                block.run = names.pop(0) if mark == "run" else None
                block.options = {key: value for key, _, value in (name.partition("=") for name in names)}
            found.append(block)
            mark = ""
        elif language == "" and found and found[-1].run and not found[-1].shown:
            found[-1].shown = slice(item.start(4), item.end(4))
    return found


class Failed(Exception):
    """A block that raised, or ended with another exit code than it should."""


class Session:
    """A context in which the blocks of a page run; its folder goes when it ends."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {"__name__": "page"}
        self._folder = tempfile.TemporaryDirectory(prefix="gapcut-page-")

    def __enter__(self) -> Session:
        self._home = Path.cwd()
        os.chdir(self._folder.name)
        for name in ("examples", "checker"):
            Path(name).symlink_to(ROOT / name)
        return self

    def __exit__(self, *_: object) -> None:
        os.chdir(self._home)
        self._folder.cleanup()

    def run(self, block: Block) -> str:
        """What the block prints, ending with a newline."""
        if folder := block.options.get("needs"):
            for path in (SHARED / folder, *(SHARED / folder).iterdir()):
                if not Path(path.name).exists():
                    Path(path.name).symlink_to(path)
        output = self._python(block) if block.language == "python" else self._shell(block)
        return "\n".join(line.rstrip() for line in output.split("\n")).strip("\n") + "\n"

    def _shell(self, block: Block) -> str:
        environment = {**os.environ, "PATH": PATHS, "COLUMNS": "120"}
        command = ["bash", "-euo", "pipefail", "-c", block.code]
        to = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, env=environment, text=True, check=False, **to)  # type: ignore[call-overload]
        if done.returncode != int(block.options.get("exit", 0)):
            raise Failed(f"exit code {done.returncode}\n{done.stdout}")
        return str(done.stdout)

    def _python(self, block: Block) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            try:
                exec(compile(ast.parse(block.code), block.where, "exec"), self._names)
            except Exception as error:
                raise Failed(f"{type(error).__name__}: {error}") from error
        return shown.getvalue()

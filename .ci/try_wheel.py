"""What a newcomer does first, with the package that is installed: the first snippet of the README, run as it stands."""

from __future__ import annotations

import re
import tempfile
from os import chdir
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def first_snippet() -> str:
    """The Python of the first marked block."""
    found = re.search(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"{README}: no Python in it")
    return found[1]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        home = Path.cwd()
        chdir(folder)
        try:
            exec(compile(first_snippet(), str(README), "exec"), {"__name__": "__main__"})
        finally:
            chdir(home)

"""Prints constraints that pin the packages of pyproject.toml to the oldest release that it allows."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

EXTRAS = ("cli", "plot", "hdf5")


def pins(project: dict[str, object]) -> list[str]:
    """``name==lower end`` of the requirements and of the extras above."""
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    found = [re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line) for line in wanted]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text()
    sys.stdout.write("\n".join(pins(tomllib.loads(text)["project"])) + "\n")

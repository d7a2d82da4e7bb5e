"""Prints constraints that pin the packages of pyproject.toml to the oldest release that it allows."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

# Hundreds of megabytes, or tools of developers and of the documentation: their steps take the newest.
LEFT_OUT = ("cluster", "pyg", "docs", "dev")


def pins(content: dict[str, Any]) -> list[str]:
    """``name==lower end`` of what a build, the package and all its extras but those above ask for."""
    project = content["project"]
    wanted = [*content["build-system"]["requires"], *project["dependencies"]]
    for extra, lines in project["optional-dependencies"].items():
        if extra not in LEFT_OUT:
            wanted += [line for line in lines if not line.startswith("gapcut[")]
    found: dict[str, str] = {}
    for line in wanted:
        match = re.match(r"([\w-]+)(?:\[.*?\])?>=([\d.]+)", line)
        if match is None:
            raise ValueError(f"pyproject.toml: {line}: a lower end, NAME>=VERSION, is wanted first")
        if found.setdefault(match[1], match[2]) != match[2]:
            raise ValueError(f"pyproject.toml: {match[1]}: lower ends {found[match[1]]} and {match[2]}")
    return [f"{name}=={version}" for name, version in found.items()]


if __name__ == "__main__":
    text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text()
    sys.stdout.write("\n".join(pins(tomllib.loads(text))) + "\n")

"""Checks that C++ files include only what their layer may see. Run from anywhere; exits 1 with one line a fault."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CPP = Path(__file__).resolve().parent.parent / "cpp"
TOP_LEVEL = {
    "kernels": "base",
    "page_file": "base",
    "parallel": "base",
    "rounding": "base",
    "exact_sum": "base",
    "edge_shards": "problem",
    "row_matrix": "problem",
    "problem": "problem",
}
LAYERS = ["base", "linear", "problem", "flow", "infer", "oracle", "planes", "learn", "bindings"]
MAY_SEE = {layer: set(LAYERS[: i + 1]) for i, layer in enumerate(LAYERS)}
MAY_SEE |= {"scene": {"base", "scene"}, "planes": {"base", "linear", "planes"}}
MAY_SEE["bindings"].add("scene")
MAY_SEE["kernels"] = MAY_SEE["learn"]  # inner loops of all layers; they include their own headers by name


def layer_of(path: str) -> str:
    """The layer of a file named from ``include/gapcut`` or ``src``: its folder, or that of ``TOP_LEVEL``."""
    folder, _, rest = path.partition("/")
    return folder if rest else TOP_LEVEL.get(Path(path).stem, path)


def faults(file: Path, layer: str) -> list[str]:
    """What this file includes though its layer may not see it."""
    if layer not in MAY_SEE:
        return [f"{file}: '{layer}' is no known layer: list it in {Path(__file__).name}"]
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if match := re.match(r'#include "gapcut/(.+)"', line):
            other = layer_of(match[1])
            if other not in MAY_SEE[layer]:
                found.append(f"{file}:{number}: {layer} may not include {match[1]} ({other})")
    return found


def main() -> int:
    """Prints the faults of all files."""
    found = []
    for root in (CPP / "include" / "gapcut", CPP / "src"):
        for file in sorted(root.rglob("*.?pp")):
            found += faults(file, layer_of(file.relative_to(root).as_posix()))
    for layer in ("kernels", "bindings"):
        for file in sorted((CPP / layer).rglob("*.?pp")):
            found += faults(file, layer)
    print("\n".join(found) or "includes: all in order")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

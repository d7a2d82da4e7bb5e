"""Images: TRW-S and ``auto`` against the alpha-expansions of PyMaxflow and gco, on grids of 512^2 x 16 and 1024^2 x 8.

    python benchmarks/images.py [--python ENVIRONMENT/bin/python] [--only Potts] [--time-limit 60]

The rivals (``pip install PyMaxflow gco-wrapper``, both for comparison only) run in the Python that is named. Every
minimiser runs in a process of its own; CPU seconds do not count reading the image. ``memory`` is how much the process
grew at most, in multiples of the unaries, which it holds. ``gap`` is (energy - bound) / energy. The images: a random
patchwork of surfaces, seen with noise so strong that single pixels say little. Lowest energies are bold.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gapcut import Energy
from gapcut.certificates import at_most
from gapcut.engines import describe_machine
from gapcut.typing import FloatArray

WORKER = Path(__file__).parent / "rivals" / "images.py"
OURS, RIVALS = ("trws", "auto"), ("PyMaxflow", "gco")
HEADER = "| image | minimiser | energy | gap | CPU s | memory |\n|---|---|---|---|---|---|"
AGREEMENT = 1e-9


def images(seed: int = 0) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Name, unaries and pairwise table."""
    for side, labels in ((512, 16), (1024, 8)):
        rng = np.random.default_rng(seed)
        y, x = np.mgrid[:side, :side]
        truth = (8 * y * labels // side // 8) % labels
        for _ in range(40):
            r, c, size = rng.integers(side), rng.integers(side), rng.integers(side // 20, side // 6)
            truth[(y - r) ** 2 + (x - c) ** 2 < size**2] = rng.integers(labels)
        label = np.arange(labels)
        seen = truth + 2.0 * rng.normal(size=truth.shape)
        linear = np.minimum(np.abs(label[:, None] - label), 4) / 2.0
        yield (
            f"{side}^2 x {labels}, Potts",
            rng.random((side, side, labels)) + 0.5 * (truth[..., None] != label),
            0.6 * (1 - np.eye(labels)),
        )
        yield (
            f"{side}^2 x {labels}, truncated linear",
            np.minimum(np.abs(seen[..., None] - label), 4.0),
            linear,
        )


def run(name: str, python: str, folder: Path, limit: float) -> dict[str, float] | None:
    """What the process printed; None if it could not run."""
    ended = subprocess.run(
        [python, str(WORKER), name, str(folder), str(limit)], capture_output=True, text=True, check=False
    )
    if ended.returncode:
        print(f"left out: {name}, {ended.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    answer: dict[str, float] = json.loads(ended.stdout)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="with PyMaxflow and gco-wrapper installed")
    parser.add_argument("--only", default="", help="images whose name contains this")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds, for ours")
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    print(HEADER)
    for name, unary, pairwise in images():
        if options.only not in name:
            continue
        energy, rows = Energy.grid(unary, pairwise), []
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "unary.npy", unary)
            np.save(Path(folder) / "pairwise.npy", pairwise)
            for minimiser in (*OURS, *RIVALS):
                python = sys.executable if minimiser in OURS else options.python
                answer = run(minimiser, python, Path(folder), options.time_limit)
                if answer is not None:
                    labels = np.load(Path(folder) / "labels.npy").ravel()
                    rows.append((minimiser, energy.energy(labels), answer))
        least = min((value for _, value, _ in rows), default=0.0)
        for minimiser, value, answer in rows:
            gap = "" if answer["bound"] is None else at_most((value - answer["bound"]) / value, 2)
            shown = f"**{value:.2f}**" if value <= least * (1 + AGREEMENT) else f"{value:.2f}"
            memory = answer["memory"] * 2**20 / unary.nbytes
            print(
                f"| {name} | {minimiser} | {shown} | {gap} | {answer['seconds']:.1f} | {memory:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Evidence files of the UAI competitions: labels that some nodes are known to have."""

from __future__ import annotations

from pathlib import Path

from gapcut.inference.energy import Energy
from gapcut.inference.files.tokens import Tokens


def read(data: bytes, path: Path, energy: Energy) -> dict[int, int]:
    """Label by node, from ``count node label node label ...``, before which older files say how many such
    lines there are (only 1 is accepted)."""
    tokens = Tokens(data.decode("utf-8", errors="replace"), path, comments=True)
    count = tokens.integer("the number of observed nodes")
    if tokens.left != 2 * count and count == 1:
        count = tokens.integer("the number of observed nodes")
    known: dict[int, int] = {}
    for _ in range(count):
        node = tokens.integer("an observed node")
        if node >= energy.n_nodes:
            raise tokens.fail(f"node {node} does not exist, the nodes are 0..{energy.n_nodes - 1}")
        label = tokens.integer(f"the label of node {node}")
        if label >= energy.n_labels[node]:
            raise tokens.fail(
                f"node {node} has label {label}, but its labels are 0..{energy.n_labels[node] - 1}"
            )
        if known.setdefault(node, label) != label:
            raise tokens.fail(f"node {node} is observed with labels {known[node]} and {label}")
    tokens.end("the last observed node")
    return known

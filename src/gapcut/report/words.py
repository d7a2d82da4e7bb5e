"""Words of the field in a page: each with a hint, and all that occur explained once at its end."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WORDS = {
    "fold": "one split of the scenes: learned on some, tested on the others",
    "folds": "splits of the scenes, each learned on some and tested on the others",
    "macro F1": "mean over the classes of F1, so that rare classes count as much as frequent ones",
    "macro precision": "mean over the classes of precision, so that rare classes count as much as frequent ones",
    "macro recall": "mean over the classes of recall, so that rare classes count as much as frequent ones",
    "precision": "of what is labelled so, the share that is so",
    "recall": "of what is so, the share that is labelled so",
    "F1": "2 / (1 / precision + 1 / recall)",
    "nodes right": "share of the parts with the right label",
    "node-only": "the same learner without relations between parts",
    "recall, node-only": "recall of the same learner without relations between parts",
    "forest only": "the likeliest class of each part as the random forest sees it, without learned weights",
    "proven gap": "the training objective is proven to be at most this far above the least possible one",
    "graphs proven": "share of the test scenes whose labels are proven to have the least energy",
    "energy": "what the labelling of a scene minimises; less is better",
    "proven bound": "no labelling of the scene has less energy than this",
    "gap": "energy less the proven bound: 0 means that no labelling is better",
    "status": "optimal: proven to have the least energy; feasible: the best found",
    "mean confidence": "mean probability of the points' labels",
    "unlike training": "share of the points that are like nothing in the training scans",
    "segments": "pieces of the scan that get one label each",
    "edges": "pairs of segments that touch, in both directions",
    "parts": "elements of the bridge, such as one girder",
    "mean voxel": "mean edge of the cubes of which one point each is kept",
    "train CPU s": "seconds of learning, those of all processors added up",
    "objective": "what learning minimises",
}
"""What a title or the name of a column means."""


def explained(text: str) -> tuple[str, str] | None:
    """The word that a title or name is, or has before a colon or comma, and what it means; None without a hint."""
    for name in (text, *(text.split(mark)[0] for mark in ":,")):
        for word in (name, name.lower()):
            if word in WORDS:
                return name, WORDS[word]
    return None


def hinted(text: str) -> str:
    """HTML of a title or name, with its hint where it has one."""
    found = explained(text)
    if found is None:
        return escape(text)
    name, hint = found
    return f'<abbr title="{escape(hint)}" tabindex="0">{escape(name)}</abbr>{escape(text[len(name) :])}'


def words_html(names: Sequence[str]) -> str:
    """The words among these titles and names, explained, each once; empty without any."""
    found = {hint: name for name, hint in filter(None, map(explained, reversed(names)))}
    if not found:
        return ""
    items = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(hint)}</dd>" for hint, name in reversed(found.items())
    )
    return f'<section><h2>Words</h2><dl class="words">{items}</dl></section>'

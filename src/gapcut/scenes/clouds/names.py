"""Column names in files and what they mean, and the line of JSON that carries what no column can."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

COORDINATES = ("x", "y", "z")
COLOURS = ("red", "green", "blue")
ADDED = ("label", "segment", "confidence", "truth", "original")
"""What a labelling adds to a scan: see :mod:`gapcut.scenes.clouds.addition`."""

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "x": ("x", "cartesianx"),
    "y": ("y", "cartesiany"),
    "z": ("z", "cartesianz"),
    "label": ("label", "labels", "class", "class_id", "label_id", "semantic", "classification"),
    "segment": ("segment", "segments", "segment_id", "instance", "instance_id"),
    "intensity": ("intensity", "intensities", "reflectance"),
    "red": ("red", "r", "diffuse_red", "colorred"),
    "green": ("green", "g", "diffuse_green", "colorgreen"),
    "blue": ("blue", "b", "diffuse_blue", "colorblue"),
}
MEANING: Mapping[str, str] = {alias: name for name, all_of in _ALIASES.items() for alias in all_of}
"""Lower-case name of a column in a file -> what it is. Anything else is an extra attribute."""

_RANK = {alias: rank for all_of in _ALIASES.values() for rank, alias in enumerate(all_of)}


@dataclass(frozen=True)
class Said:
    """What the header of a file says: names of the labels, the coordinate system, and under which names a labelling
    added which columns (``{"segment": "gapcut_segment"}``)."""

    label_names: Mapping[int, str] = field(default_factory=dict)
    crs: str | None = None
    added: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line of ASCII, "" if there is nothing to say."""
        said: dict[str, Any] = {}
        if self.label_names:
            said["label_names"] = {str(label): name for label, name in self.label_names.items()}
        if self.crs:
            said["crs"] = self.crs
        if self.added:
            said["added"] = dict(self.added)
        return json.dumps({"gapcut": said}) if said else ""

    @classmethod
    def from_json(cls, text: str) -> Said:
        """Also of a plain ``{"0": "ground", ...}`` or list of names. Raises ValueError."""
        said = json.loads(text)
        own = isinstance(said, dict) and "gapcut" in said
        said = said["gapcut"] if own else said
        if not isinstance(said, dict):
            raise ValueError("no JSON object that maps labels to names")
        names = said.get("label_names", {} if own or "crs" in said else said)
        if isinstance(names, list):
            names = dict(enumerate(names))
        crs, added = said.get("crs"), said.get("added", {}) if own else {}
        try:
            return cls(
                {int(label): str(name) for label, name in names.items()},
                None if crs is None else str(crs),
                {role: str(name) for role, name in added.items() if role in ADDED},
            )
        except (AttributeError, TypeError, ValueError):
            raise ValueError("no JSON object that maps label numbers to names") from None


def plain_name(raw: str) -> str:
    """A column's name without the ``scalar_`` that CloudCompare puts before it and without blanks."""
    return one_word(raw).removeprefix("scalar_") or "unnamed"


def one_word(raw: str) -> str:
    """A column's name without blanks, commas and semicolons; bytes that were no text are question marks."""
    text = raw.encode("utf-8", errors="replace").decode("utf-8")
    return "_".join(text.replace(",", " ").replace(";", " ").split()) or "unnamed"


def meanings(columns: Mapping[str, Any], added: Mapping[str, str] | None = None) -> dict[str, str]:
    """Meaning -> the column that has it. What a labelling ``added`` comes first; if two names mean the same, the more
    usual one wins. Colours count only where all three are there."""
    chosen = {role: raw for role, raw in (added or {}).items() if raw in columns}
    settled = set(chosen)
    for raw in columns:
        alias = plain_name(raw).lower()
        meaning = MEANING.get(alias)
        if meaning is None or meaning in settled or raw in chosen.values():
            continue
        if meaning not in chosen or _RANK[alias] < _RANK[plain_name(chosen[meaning]).lower()]:
            chosen[meaning] = raw
    if not all(colour in chosen for colour in COLOURS):
        chosen = {meaning: raw for meaning, raw in chosen.items() if meaning not in COLOURS}
    return chosen


def canonical(columns: Mapping[str, Any], added: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The same columns under the names used here. One that is called like a meaning but was not chosen for it
    (:func:`meanings`) is kept as ``other_<name>``."""
    chosen = meanings(columns, added)
    result = {meaning: columns[raw] for meaning, raw in chosen.items()}
    for raw, values in columns.items():
        if raw in chosen.values():
            continue
        name = plain_name(raw)
        means = MEANING.get(name.lower())
        if name in result or (means is not None and means not in COLOURS):
            name = f"other_{name}"
        while name in result:
            name += "_"
        result[name] = values
    return result

"""Column names in files and what they mean, and the line of JSON that carries the names of labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

COORDINATES = ("x", "y", "z")
COLOURS = ("red", "green", "blue")

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "x": ("x", "cartesianx"),
    "y": ("y", "cartesiany"),
    "z": ("z", "cartesianz"),
    "label": ("label", "labels", "class", "class_id", "classification", "label_id", "semantic"),
    "segment": ("segment", "segments", "segment_id", "instance", "instance_id"),
    "intensity": ("intensity", "intensities", "reflectance"),
    "red": ("red", "r", "diffuse_red", "colorred"),
    "green": ("green", "g", "diffuse_green", "colorgreen"),
    "blue": ("blue", "b", "diffuse_blue", "colorblue"),
}
MEANING: Mapping[str, str] = {alias: name for name, all_of in _ALIASES.items() for alias in all_of}
"""Lower-case name of a column in a file -> what it is. Anything else is an extra attribute."""

_RANK = {alias: rank for all_of in _ALIASES.values() for rank, alias in enumerate(all_of)}


def plain_name(raw: str) -> str:
    """A column's name without the ``scalar_`` that CloudCompare puts before it and without blanks."""
    name = "_".join(raw.replace(",", " ").replace(";", " ").split()).removeprefix("scalar_")
    return name or "unnamed"


def canonical(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The same columns under the names used here. If two mean the same, the more usual name wins and the other
    one is kept as ``other_<name>``."""
    chosen: dict[str, str] = {}
    for raw in columns:
        alias = plain_name(raw).lower()
        meaning = MEANING.get(alias)
        if meaning is not None and (
            meaning not in chosen or _RANK[alias] < _RANK[plain_name(chosen[meaning]).lower()]
        ):
            chosen[meaning] = raw
    result = {meaning: columns[raw] for meaning, raw in chosen.items()}
    for raw, values in columns.items():
        if raw in chosen.values():
            continue
        name = plain_name(raw)
        name = f"other_{name}" if name.lower() in MEANING or name in result else name
        while name in result:
            name += "_"
        result[name] = values
    return result


def to_json(label_names: Mapping[int, str], crs: str | None) -> str:
    """One line of ASCII, "" if there is nothing to say."""
    said: dict[str, Any] = {}
    if label_names:
        said["label_names"] = {str(label): name for label, name in label_names.items()}
    if crs:
        said["crs"] = crs
    return json.dumps({"gapcut": said}) if said else ""


def from_json(text: str) -> tuple[dict[int, str], str | None]:
    """Label names and coordinate system; also of a plain ``{"0": "ground", ...}``. Raises ValueError."""
    said = json.loads(text)
    if isinstance(said, dict) and "gapcut" in said:
        said = said["gapcut"]
    if not isinstance(said, dict):
        raise ValueError("no JSON object that maps labels to names")
    names = said.get("label_names", {} if "crs" in said else said)
    if isinstance(names, list):
        names = dict(enumerate(names))
    crs = said.get("crs")
    try:
        return {int(label): str(name) for label, name in names.items()}, None if crs is None else str(crs)
    except (AttributeError, TypeError, ValueError):
        raise ValueError("no JSON object that maps label numbers to names") from None

"""Which IFC4X3 entity and predefined type stands for which class of part, in both directions."""

from __future__ import annotations

BRIDGE_TYPES = {
    "girder": "GIRDER",
    "frame": "FRAMEWORK",
    "arch": "ARCHED",
    "truss": "TRUSS",
    "cable-stayed": "CABLE_STAYED",
}
"""Our bridge types as predefined types of IfcBridge."""

EXPORT: dict[str, tuple[str, str, str]] = {
    "abutment": ("IfcWall", "RETAININGWALL", "ABUTMENT"),
    "deck": ("IfcSlab", "FLOOR", "DECK"),
    "column": ("IfcColumn", "PIERSTEM", "PIER"),
    "pier cap": ("IfcBeam", "PIERCAP", "PIER"),
    "girder": ("IfcBeam", "GIRDER_SEGMENT", "SUPERSTRUCTURE"),
    "cross beam": ("IfcBeam", "DIAPHRAGM", "SUPERSTRUCTURE"),
    "bearing": ("IfcBearing", "ELASTOMERIC", "SUBSTRUCTURE"),
    "railing": ("IfcRailing", "GUARDRAIL", "DECK"),
    "chord": ("IfcMember", "CHORD", "SUPERSTRUCTURE"),
    "cable": ("IfcMember", "STAY_CABLE", "SUPERSTRUCTURE"),
    "footing": ("IfcFooting", "PAD_FOOTING", "FOUNDATION"),
}
"""Class to entity, predefined type, and the part of the bridge (IfcBridgePart) that contains it."""

EXPORT_BY_NAME: dict[str, tuple[str, str]] = {
    "arch rib": ("IfcMember", "ARCH_SEGMENT"),
    "post": ("IfcMember", "POST"),
    "hanger": ("IfcMember", "SUSPENDER"),
    "pile cap": ("IfcFooting", "PILE_CAP"),
}
"""Finer predefined types for parts of these names; names that end in 'diagonal' or 'brace' outside trusses' planes are
IfcMember/BRACE (see :func:`entity`)."""

IMPORT: dict[str, str] = {
    "IfcSlab": "deck",
    "IfcBeam": "girder",
    "IfcBeam/PIERCAP": "pier cap",
    "IfcBeam/CORNICE": "railing",
    "IfcBeam/DIAPHRAGM": "cross beam",
    "IfcColumn": "column",
    "IfcWall/PARAPET": "railing",
    "IfcWall/RETAININGWALL": "abutment",
    "IfcBearing": "bearing",
    "IfcRailing": "railing",
    "IfcMember/BRACE": "cross beam",
    "IfcMember/STRUT": "cross beam",
    "IfcMember/CHORD": "chord",
    "IfcMember/POST": "chord",
    "IfcMember/ARCH_SEGMENT": "chord",
    "IfcMember/STRINGER": "girder",
    "IfcMember/STAY_CABLE": "cable",
    "IfcMember/SUSPENDER": "cable",
    "IfcMember/SUSPENSION_CABLE": "cable",
    "IfcMember/STRUCTURALCABLE": "cable",
    "IfcTendon": "cable",
    "IfcFooting": "footing",
    "IfcPile": "footing",
    "IfcDeepFoundation": "footing",
    "IfcGeographicElement/TERRAIN": "terrain",
}
"""``Entity/PREDEFINED_TYPE`` or ``Entity`` to class; the finer key wins. In IfcBridgePart/ABUTMENT everything but
bearings, footings and railings is an abutment."""

KEPT_IN_ABUTMENT = ("bearing", "footing", "railing")
"""Classes that stay themselves inside an abutment."""


def entity(label: str, name: str) -> tuple[str, str]:
    """Entity and predefined type of a part of a class and a name."""
    if name in EXPORT_BY_NAME:
        return EXPORT_BY_NAME[name]
    if label == "cross beam" and name.endswith(("diagonal", "brace", "strut")):
        return ("IfcMember", "BRACE")
    return EXPORT[label][:2]


def class_of(entity_name: str, predefined: str | None, extra: dict[str, str] | None = None) -> str | None:
    """Class of an entity, None if neither table knows it; ``extra`` goes before ``IMPORT``."""
    table = IMPORT | (extra or {})
    return table.get(f"{entity_name}/{predefined}") or table.get(entity_name)

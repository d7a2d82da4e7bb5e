"""Bridges as IFC4X3 files, and a user's IFC bridge as parts with classes (extra ``scenes``: ifcopenshell)."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.extras import needed
from gapcut.files import write_bytes
from gapcut.scenes.bridges.ifc_map import BRIDGE_TYPES, EXPORT, KEPT_IN_ABUTMENT, class_of, entity
from gapcut.scenes.bridges.model import CLASSES, TERRAIN, Bridge, Mesh, Part, concatenate


@dataclass(frozen=True, eq=False)
class IfcBridge:
    """What was read from an IFC file: the bridge, and how many elements of which ``Entity/TYPE`` have no class
    (``unknown``) or no usable shape (``shapeless``). Unknown elements are left out of the bridge."""

    bridge: Bridge
    unknown: dict[str, int]
    shapeless: dict[str, int]

    def report(self) -> str:
        """One line on what was left out, empty if nothing was."""
        lines = []
        for told, found in (("no class for", self.unknown), ("no shape in", self.shapeless)):
            if found:
                lines.append(f"{told} " + ", ".join(f"{n} {key}" for key, n in sorted(found.items())))
        return "; ".join(lines) and "; ".join(lines) + " (classes can be given with class_map)"


def _ifcopenshell() -> Any:
    return needed("ifcopenshell.geom", "IFC files need", "scenes")


def write_ifc(bridge: Bridge, path: str | Path) -> None:
    """Write IFC4X3: IfcProject, IfcSite, IfcBridge, an IfcBridgePart per zone, one element per part (triangulated,
    closed), the terrain as IfcGeographicElement, placed on earth. Surroundings are left out. Equal bridges give equal
    global ids."""
    writer = _Writer(_ifcopenshell(), bridge)
    writer.write()
    write_bytes(Path(path), writer.file.to_string().encode())


class _Writer:
    """Creates the entities of one file."""

    def __init__(self, ifcopenshell: Any, bridge: Bridge) -> None:
        self.bridge = bridge
        self.file = ifcopenshell.file(schema="IFC4X3")
        self.context: Any = None
        self.origin: Any = None
        self._zones: dict[str, list[Any]] = {}

    def make(self, entity_name: str, **values: Any) -> Any:
        """One entity."""
        return self.file.create_entity(entity_name, **values)

    def root(self, entity_name: str, key: str, **values: Any) -> Any:
        """An entity with a global id made from the bridge's name and a key."""
        digest = hashlib.sha256(f"{self.bridge.name}/{self.bridge.parameters}/{key}".encode()).digest()
        return self.make(entity_name, GlobalId=_global_id(digest[:16]), **values)

    def write(self) -> None:
        """All entities of the bridge."""
        project = self._project()
        site = self._place("IfcSite", "site", "Site")
        values = {"PredefinedType": BRIDGE_TYPES.get(self.bridge.type, "NOTDEFINED")}
        bridge = self._place("IfcBridge", "bridge", self.bridge.name, **values)
        self._whole("of project", project, [site])
        self._whole("of site", site, [bridge])
        for part in self.bridge.parts:
            element = self._element(part)
            self._zones.setdefault(EXPORT[part.label][2], []).append(element)
        zones = []
        for kind, elements in self._zones.items():
            zone = self._place(
                "IfcBridgePart", f"zone {kind}", kind.title(), PredefinedType=kind, UsageType="LONGITUDINAL"
            )
            zones.append(zone)
            self._inside(f"in {kind}", zone, elements)
        self._whole("of bridge", bridge, zones)
        if self.bridge.terrain.n_faces:
            ground = self._solid(
                "IfcGeographicElement", "terrain", TERRAIN, self.bridge.terrain, "TERRAIN", False
            )
            self._inside("in site", site, [ground])

    def _project(self) -> Any:
        metre = self.make("IfcSIUnit", UnitType="LENGTHUNIT", Name="METRE")
        radian = self.make("IfcSIUnit", UnitType="PLANEANGLEUNIT", Name="RADIAN")
        units = self.make("IfcUnitAssignment", Units=[metre, radian])
        zero = self.make("IfcCartesianPoint", Coordinates=[0.0, 0.0, 0.0])
        world = self.origin = self.make("IfcAxis2Placement3D", Location=zero)
        if any(self.bridge.origin):
            place = self.make("IfcCartesianPoint", Coordinates=list(self.bridge.origin))
            self.origin = self.make("IfcAxis2Placement3D", Location=place)
        self.context = self.make(
            "IfcGeometricRepresentationContext",
            ContextType="Model",
            CoordinateSpaceDimension=3,
            Precision=1e-5,
            WorldCoordinateSystem=world,
        )
        return self.root(
            "IfcProject",
            "project",
            Name=self.bridge.name,
            UnitsInContext=units,
            RepresentationContexts=[self.context],
        )

    def _placement(self) -> Any:
        return self.make("IfcLocalPlacement", RelativePlacement=self.origin)

    def _place(self, entity_name: str, key: str, name: str, **values: Any) -> Any:
        return self.root(entity_name, key, Name=name, ObjectPlacement=self._placement(), **values)

    def _whole(self, key: str, whole: Any, pieces: list[Any]) -> None:
        self.root("IfcRelAggregates", key, RelatingObject=whole, RelatedObjects=pieces)

    def _inside(self, key: str, zone: Any, elements: list[Any]) -> None:
        self.root("IfcRelContainedInSpatialStructure", key, RelatingStructure=zone, RelatedElements=elements)

    def _element(self, part: Part) -> Any:
        kind, predefined = entity(part.label, part.name)
        return self._solid(kind, f"part {part.id}", f"{part.id:04d} {part.name}", part.mesh, predefined, True)

    def _solid(self, kind: str, key: str, name: str, mesh: Mesh, predefined: str, closed: bool) -> Any:
        points = self.make("IfcCartesianPointList3D", CoordList=mesh.vertices.round(6).tolist())
        faces = self.make(
            "IfcTriangulatedFaceSet", Coordinates=points, Closed=closed, CoordIndex=(mesh.faces + 1).tolist()
        )
        shape = self.make(
            "IfcShapeRepresentation",
            ContextOfItems=self.context,
            RepresentationIdentifier="Body",
            RepresentationType="Tessellation",
            Items=[faces],
        )
        body = self.make("IfcProductDefinitionShape", Representations=[shape])
        placement = self._placement()
        return self.root(
            kind, key, Name=name, ObjectPlacement=placement, Representation=body, PredefinedType=predefined
        )


def _global_id(digest: bytes) -> str:
    """The 22 characters in which IFC writes 128 bits."""
    alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$"
    number = int.from_bytes(digest, "big")
    return "".join(alphabet[(number >> (6 * i)) & 63] for i in range(21, -1, -1))


def read_ifc(path: str | Path, class_map: dict[str, str] | None = None) -> IfcBridge:
    """Parts of an IFC bridge (IFC2X3, IFC4, IFC4X3), in metres.

    Classes come from the tables of :mod:`gapcut.scenes.bridges.ifc_map`; ``class_map`` adds or overrides entries
    (``{"IfcPlate/SHEET": "deck"}``, values in ``CLASSES`` or ``terrain``). Raises ValueError for a class that does
    not exist, for a damaged file and for one without any known part.
    """
    wrong = [label for label in (class_map or {}).values() if label not in (*CLASSES, TERRAIN)]
    if wrong:
        raise ValueError(
            f"class_map names {wrong[0]!r}, which is no class: choose from {', '.join(CLASSES)}, {TERRAIN}"
        )
    ifcopenshell = _ifcopenshell()
    file = _opened(ifcopenshell, Path(path))
    settings = ifcopenshell.geom.settings()
    settings.set("use-world-coords", True)
    parts: list[Part] = []
    ground: list[Mesh] = []
    unknown: Counter[str] = Counter()
    shapeless: Counter[str] = Counter()
    for element in sorted(file.by_type("IfcElement"), key=lambda e: int(e.id())):
        if element.Representation is None:
            continue
        predefined = _predefined(element)
        key = f"{element.is_a()}/{predefined}"
        label = _class_of(element, predefined, class_map)
        if label is None:
            unknown[key] += 1
            continue
        mesh = _shape(ifcopenshell, settings, element)
        if mesh is None:
            shapeless[key] += 1
        elif label == TERRAIN:
            ground.append(mesh)
        else:
            parts.append(Part(mesh, label, len(parts), element.Name or label))
    if not parts:
        known = dict(unknown + shapeless)
        raise ValueError(
            f"{path} has no part of a known class (found {known or 'no elements'}): give class_map"
        )
    name, type_ = _title(file, Path(path).stem)
    bridge = Bridge(name, type_, tuple(parts), concatenate(ground), {"file": Path(path).name})
    return IfcBridge(bridge, dict(unknown), dict(shapeless))


def _opened(ifcopenshell: Any, path: Path) -> Any:
    """The parsed file. ifcopenshell takes one that was cut between two entities for whole."""
    content = path.read_bytes()
    if content.startswith(b"ISO-10303-21") and b"END-ISO-10303-21" not in content[-1024:]:
        raise ValueError(f"{path}: is cut short: an IFC file ends with END-ISO-10303-21")
    try:
        return ifcopenshell.open(str(path))
    except (ifcopenshell.Error, OSError) as error:
        raise ValueError(f"{path}: is no IFC file, or damaged ({error})") from None


def _predefined(element: Any) -> str | None:
    value = getattr(element, "PredefinedType", None)
    for relation in getattr(element, "IsTypedBy", None) or ():
        value = value or getattr(relation.RelatingType, "PredefinedType", None)
    return None if value in (None, "NOTDEFINED", "USERDEFINED") else str(value)


def _class_of(element: Any, predefined: str | None, class_map: dict[str, str] | None) -> str | None:
    label = class_of(element.is_a(), predefined, class_map)
    if _in_abutment(element) and label not in KEPT_IN_ABUTMENT:
        return "abutment"
    return label


def _in_abutment(element: Any) -> bool:
    """Whether a container or an assembly above the element is an abutment."""
    above = [r.RelatingStructure for r in getattr(element, "ContainedInStructure", None) or ()]
    above += [r.RelatingObject for r in getattr(element, "Decomposes", None) or ()]
    for whole in above:
        if "ABUTMENT" in (
            getattr(whole, "PredefinedType", None),
            str(getattr(whole, "ObjectType", "")).upper(),
        ):
            return True
        if not whole.is_a("IfcProject") and _in_abutment(whole):
            return True
    return False


def _shape(ifcopenshell: Any, settings: Any, element: Any) -> Mesh | None:
    """The element's triangles with equal corners merged, None if the kernel cannot make any."""
    try:
        shape = ifcopenshell.geom.create_shape(settings, element)
    except RuntimeError:
        return None
    vertices = np.asarray(shape.geometry.verts, dtype=np.float64).reshape(-1, 3)
    faces = np.asarray(shape.geometry.faces, dtype=np.int64).reshape(-1, 3)
    if not len(faces):
        return None
    _, first, index = np.unique(vertices.round(6), axis=0, return_index=True, return_inverse=True)
    faces = index.reshape(-1)[faces]
    corners = np.sort(faces, axis=1)
    flat = (corners[:, 0] == corners[:, 1]) | (corners[:, 1] == corners[:, 2])
    return Mesh(vertices[first], faces[~flat])


def _title(file: Any, fallback: str) -> tuple[str, str]:
    """Name and type of the bridge."""
    bridges = file.by_type("IfcBridge") if "4X3" in file.schema.upper() else []
    if not bridges:
        return fallback, "unknown"
    types = {ifc: ours for ours, ifc in BRIDGE_TYPES.items()}
    return bridges[0].Name or fallback, types.get(str(bridges[0].PredefinedType), "unknown")

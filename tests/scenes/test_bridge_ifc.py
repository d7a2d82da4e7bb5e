"""IFC files of bridges: what is written is read back with the same classes; foreign elements are reported."""

from __future__ import annotations

import numpy as np
import pytest

from built_bridges import built_bridge, is_watertight
from gapcut.scenes.bridges import TYPES, read_ifc, write_ifc
from gapcut.scenes.bridges.ifc_map import EXPORT, class_of, entity

ifcopenshell = pytest.importorskip("ifcopenshell", reason="needs ifcopenshell (extra scenes)")


@pytest.mark.parametrize("type_", ["arch", pytest.param("girder", marks=pytest.mark.slow)])
def test_round_trip(type_: str, tmp_path) -> None:
    bridge = built_bridge(type_, 1)
    path = tmp_path / "bridge.ifc"
    write_ifc(bridge, path)
    found = read_ifc(path)
    assert found.report() == ""
    assert found.bridge.type == type_
    assert [p.label for p in found.bridge.parts] == [p.label for p in bridge.parts]
    for mine, theirs in zip(bridge.parts[::7], found.bridge.parts[::7], strict=True):
        assert is_watertight(theirs.mesh)
        np.testing.assert_allclose(theirs.mesh.volume, mine.mesh.volume, rtol=1e-3)
        np.testing.assert_allclose(theirs.mesh.bounds, mine.mesh.bounds, atol=1e-5)
    assert found.bridge.terrain.n_faces == bridge.terrain.n_faces


def test_file_is_valid_and_the_same_twice(tmp_path) -> None:
    validate = pytest.importorskip("ifcopenshell.validate")
    bridge = built_bridge("girder", 4)
    write_ifc(bridge, tmp_path / "a.ifc")
    write_ifc(bridge, tmp_path / "b.ifc")
    logger = validate.json_logger()
    validate.validate(str(tmp_path / "a.ifc"), logger)
    assert logger.statements == []
    bodies = [(tmp_path / name).read_text().split("DATA;")[1] for name in ("a.ifc", "b.ifc")]
    assert bodies[0] == bodies[1]
    file = ifcopenshell.open(str(tmp_path / "a.ifc"))
    ids = [e.GlobalId for e in file.by_type("IfcRoot")]
    assert len(set(ids)) == len(ids)


@pytest.mark.slow
def test_unknown_elements_are_reported_and_can_be_mapped(tmp_path) -> None:
    bridge = built_bridge("girder", 4)
    write_ifc(bridge, tmp_path / "a.ifc")
    file = ifcopenshell.open(str(tmp_path / "a.ifc"))
    bearing = file.by_type("IfcBearing")[0]
    file.create_entity(
        "IfcFlowSegment",
        GlobalId="0" * 21 + "1",
        Name="drain",
        ObjectPlacement=bearing.ObjectPlacement,
        Representation=bearing.Representation,
    )
    file.write(str(tmp_path / "b.ifc"))
    found = read_ifc(tmp_path / "b.ifc")
    assert found.bridge.n_parts == bridge.n_parts
    assert "1 IfcFlowSegment" in found.report()
    mapped = read_ifc(tmp_path / "b.ifc", {"IfcFlowSegment": "cable"})
    assert mapped.bridge.n_parts == bridge.n_parts + 1
    assert mapped.bridge.counts()["cable"] == 1
    with pytest.raises(ValueError, match="no class"):
        read_ifc(tmp_path / "b.ifc", {"IfcFlowSegment": "drain"})


@pytest.mark.slow
def test_everything_in_an_abutment_is_abutment_but_for_bearings_and_footings(tmp_path) -> None:
    bridge = built_bridge("girder", 4)
    write_ifc(bridge, tmp_path / "a.ifc")
    file = ifcopenshell.open(str(tmp_path / "a.ifc"))
    zone = next(z for z in file.by_type("IfcBridgePart") if z.PredefinedType == "ABUTMENT")
    moved = [file.by_type("IfcSlab")[0], file.by_type("IfcBearing")[0]]
    relation = next(
        r for r in file.by_type("IfcRelContainedInSpatialStructure") if r.RelatingStructure == zone
    )
    for other in file.by_type("IfcRelContainedInSpatialStructure"):
        other.RelatedElements = [e for e in other.RelatedElements if e not in moved]
    relation.RelatedElements = [*relation.RelatedElements, *moved]
    file.write(str(tmp_path / "b.ifc"))
    before, after = bridge.counts(), read_ifc(tmp_path / "b.ifc").bridge.counts()
    assert after["abutment"] == before["abutment"] + 1
    assert after["deck"] == before["deck"] - 1
    assert after["bearing"] == before["bearing"]


@pytest.mark.slow
def test_maps_agree_in_both_directions() -> None:
    for label, (kind, predefined, _) in EXPORT.items():
        assert class_of(kind, predefined) == label
    for type_ in TYPES:
        for part in built_bridge(type_, 1).parts:
            assert class_of(*entity(part.label, part.name)) == part.label, part.name

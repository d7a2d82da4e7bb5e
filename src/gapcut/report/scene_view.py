"""What a page shows of one scene, and the colours of its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gapcut.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from gapcut.scenes.clouds import PointCloud

PALETTE = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442"),  # Okabe & Ito 2008
    *("#332288", "#882255", "#44aa99", "#ddcc77", "#117733", "#aa4499", "#6699cc", "#661100"),  # Tol, muted
)
"""Colours that colour-blind readers tell apart, the safest first; after 15 labels they come again, darker."""

SEGMENTS, CONFIDENCE = "segments", "confidence"
_DERIVED = ("errors", "height")
_MOST_LABELS = 250


@dataclass(frozen=True, eq=False)
class SceneView:
    """A scene to look at.

    - ``name`` what the switch says;
    - ``xyz`` (N, 3) metres, finite;
    - ``layers`` name -> (N,) integers, -1 for none. ``truth`` and ``prediction`` together also give the layer
      ``errors``; ``segments`` is coloured at random; ``height`` is always there. ``confidence`` (N,) holds
      shares from 0 to 1, NaN for none, which are kept as whole per cent;
    - ``label_names`` label -> name; a label without one is shown by its number;
    - ``colours`` label -> ``#rrggbb`` instead of the palette.

    Raises ValueError naming the scene and the layer.
    """

    name: str
    xyz: FloatArray
    layers: Mapping[str, Any] = field(default_factory=dict)
    label_names: Mapping[int, str] = field(default_factory=dict)
    colours: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        xyz = np.asarray(self.xyz, dtype=np.float64)
        if xyz.ndim != 2 or xyz.shape[1] != 3 or not len(xyz):
            raise ValueError(f"scene {self.name!r}: xyz has shape {xyz.shape}, but must be (N, 3) with N > 0")
        if not np.isfinite(xyz).all():
            at = int(np.argmax(~np.isfinite(xyz).all(axis=1)))
            raise ValueError(f"scene {self.name!r}: point {at} is not finite: drop such points first")
        object.__setattr__(self, "xyz", xyz)
        object.__setattr__(self, "layers", {k: self._layer(k, v, len(xyz)) for k, v in self.layers.items()})
        names = (
            self.label_names if isinstance(self.label_names, Mapping) else dict(enumerate(self.label_names))
        )
        object.__setattr__(self, "label_names", {int(k): str(v) for k, v in names.items()})

    def _layer(self, key: str, values: Any, n: int) -> IntArray:
        numbers = np.asarray(values)
        if key in _DERIVED or not key:
            raise ValueError(
                f"scene {self.name!r}: the page makes a layer {key!r} itself, choose another name"
            )
        if key == CONFIDENCE and numbers.dtype.kind == "f":
            numbers = np.rint(100 * np.where(np.isfinite(numbers), np.clip(numbers, 0, 1), -0.01)).astype(int)
        if numbers.shape != (n,) or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"scene {self.name!r}: layer {key!r} has shape {numbers.shape} of {numbers.dtype}, "
                f"but must hold one integer for each of {n:,} points"
            )
        if key == CONFIDENCE and numbers.max() > 100:
            raise ValueError(f"scene {self.name!r}: a confidence of {numbers.max()} per cent")
        return np.asarray(numbers.astype(np.int64))

    @property
    def n_points(self) -> int:
        return len(self.xyz)

    @classmethod
    def of_cloud(
        cls, cloud: PointCloud, prediction: IntArray | None = None, name: str | None = None
    ) -> SceneView:
        """Truth, prediction and segments of a cloud, as far as it has them."""
        given = {"truth": cloud.labels, "prediction": prediction, SEGMENTS: cloud.segments}
        layers = {key: values for key, values in given.items() if values is not None}
        return cls(name or cloud.name or "scene", cloud.xyz, layers, cloud.label_names)


def shown_labels(scenes: Sequence[SceneView]) -> list[tuple[int, str, str]]:
    """(label, name, colour) of all labels of all scenes, by label; named labels that do not occur keep their colour."""
    present: set[int] = set()
    names: dict[int, str] = {}
    colours: dict[int, str] = {}
    for scene in scenes:
        for key, values in scene.layers.items():
            if key not in (SEGMENTS, CONFIDENCE):
                present |= {int(label) for label in np.unique(values) if label >= 0}
        for label, name in scene.label_names.items():
            if names.setdefault(label, name) != name:
                raise ValueError(
                    f"scene {scene.name!r}: label {label} is {name!r} here, but {names[label]!r} in another scene: "
                    "all scenes of a page share their labels"
                )
        colours |= {int(k): v for k, v in scene.colours.items()}
    labels = sorted(present | (set(names) if len(names) <= len(PALETTE) else set()))
    if len(labels) > _MOST_LABELS:
        raise ValueError(f"{len(labels)} different labels: a page shows at most {_MOST_LABELS}")
    return [(k, names.get(k, str(k)), colours.get(k, _palette(i))) for i, k in enumerate(labels)]


def _palette(i: int) -> str:
    colour = PALETTE[i % len(PALETTE)]
    dimmed = [int(int(colour[at : at + 2], 16) * 0.72 ** (i // len(PALETTE))) for at in (1, 3, 5)]
    return "#" + "".join(f"{channel:02x}" for channel in dimmed)

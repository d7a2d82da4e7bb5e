"""What a page shows of one scene, and the colours of its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gapcut.digits import percent
from gapcut.scenes.labelling.reasons import Reasons
from gapcut.typing import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    from gapcut.scenes.clouds import PointCloud

PALETTE = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442"),  # Okabe & Ito 2008
    *("#332288", "#882255", "#44aa99", "#ddcc77", "#117733", "#aa4499", "#6699cc", "#661100"),  # Tol, muted
)
"""Colours that colour-blind readers tell apart, the safest first; after 15 labels they come again, darker."""

RIGHT, WRONG = "#b9c0c9", "#e800f8"
"""Of errors: no class has a colour like that of what is wrong, to readers with deutan or protan vision neither."""

NO_LABEL = ("#d9d9d9", "#8d8d8d")
"""Stripes of what has no label, as no class has any."""

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
    - ``colours`` label -> ``#rrggbb`` instead of the palette;
    - ``reasons`` of the segments, whose labels are those of ``prediction``;
    - ``score`` how much is right, in a line; by default of the points, where there are truth and prediction;
    - ``key`` of its segments (:func:`gapcut.scenes.labelling.corrections.segments_key`), where these may be corrected
      in the page.

    Raises ValueError naming the scene and the layer.
    """

    name: str
    xyz: FloatArray
    layers: Mapping[str, Any] = field(default_factory=dict)
    label_names: Mapping[int, str] = field(default_factory=dict)
    colours: Mapping[int, str] = field(default_factory=dict)
    reasons: Reasons | None = None
    score: str = ""
    key: str = ""

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
        if not self.score and {"truth", "prediction"} <= set(self.layers):
            line = score_line(self.layers["truth"], self.layers["prediction"], self.label_names)
            object.__setattr__(self, "score", line)
        if self.reasons is not None:
            self._check_reasons(self.reasons)

    def _check_reasons(self, reasons: Reasons) -> None:
        segments, labels = self.layers.get(SEGMENTS), self.layers.get("prediction")
        if segments is None or labels is None:
            raise ValueError(f"scene {self.name!r}: reasons need the layers segments and prediction")
        if not reasons.fit(segments, labels):
            raise ValueError(f"scene {self.name!r}: the reasons are those of another labelling")

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


def score_line(truth: IntArray, guess: AnyArray, names: Mapping[int, str], what: str = "points") -> str:
    """How many are right where the truth is known (>= 0), and the most frequent mistake; empty where it never is."""
    known = truth >= 0
    truth, guess = truth[known], guess[known]
    if not len(truth):
        return ""
    wrong = truth != guess
    line = f"{percent(1.0 - float(wrong.mean()), 1)} of {len(truth):,} {what} right"
    if not wrong.any():
        return line
    pairs, counts = np.unique(np.column_stack([truth, guess])[wrong], axis=0, return_counts=True)
    true, taken = (
        "no label" if label < 0 else names.get(label, str(label)) for label in pairs[counts.argmax()].tolist()
    )
    return f"{line}; most often wrong: {true} labelled {taken} ({counts.max():,})"


def all_scores_line(scenes: Sequence[SceneView]) -> list[str]:
    """A line with what share of each scene is right; none where no truth is known."""
    said = [f"{scene.name} {scene.score.partition(' % of')[0]} %" for scene in scenes if scene.score]
    return [f"Right in each scene: {', '.join(said)}."] if said else []


def shown_labels(scenes: Sequence[SceneView]) -> list[tuple[int, str, str]]:
    """(label, name, colour) of all labels of all scenes, by label; named labels that do not occur keep their colour."""
    present: set[int] = set()
    names: dict[int, str] = {}
    colours: dict[int, str] = {}
    for scene in scenes:
        for key, values in scene.layers.items():
            if key not in (SEGMENTS, CONFIDENCE):
                present |= {int(label) for label in np.unique(values) if label >= 0}
        if scene.reasons is not None:
            present |= set(np.unique(np.c_[scene.reasons.labels, scene.reasons.others]).tolist())
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

"""A file that says which classes of LAS are which of ours, read in both directions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from gapcut.scenes.clouds.cloud import NO_LABEL, PointCloud
from gapcut.scenes.clouds.errors import CloudFileError
from gapcut.scenes.clouds.las_classes import class_names
from gapcut.typing import AnyArray, IntArray

_LARGEST = 255


@dataclass(frozen=True)
class ClassMap:
    """``numbers``: our class -> LAS classes, of which the first is written and all are read."""

    numbers: Mapping[str, tuple[int, ...]]

    @classmethod
    def read(cls, path: str | PathLike[str]) -> ClassMap:
        """From JSON such as ``{"ground": 2, "vegetation": [5, 3, 4]}``. Raises OSError, CloudFileError."""
        try:
            said = json.loads(Path(path).read_text(encoding="utf-8"))
            numbers = {name: tuple(k if isinstance(k, list) else [k]) for name, k in said.items()}
        except (ValueError, AttributeError):
            raise CloudFileError(path, 'is no JSON such as {"ground": 2, "vegetation": [5, 3, 4]}') from None
        for name, classes in numbers.items():
            if not classes or not all(type(k) is int and 0 <= k <= _LARGEST for k in classes):
                raise CloudFileError(path, f"gives {name!r} no LAS class: use numbers from 0 to {_LARGEST}")
        read = [k for classes in numbers.values() for k in classes]
        twice = [k for k in read if read.count(k) > 1]
        if twice:
            raise CloudFileError(path, f"gives LAS class {twice[0]} to two classes")
        return cls(numbers)

    def ours(self, cloud: PointCloud) -> PointCloud:
        """The cloud with its labels as places of our classes in the file. A label that the cloud calls as LAS does, or
        does not name, is a LAS class; else its name is that of one of ours. Points of any other have none."""
        if cloud.labels is None:
            return cloud
        names = list(self.numbers)
        of_number = {k: place for place, name in enumerate(names) for k in self.numbers[name]}
        values, at = np.unique(cloud.labels, return_inverse=True)
        usual = class_names(values)
        places = []
        for value in values.tolist():
            name = cloud.label_names.get(value, usual.get(value))
            own = names.index(name) if name in names else NO_LABEL
            places.append(of_number.get(value, NO_LABEL) if name == usual.get(value) else own)
        labels: IntArray = np.asarray(places, dtype=np.int64)[at]
        return cloud.replace(labels=labels, label_names=dict(enumerate(names)))

    def las(self, labels: AnyArray, names: Mapping[int, str]) -> AnyArray:
        """(N,) uint8 LAS classes of labels called ``names``, 0 for -1. Raises KeyError for a class without one."""
        values, at = np.unique(labels, return_inverse=True)
        classes = [0 if value == NO_LABEL else self.numbers[names[value]][0] for value in values.tolist()]
        return np.asarray(classes, dtype=np.uint8)[at]

    def check(self, names: Mapping[int, str], path: str | PathLike[str]) -> None:
        """Raises CloudFileError where a class of a model has no LAS class."""
        missing = [name for name in names.values() if name not in self.numbers]
        if missing:
            raise CloudFileError(path, f"gives no LAS class for {', '.join(missing)}, which the model knows")

"""Scans to labelled scans: segments, features, contacts, forest, certified learner, in one model file."""

from gapcut.scenes.labelling.corrections import Corrections, apply_corrections, key_of, read_corrections
from gapcut.scenes.labelling.model import LabelledScan, SceneModel
from gapcut.scenes.labelling.scene import SegmentedScan, segment_scan
from gapcut.scenes.labelling.settings import SceneSettings, TrainingOptions
from gapcut.scenes.labelling.training import TrainedScenes, train_scenes

__all__ = [
    "Corrections",
    "LabelledScan",
    "SceneModel",
    "SceneSettings",
    "SegmentedScan",
    "TrainedScenes",
    "TrainingOptions",
    "apply_corrections",
    "key_of",
    "read_corrections",
    "segment_scan",
    "train_scenes",
]

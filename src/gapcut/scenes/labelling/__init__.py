"""Scans to labelled scans: segments, features, contacts, forest, certified learner, in one model file."""

from gapcut.scenes.labelling.model import LabelledScan, SceneModel
from gapcut.scenes.labelling.scene import SegmentedScan, segment_scan
from gapcut.scenes.labelling.settings import SceneSettings, TrainingOptions
from gapcut.scenes.labelling.training import TrainedScenes, train_scenes

__all__ = [
    "LabelledScan",
    "SceneModel",
    "SceneSettings",
    "SegmentedScan",
    "TrainedScenes",
    "TrainingOptions",
    "segment_scan",
    "train_scenes",
]

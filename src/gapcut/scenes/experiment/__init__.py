"""The bridge experiment: bridges, scans, point features, forest, graphs, learning, labels, table."""

from gapcut.scenes.experiment.described import DescribedBridge, describe_bridges
from gapcut.scenes.experiment.folds import FoldResult, run_experiment
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.scenes.experiment.tables import markdown_table, result_document

__all__ = [
    "DescribedBridge",
    "ExperimentSettings",
    "FoldResult",
    "describe_bridges",
    "markdown_table",
    "result_document",
    "run_experiment",
]

"""The bridge experiment: bridges, scans, point features, forest, graphs, learning, labels, table."""

from gapcut.scenes.experiment.folds import FoldGraphs, FoldResult, fold_graphs, run_experiment
from gapcut.scenes.experiment.scans import BridgeScan, describe_bridges
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.scenes.experiment.tables import (
    all_scores,
    headline,
    markdown_report,
    report_tables,
    result_document,
)

__all__ = [
    "BridgeScan",
    "ExperimentSettings",
    "FoldGraphs",
    "FoldResult",
    "all_scores",
    "describe_bridges",
    "fold_graphs",
    "headline",
    "markdown_report",
    "report_tables",
    "result_document",
    "run_experiment",
]

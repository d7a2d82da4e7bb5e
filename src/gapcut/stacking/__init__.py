"""Stacking: classifiers of single nodes whose held-out log-probabilities become node features."""

from gapcut.stacking.base import Base, BaseChoice
from gapcut.stacking.folds import node_folds
from gapcut.stacking.growing import add_context, fit_base, seconds_of_trees, seconds_with_context
from gapcut.stacking.table import BaseFeatures

__all__ = [
    "Base",
    "BaseChoice",
    "BaseFeatures",
    "add_context",
    "fit_base",
    "node_folds",
    "seconds_of_trees",
    "seconds_with_context",
]

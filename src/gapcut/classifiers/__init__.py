"""Classifiers of rows: those of scikit-learn as plain arrays, and what they say of rows they have not seen."""

from gapcut.classifiers.forest import TreeForest
from gapcut.classifiers.held_out import out_of_fold
from gapcut.classifiers.kept import Classifier, InMemory, ProbabilityEstimator, from_arrays, kept
from gapcut.classifiers.linear import softmax

__all__ = [
    "Classifier",
    "InMemory",
    "ProbabilityEstimator",
    "TreeForest",
    "from_arrays",
    "kept",
    "out_of_fold",
    "softmax",
]

"""Feature steps: from raw graphs to the graphs that a model sees."""

from gapcut.features.base import Columns, Step
from gapcut.features.clique_scale import CliqueColumns
from gapcut.features.degree import DegreeScaler
from gapcut.features.edge_scale import EdgeScaler
from gapcut.features.incidence import Incidence, incidence_sums
from gapcut.features.intercept import Intercept
from gapcut.features.lift import SignLift
from gapcut.features.pipeline import FeaturePipeline
from gapcut.features.standardize import NodeStandardizer
from gapcut.features.stumps import QuantileStumps

__all__ = [
    "CliqueColumns",
    "Columns",
    "DegreeScaler",
    "EdgeScaler",
    "FeaturePipeline",
    "Incidence",
    "Intercept",
    "NodeStandardizer",
    "QuantileStumps",
    "SignLift",
    "Step",
    "incidence_sums",
]

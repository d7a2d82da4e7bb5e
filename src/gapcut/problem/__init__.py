"""The learning problem: packed graphs, loss, weight domain.

The only room where graphs become native memory.
"""

from gapcut.problem.learning import FINGERPRINT, LearningProblem, learning_problem
from gapcut.problem.line_search import line_search
from gapcut.problem.packing import Room, indicator_losses, loss_weights, row_matrix
from gapcut.problem.shards import plane_ends, shard_ends

__all__ = [
    "FINGERPRINT",
    "LearningProblem",
    "Room",
    "indicator_losses",
    "learning_problem",
    "line_search",
    "loss_weights",
    "plane_ends",
    "row_matrix",
    "shard_ends",
]

"""The learning problem: packed graphs, loss, weight domain.

The only room where graphs become native memory.
"""

from gapcut.problem.learning import FINGERPRINT, LearningProblem, learning_problem
from gapcut.problem.packing import indicator_losses, loss_weights, row_matrix

__all__ = [
    "FINGERPRINT",
    "LearningProblem",
    "indicator_losses",
    "learning_problem",
    "loss_weights",
    "row_matrix",
]

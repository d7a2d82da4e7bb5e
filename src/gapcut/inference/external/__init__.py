"""Solvers of other projects, each run in a child process that can be killed.

``worker.py``, ``linear.py`` and ``toulbar.py`` are what the child runs; they import nothing of this package, so that a
child starts fast.
"""

from gapcut.inference.external.child import Ended, SolverDied, run_child

__all__ = ["Ended", "SolverDied", "run_child"]

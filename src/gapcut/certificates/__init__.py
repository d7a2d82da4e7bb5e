"""Proven bounds of the optimum of a learning problem."""

from gapcut.certificates.bounds import Bounds, dual_bound, primal_bound, trivial_bound
from gapcut.certificates.certificate import Certificate
from gapcut.certificates.theorem import iteration_bound

__all__ = ["Bounds", "Certificate", "dual_bound", "iteration_bound", "primal_bound", "trivial_bound"]

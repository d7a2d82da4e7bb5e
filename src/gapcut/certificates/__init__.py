"""Proofs: bounds of the optimum of a learning problem, rounding included, and the certificate made of them."""

from gapcut.certificates.bounds import Bounds, dual_bound, primal_bound, trivial_bound
from gapcut.certificates.certificate import (
    Callback,
    Certificate,
    OneHotClaim,
    Record,
    SharedRecord,
    Status,
)
from gapcut.certificates.progress import spoken
from gapcut.certificates.proof import DualPoint, Proof, packed, prove
from gapcut.certificates.shown import at_least, at_most, gap_percent, in_table, outwards
from gapcut.certificates.theorem import iteration_bound

__all__ = [
    "Bounds",
    "Callback",
    "Certificate",
    "DualPoint",
    "OneHotClaim",
    "Proof",
    "Record",
    "SharedRecord",
    "Status",
    "at_least",
    "at_most",
    "dual_bound",
    "gap_percent",
    "in_table",
    "iteration_bound",
    "outwards",
    "packed",
    "primal_bound",
    "prove",
    "spoken",
    "trivial_bound",
]

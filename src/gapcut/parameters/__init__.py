"""The parameters of an estimator: their one declaration, and what follows from it."""

from gapcut.parameters.declaration import Range, accepted, allowed, parameters_section, summary, texts
from gapcut.parameters.declared import (
    BaseFeaturesChoice,
    Callback,
    Frozen,
    LearnerName,
    NodeLiftChoice,
    Nonnegative,
    OracleName,
    PairwiseKind,
    Parameters,
    Positive,
    SignRule,
    sign_rule_for,
)
from gapcut.parameters.versions import DEFAULTS, defaults

__all__ = [
    "DEFAULTS",
    "BaseFeaturesChoice",
    "Callback",
    "Frozen",
    "LearnerName",
    "NodeLiftChoice",
    "Nonnegative",
    "OracleName",
    "PairwiseKind",
    "Parameters",
    "Positive",
    "Range",
    "SignRule",
    "accepted",
    "allowed",
    "defaults",
    "parameters_section",
    "sign_rule_for",
    "summary",
    "texts",
]

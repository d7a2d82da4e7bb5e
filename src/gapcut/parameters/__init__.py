"""The parameters of an estimator: their one declaration, and what follows from it."""

from gapcut.parameters.declaration import Range, accepted, allowed, parameters_section, summary, texts
from gapcut.parameters.declared import (
    Callback,
    Frozen,
    LearnerName,
    NodeLiftChoice,
    Nonnegative,
    OracleName,
    Parameters,
    Positive,
    SignRule,
    sign_rule_for,
)

__all__ = [
    "Callback",
    "Frozen",
    "LearnerName",
    "NodeLiftChoice",
    "Nonnegative",
    "OracleName",
    "Parameters",
    "Positive",
    "Range",
    "SignRule",
    "accepted",
    "allowed",
    "parameters_section",
    "sign_rule_for",
    "summary",
    "texts",
]

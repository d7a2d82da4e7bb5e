"""Learners and oracles side by side: cross-validation, the paper's columns, and what is proven of each."""

from gapcut.comparison.contenders import Contender, default_contenders, parse_contenders
from gapcut.comparison.document import comparison_document
from gapcut.comparison.folds import (
    Comparison,
    FoldResult,
    Part,
    Row,
    compare,
    compare_parts,
    cpu_clock,
    cpu_limit,
)
from gapcut.comparison.labelling import MethodRow, compare_methods
from gapcut.comparison.markdown import comparison_markdown, methods_table, rows_table

__all__ = [
    "Comparison",
    "Contender",
    "FoldResult",
    "MethodRow",
    "Part",
    "Row",
    "compare",
    "compare_methods",
    "compare_parts",
    "comparison_document",
    "comparison_markdown",
    "cpu_clock",
    "cpu_limit",
    "default_contenders",
    "methods_table",
    "parse_contenders",
    "rows_table",
]

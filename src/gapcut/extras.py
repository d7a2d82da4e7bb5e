"""Packages that only some work needs; extras install them."""

from __future__ import annotations

from typing import Any


def needed(module: str, what: str, extra: str, more: str = "") -> Any:
    """The top-level package of a module, the module imported; ImportError says what needs it and what installs it."""
    try:
        return __import__(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{what} {package}: pip install "gapcut[{extra}]"{more}') from error

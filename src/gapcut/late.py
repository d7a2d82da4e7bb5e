"""scipy.sparse, imported when it is first used: it takes longer to import than NumPy and this package together."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy import sparse
    from scipy.sparse import issparse as is_sparse
else:

    class _Late:
        """Stands for a module until one of its names is asked for."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    sparse = _Late("scipy.sparse")

    def is_sparse(value: Any) -> bool:
        """``scipy.sparse.issparse``; before its import nothing is."""
        return "scipy.sparse" in sys.modules and sparse.issparse(value)


__all__ = ["is_sparse", "sparse"]

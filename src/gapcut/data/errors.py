"""What is said about a graph that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence


class GraphError(ValueError):
    """One line: which graph, which node, edge or feature, what is wrong with it, what to do.

    ``detail`` is the line without the graph, so that whoever knows the graph's place in a set
    or a file can say it.
    """

    def __init__(self, detail: str, where: str = "graph") -> None:
        super().__init__(f"{where}: {detail}")
        self.detail = detail
        self.where = where

    def __reduce__(self) -> tuple[type[GraphError], tuple[str, str]]:
        return GraphError, (self.detail, self.where)

    def at(self, where: str) -> GraphError:
        """The same complaint with another place."""
        return GraphError(self.detail, where)


def place(index: int | None, name: str | None) -> str:
    """How messages call a graph: ``graph 3 ('north pier')``."""
    number = "graph" if index is None else f"graph {index}"
    if name is None:
        return number
    return f"{number} {name!r}" if index is None else f"{number} ({name!r})"


def names_differ(kind: str, names: Sequence[str], known: Sequence[str], whose: str) -> str:
    """What is wrong with names of feature columns that are not those of ``whose``."""
    new, gone = ([n for n in a if n not in b] for a, b in ((names, known), (known, names)))
    parts = [f"{_some(those)} {what}" for those, what in ((new, "new"), (gone, "missing")) if those]
    return f"its {kind} features are not those of {whose}: {', '.join(parts) or 'the order is another'}"


def _some(names: Sequence[str]) -> str:
    some = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    return f"{some} {'is' if len(names) == 1 else 'are'}"

"""What is said about a graph that cannot be used."""

from __future__ import annotations


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

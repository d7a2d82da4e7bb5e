"""Graphs and sets of graphs: validation, files."""

from gapcut.data.cliques import CliqueSet, tuple_codes
from gapcut.data.errors import GraphError, names_differ, place
from gapcut.data.graph import Graph, all_forests, connected_parts
from gapcut.data.graph_set import GraphSet, as_graphs
from gapcut.data.npz import GraphFileError

__all__ = [
    "CliqueSet",
    "Graph",
    "GraphError",
    "GraphFileError",
    "GraphSet",
    "all_forests",
    "as_graphs",
    "connected_parts",
    "names_differ",
    "place",
    "tuple_codes",
]

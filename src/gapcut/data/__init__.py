"""Graphs and sets of graphs: validation, files."""

from gapcut.data.cliques import CliqueSet, tuple_codes
from gapcut.data.errors import GraphError, names_differ, place
from gapcut.data.folder import (
    GraphFolder,
    each_set,
    graph_files,
    load_graph_file,
    sample_of,
    save_in_parts,
)
from gapcut.data.graph import Graph, all_forests, connected_parts
from gapcut.data.graph_set import NO_GRAPHS, GraphSet, as_graphs
from gapcut.data.npz import GraphFileError, unpacked_bytes
from gapcut.data.parts import is_parts

__all__ = [
    "NO_GRAPHS",
    "CliqueSet",
    "Graph",
    "GraphError",
    "GraphFileError",
    "GraphFolder",
    "GraphSet",
    "all_forests",
    "as_graphs",
    "connected_parts",
    "each_set",
    "graph_files",
    "is_parts",
    "load_graph_file",
    "names_differ",
    "place",
    "sample_of",
    "save_in_parts",
    "tuple_codes",
    "unpacked_bytes",
]

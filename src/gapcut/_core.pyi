"""Compiled core of gapcut. Private: use the Python rooms, they validate."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class Interrupted(RuntimeError):
    pass

class RowMatrix:
    """Feature rows; stored dense or compressed by content."""

    @staticmethod
    def from_dense(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RowMatrix: ...

    @staticmethod
    def from_csr(cols: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowMatrix: ...

    @property
    def rows(self) -> int: ...

    @property
    def cols(self) -> int: ...

    @property
    def sparse(self) -> bool: ...

class Problem:
    """All training graphs, packed."""

    @staticmethod
    def make(n_labels: int, nodes: RowMatrix, edges: RowMatrix, node_offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Problem: ...

    def restrict_to(self, coordinates: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_graphs(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

    @property
    def node_dim(self) -> int: ...

    @property
    def edge_dim(self) -> int: ...

    @property
    def full_dim(self) -> int: ...

    @property
    def dim(self) -> int: ...

    @property
    def coordinates(self) -> NDArray[numpy.int32]: ...

    @property
    def node_offset(self) -> NDArray[numpy.int64]: ...

    @property
    def edge_offset(self) -> NDArray[numpy.int64]: ...

    def true_feature_sum(self) -> NDArray[numpy.float64]: ...

    def nonnegative_edge_columns(self) -> NDArray[numpy.bool_]: ...

    def absolute_feature_sums(self) -> NDArray[numpy.float64]: ...

    def feature_radius(self) -> float: ...

def max_flow(excess: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arcs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], forward: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], backward: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Value of a maximum flow and (n,) uint8 source side of a minimum cut; integer capacities.
    """

def closure(gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pairs: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], persistency: bool = True) -> tuple:
    """
    Maximiser z of a'z + sum b_ij z_i z_j, the rounding bound, and how many variables needed a cut.
    """

class CutOracle:
    """Exact loss-augmented inference by min cut, threads over graphs."""

    def __init__(self, problem: Problem, threads: int) -> None: ...

    def evaluate(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], graphs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seconds: float | None = None) -> tuple:
        """
        Planes (m, dim), losses (m,) and proven bounds (m,) of the named graphs.
        """

    def total(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seconds: float | None = None) -> tuple:
        """
        Mean plane (dim,), mean loss, mean bound and cut statistics over all graphs.
        """

    def labelings(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], graphs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint8]:
        """The maximisers, V * K bytes a graph."""

    def use_persistency(self, on: bool) -> None: ...

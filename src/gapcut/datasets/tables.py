"""Tables in register books (Clinchant, Dejean, Meunier et al., DAS 2018): the place of a line in its cell."""

from __future__ import annotations

from gapcut.data import GraphSet
from gapcut.datasets.files import Root, file_of


def load_tables(root: Root) -> tuple[GraphSet, GraphSet]:
    """The 102 distinct training pages and the 150 test pages, from ``abp_train144.npz`` and ``abp_test150.npz``.

    Nodes are text lines (29 features), edges neighbours on the page (140 features, some negative), labels 0 begin, 1
    inside, 2 end, 3 single, 4 outside of a cell. 42 of the 144 training pages repeat others and are left out.
    """
    train = GraphSet.load(file_of(root, "abp_train144.npz"), select="first_occurrence")
    return train, GraphSet.load(file_of(root, "abp_test150.npz"))

"""The scikit-learn face of gapcut."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from inspect import cleandoc
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from gapcut.data import as_graphs
from gapcut.machine import Machine
from gapcut.parameters import Parameters, parameters_section


class StructuredSVM(BaseEstimator, Machine):  # type: ignore[misc]
    r"""Structural support vector machine for the labels of graphs, with a proven gap to the global optimum.

    It learns weights ``w`` of the score ``sum_u w^{y_u} . phi(u) + sum_{(u,v)} w^{y_u y_v} . phi(u,v)`` by
    minimising::

        1/2 |w|^2 + C/n sum_i max_z [loss(y_i, z) - w'(Psi(x_i, y_i) - Psi(x_i, z))]

    over pairwise weights >= 0 (and cliques, ``sum_c w^{y_c} . phi(c)``, where graphs have them; clique weights are >= 0
    as well), where ``z``
    runs over all indicator vectors in ``{0,1}^{V x K}``: one exact min cut per graph (the problem
    is called "relaxed binary" in the certificate).

    **What C means.** ``C`` weighs the *mean* over the ``n`` training graphs of the slack, and the loss of
    a graph runs from 0 to ``loss_scale * K / 2`` (one wrong node costs ``loss_scale`` times its share of
    the graph's node weights, times its cost where there are ``costs``). So C need not change with the
    number of graphs or their sizes; ten times the ``loss_scale`` with a tenth of the ``C`` gives ten
    times the weights and the same labels. The penalty ``|w|^2`` sees features as they are after the
    feature steps: multiplying a column by 10 makes its weight 100 times cheaper, so scaling of features
    and of the intercept changes what ``C`` means. ``standardize=True`` takes the raw units out of
    it.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : (K,) array
        Labels in the order of the weight rows.
    unary_, pairwise_ : (K, Dn), (K, K, De) arrays
        Learned weights over the features after the feature steps, named by ``node_names_`` and
        ``pipeline_.edge_names``; ``pairwise_[k, l]`` belongs to edges from label k to label l.
    cliques_ : tuple of ((T, d), (T, D)) arrays
        For each clique group the label tuples and their weights, columns named by ``pipeline_.clique_names``.
    certificate_ : :class:`gapcut.certificates.Certificate`
        lower <= optimum <= objective of this model <= upper, and the status.
    history_ : tuple of :class:`gapcut.certificates.Record`
        One record per pass.
    eta_, xi_ : float or None
        Violations at the end of Algorithm 1 (``learner="cutting-plane"``). Stopped by ``eps``, ``1/2 |w|^2 + C xi_`` is
        at most the optimum and ``(w, xi_ + eps)`` is feasible (Theorem 4.1). Not kept in files.
    pipeline_ : :class:`gapcut.features.FeaturePipeline`
        Fitted feature steps; part of the saved model.
    node_names_ : tuple of str
        Those of ``pipeline_.node_names`` and, where there is a ``base``, of its log-probabilities; these alone beside a
        column of ones where they stand in place of the node features.
    C_ : float
        The C of the model: what ``C="cv"`` chose, or the one given.
    choice_ : :class:`gapcut.model.chosen.Choice` or None
        Where C or the base were chosen: accuracies on held-out folds, and the reason in words.
    n_features_in_ : int
        Raw node feature columns.
    feature_names_in_ : array of str
        Their names, where the training graphs had names (those of a DataFrame, or given).

    Examples
    --------
    >>> from gapcut import Graph, StructuredSVM
    >>> graphs = [Graph([[0.0], [1.0]], [[0, 1]], [[1.0]], labels=["a", "b"]) for _ in range(4)]
    >>> svm = StructuredSVM(C=10.0).fit(graphs)
    >>> [labels.tolist() for labels in svm.predict(graphs[:1])]
    [['a', 'b']]
    >>> bool(svm.certificate_.relative_gap <= 0.01)
    True
    """

    def fit(
        self, X: Iterable[Any], y: Sequence[Any] | None = None, *, node_weights: Sequence[Any] | None = None
    ) -> Self:
        """:meth:`gapcut.machine.Machine.fit`, which says what is taken and raised; warns with scikit-learn's
        ``ConvergenceWarning`` where a limit, a callback or Ctrl-C came before the target, and with a ``UserWarning``
        where C is plainly too small.

        ``node_weights``: one (V,) array a graph, or None in its place, in place of the graphs' own. scikit-learn routes
        them, cut to the folds, with ``set_fit_request(node_weights=True)``.
        """
        super().fit(*_weighted(X, y, node_weights))
        if self.certificate_.status == "stopped":
            warnings.warn(self.model_.message, ConvergenceWarning, stacklevel=2)
        if self.model_.advice is not None:
            warnings.warn(self.model_.advice, UserWarning, stacklevel=2)
        return self

    def score(
        self, X: Iterable[Any], y: Sequence[Any] | None = None, *, node_weights: Sequence[Any] | None = None
    ) -> float:
        """Weight of the nodes labelled right over the weight of all labelled nodes; ``node_weights`` as in
        :meth:`fit`."""
        return super().score(*_weighted(X, y, node_weights))

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None

    def __sklearn_tags__(self) -> Any:
        """Graphs are no arrays: scikit-learn must not check them."""
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.target_tags = replace(tags.target_tags, required=False)
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The same for scikit-learn before 1.6."""
        return {"no_validation": True, "requires_y": False}


def _weighted(
    X: Iterable[Any], y: Sequence[Any] | None, node_weights: Sequence[Any] | None
) -> tuple[Iterable[Any], Sequence[Any] | None]:
    return (X, y) if node_weights is None else (as_graphs(X, y).with_node_weights(node_weights), None)


if StructuredSVM.__doc__:  # not under python -OO; not indented, as from Python 3.13 on all are
    StructuredSVM.__doc__ = cleandoc(StructuredSVM.__doc__).replace(
        "{parameters}", parameters_section(Parameters)
    )

__all__ = ["StructuredSVM"]

"""The scikit-learn face of gapcut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from gapcut.machine import Machine


class StructuredSVM(BaseEstimator, Machine):  # type: ignore[misc]
    r"""Structural support vector machine for the labels of graphs, with a proven gap to the global optimum.

    It learns weights ``w`` of the score ``sum_u w^{y_u} . phi(u) + sum_{(u,v)} w^{y_u y_v} . phi(u,v)`` by
    minimising::

        1/2 |w|^2 + C/n sum_i max_z [loss(y_i, z) - w'(Psi(x_i, y_i) - Psi(x_i, z))]      pairwise weights >=
        0

    (and of cliques, ``sum_c w^{y_c} . phi(c)``, where graphs have them; clique weights are >= 0 as well), where ``z``
    runs over all indicator vectors in ``{0,1}^{V x K}``: one exact min cut a graph (the problem
    is called "relaxed binary" in the certificate).

    **What C means.** ``C`` weighs the *mean* over the ``n`` training graphs of the slack, and the loss of a
    graph runs from 0 to ``loss_scale * K / 2`` (one wrong node costs ``loss_scale`` times its share of the
    graph's node weights). So C need not change with the number of graphs or their sizes; ten times the
    ``loss_scale`` with a tenth of the ``C`` gives ten times the weights and the same labels. The penalty
    ``|w|^2`` sees features as they are after the feature steps: multiplying a column by 10 makes its weight
    100 times cheaper, so scaling of features and of the intercept changes what ``C`` means.
    ``standardize=True`` takes the raw units out of it.

    Parameters
    ----------
    C : float > 0
        Trade-off between training loss and ``1/2 |w|^2``; see above.
    loss_scale : float > 0
        Loss of a graph in which every node is labelled wrong by a one-hot labeling (rho).
    gap : float >= 0
        Stop once (upper - lower) / upper is proven to be at most this.
    eps : float > 0, optional
        Stop of ``learner="cutting-plane"`` in place of ``gap``: eta - xi <= eps, as Algorithm 1 has it.
    learner : {"auto", "primal-dual", "block", "cutting-plane", "frank-wolfe", "subgradient"}
        ``auto``: ``primal-dual`` with the cut, ``block`` with every other oracle and for graphs with cliques.
        ``primal-dual``:
        first-order steps on the tight relaxation, certified by the exact oracle.
        ``block``: block coordinate ascent with a cache of planes. ``cutting-plane``: Algorithm 1 of the
        paper. ``frank-wolfe`` and ``subgradient``: classic methods, for comparison; slow, but certified too.
    oracle : {"cut", "tree", "trws", "ilp", "lp", "qpbo", "qpbo-rounded", "icm", "bp", "brute", "auto"}
        What solves the inner maximum, and with it which problem is learned; the certificate names it.
        ``cut``: labels as independent indicators, pairwise weights >= 0, one exact min cut a graph.
        One label a node (the standard structural SVM), weights of any sign: ``tree``, exact on graphs without
        cycles; ``trws``, message passing whose bound certifies as far as it is tight; ``ilp``, exact and slow;
        ``lp``, which certifies the LP-relaxed problem. For comparison, never certified: ``icm``, ``bp``;
        ``qpbo`` (half labels, a pair of them counts 1/4), ``qpbo-rounded`` (1/2 where the score is positive,
        else 0; ``qpbo-rounded-energy``: the other way round). ``brute``: enumeration, for tests on tiny graphs.
        ``auto``: ``tree`` where no training graph has a cycle, else ``cut``. Which to take: ``tree`` without
        cycles, always (exact, and the more classes, the better it is than ``cut``). With cycles, ``cut`` first:
        it is surely certified, in the least time. Then try ``trws``: it takes a few times as long, and where its
        proven gap closes it was as accurate as ``cut`` or more so; where the gap stays open it proves little.
    incidence : bool
        Add to every node the sums of its outgoing and of its incoming edge features. ``False``: the paper as
        written.
    classes : sequence of labels, optional
        The label set, in the order of the weight rows; labels of the data must be among them, and one without
        training nodes stays a legal label. Default: the sorted labels of the training data.
    inference : {"auto", "trws", "expansion", "qpbo", "bp", "icm", "lp", "ilp", "exact", "brute"}
        How :meth:`predict` and :meth:`infer` minimise the energy.
    standardize, intercept, edge_lift, node_lift, degree_scale, incidence_scale
        Feature steps; see :class:`gapcut.features.FeaturePipeline`.
    nonnegative : "auto", "pairwise", "none", boolean array, or mapping
        "auto": "pairwise" with ``oracle="cut"``, "none" with oracles that take any sign. The
        sign-constrained weights: all pairwise ones, or those where an array of shape (K, K, De) (or its
        flat form) is True; a mapping holds arrays "unary" (K, Dn) and/or "pairwise". ``oracle="cut"`` needs
        every pairwise weight non-negative.
    class_weight : None, "balanced" or mapping from label to weight
        Multiplies the loss of the nodes of a class; "balanced" is inverse to the classes' node weights.
    qp : {"dual", "clarabel"}
        Solver of the working-set program of ``learner="cutting-plane"``.
    warm_start : bool
        A fit to the data of the fit before, with another C or a smaller gap, goes on from the state that the
        primal-dual learner reached; the certificate is made anew. The state is kept with the estimator (12 bytes
        an edge and active label pair) but not pickled, copied or saved. Fits to other data start anew.
    n_jobs : int or None
        Threads over graphs; the model is the same bit for bit for any number. -1: all cores.
    max_passes : int, optional
        Stop after so many passes over the graphs.
    time_limit : float, optional
        Stop after so many seconds, also inside a pass.
    checkpoint : path, optional
        File that is renewed every few seconds; a fit that finds it goes on from it, and ends with the model it
        would have had without the interruption. Deleted once the target gap is met.
    callback : callable, optional
        Called with a :class:`gapcut.certificates.Record` after every pass; returning True stops with the
        best model so far. The only way to see progress: fit never prints.
    random_state : int, RandomState or None
        Seed of the learner's random order; None means 0, so that every run is repeatable.
    frozen : mapping, optional
        Weights fixed at a value: float arrays "unary" (K, Dn) and/or "pairwise" (K, K, De) over the features
        after the feature steps, NaN where a weight is to be learned.

    Attributes
    ----------
    classes_ : (K,) array
        Labels in the order of the weight rows.
    unary_, pairwise_ : (K, Dn), (K, K, De) arrays
        Learned weights over the features after the feature steps, named by ``pipeline_.node_names`` and
        ``pipeline_.edge_names``; ``pairwise_[k, l]`` belongs to edges from label k to label l.
    cliques_ : tuple of ((T, d), (T, D)) arrays
        For each clique group the label tuples and their weights, columns named by ``pipeline_.clique_names``.
    certificate_ : :class:`gapcut.certificates.Certificate`
        lower <= optimum <= objective of this model <= upper, and the status.
    history_ : tuple of :class:`gapcut.certificates.Record`
        One record a pass.
    pipeline_ : :class:`gapcut.features.FeaturePipeline`
        Fitted feature steps; part of the saved model.
    n_features_in_ : int
        Raw node feature columns.

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


__all__ = ["StructuredSVM"]

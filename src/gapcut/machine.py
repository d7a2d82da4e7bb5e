"""Training, prediction and model files of :class:`gapcut.StructuredSVM`, without scikit-learn.

Importing scikit-learn takes longer than many fits, so the command line works with this class; the estimator adds
what scikit-learn asks for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, Self

import numpy as np

from gapcut.certificates import Callback, Certificate, Proof, Record, spoken
from gapcut.data import Graph, GraphFolder, GraphSet, as_graphs
from gapcut.engines.shards import ClusterLost, ShardEngine, open_shards
from gapcut.features import FeaturePipeline
from gapcut.files import blame, try_to_write, write_container
from gapcut.inference import Energy, Solution
from gapcut.learners import LearnResult
from gapcut.learners.base import STOPPED_BY_USER
from gapcut.metrics import score_graphs
from gapcut.model.choice import advice, decide
from gapcut.model.chosen import Choice
from gapcut.model.claim import ClaimCheck, check_claim
from gapcut.model.fitted import FittedModel
from gapcut.model.kept_choice import found_before, to_keep
from gapcut.model.labels import LabelCoder
from gapcut.model.pairing import LEARNERS
from gapcut.model.proof import check_provable, prove_model, prove_result
from gapcut.model.settings import Settings
from gapcut.model.storage import pack_model, read_model, read_param, unpack_model
from gapcut.model.training import TrainingSet, as_given, build_problem, fitted, graphs_of, learn, learn_path
from gapcut.parameters import Parameters
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray

_NOT_KEPT = ("callback", "checkpoint", "verbose", "engine", "address")
"""Parameters that no model file holds, and that none is believed: a file names no code to call and no file to write,
and what a fit printed is no part of its model."""


class Machine(Parameters):
    """Parameters, attributes and methods are those of :class:`gapcut.StructuredSVM`; this wires the rooms together and
    holds no algorithm."""

    def fit(self, X: Iterable[Any], y: Sequence[Any] | None = None) -> Self:
        """Learn from labelled graphs.

        ``X``: graphs, or PyStruct tuples ``(node_features, edges[, edge_features])``. A ``GraphFolder`` is read a part
        at a time, again whenever it is needed, for the same bits (docs/many-machines.md). ``y``: None, or one label
        array a graph, which replaces the graphs' own. Unlabelled nodes (None) take part in the feature steps and are
        left out of the loss. Ctrl-C keeps the best model so far; its certificate holds, with status "stopped".

        Raises ValueError (TypeError for things that are no graphs or numbers) with one line that names the culprit;
        OSError, first of all, if ``checkpoint`` cannot be written. ``time_limit`` counts from the call.
        """
        self.fit_resumable(X, y)
        if self.checkpoint is not None and self.certificate_.status == "certified":
            Path(self.checkpoint).unlink(missing_ok=True)
        return self

    def fit_resumable(self, X: Iterable[Any], y: Sequence[Any] | None = None) -> Self:
        """:meth:`fit`, but the checkpoint stays when the target is met: to be deleted once the model is on disk."""
        with closing(self._shards()) as engine:
            self._train(X, y, engine)
        return self

    def fit_proven(self, X: Iterable[Any], y: Sequence[Any] | None = None) -> Proof:
        """:meth:`fit_resumable`, and a proof of the model's claim for others to check (docs/proofs.md).

        Raises ValueError, before the work, where there is none: with cliques, and for problems other than the relaxed
        binary and the LP-relaxed one-hot one.
        """
        graphs = as_graphs(X, y)
        check_provable(self._settings().settled(graphs), graphs)
        with closing(self._shards()) as engine:
            trained = self._train(graphs, None, engine)
            return prove_result(*trained, self._fitted())

    def _shards(self) -> ShardEngine:
        """Where the weights are learned; to be closed."""
        settings = self._settings()
        return open_shards(settings.engine, settings.address)

    def _train(
        self, X: Iterable[Any], y: Sequence[Any] | None, engine: ShardEngine
    ) -> tuple[TrainingSet, LearningProblem, Settings, LearnResult]:
        start = time.monotonic()
        settings = self._settings()
        limit = settings.time_limit
        if settings.checkpoint is not None:
            try_to_write(Path(settings.checkpoint))
        chosen = None
        graphs = graphs_of(X, y)
        if settings.searches:
            found = found_before(graphs, settings) or decide(graphs, settings)
            chosen = to_keep(settings, found)
        else:
            found = as_given(graphs, settings)
        data, settings = found.data, found.settings
        problem = build_problem(data, settings)
        if limit is not None:
            settings = replace(settings, time_limit=max(0.0, start + limit - time.monotonic()))
        reached = getattr(self, "_reached", None) if settings.warm_start else None
        result = learn(data, problem, settings, reached, chosen, engine)
        self._reached = None
        if settings.warm_start and result.warm_start is not None:
            with suppress(ClusterLost, MemoryError):  # the model is there, what it was reached from is not
                self._reached = result.warm_start()
        proven, choice = result.certificate, found.choice
        asked = (choice is None or not choice.trials) and proven.status == "certified"
        left = None if limit is None else start + limit - time.monotonic()
        warning = advice(data, settings, problem, proven.upper, left) if asked else None
        self._adopt(
            replace(
                fitted(data, problem, result), choice=choice, temperature=found.temperature, advice=warning
            )
        )
        return data, problem, settings, result

    def fit_path(
        self, X: Iterable[Any], C_values: Iterable[float], y: Sequence[Any] | None = None
    ) -> list[Self]:
        """One fitted estimator per value of C, in the order given; this estimator stays as it is.

        Feature steps and packed graphs are shared, and the primal-dual learner carries its whole state from one C to
        the next: ascending values are fastest. Each model has a certificate of its own. Limits hold for each C; Ctrl-C
        ends the C at hand alone. Where there is no memory for the next, those before it come, with a warning.
        """
        params = self.get_params(deep=False)
        estimators = [type(self)(**{**deepcopy(params), "C": float(C)}) for C in C_values]
        if not estimators:
            raise ValueError("C_values is empty: name at least one C")
        settings = [e._settings() for e in estimators]
        if self.checkpoint is not None:
            raise ValueError("fit_path has one checkpoint for many C: leave checkpoint=None")
        values = [s.trade_off for s in settings]
        decided = decide(graphs_of(X, y), settings[0], values)
        problem = build_problem(decided.data, decided.settings)
        choices = (None if decided.choice is None else replace(decided.choice, C=C) for C in values)
        with closing(self._shards()) as engine:
            models = learn_path(decided.data, problem, decided.settings, values, engine, whole=False)
            found = zip(estimators, models, choices, strict=False)
            return [e._adopt(replace(model, choice=choice)) for e, model, choice in found]

    def of_sample(self, graphs: int, left_out: int) -> Self:
        """Note that it was fitted to a random sample: all that shows its certificate says so."""
        model = self.model_
        self._model = replace(model, data=replace(model.data, sample=graphs, left_out=left_out))
        return self

    def predict(self, X: Iterable[Any]) -> list[AnyArray]:
        """Labels of every node, one (V,) array per graph, in the labels given at fit."""
        return [solution.labels for solution in self.solutions(X)]

    def predict_proba(
        self, X: Iterable[Any], solutions: Sequence[Solution[AnyArray]] | None = None
    ) -> list[FloatArray]:
        """Probability of each label at every node, one (V, K) array per graph, columns in the order of ``classes_``.

        A node's row is what its label could be with all other labels kept as they are predicted: the softmax of minus
        the energies of these labelings over a temperature. That was fitted on graphs held out in training (Guo et al.,
        ICML 2017), so that of nodes with 0.9 about nine in ten are right. ``solutions`` of :meth:`solutions`, where
        they are known. Raises ValueError for a model fitted without a temperature (``probability``) or with cliques.
        """
        model, graphs = self._fitted(), self._raw(X)
        found = self.solutions(graphs) if solutions is None else solutions
        return model.probabilities(graphs, [s.labels for s in found], self._settings().threads)

    def predict_log_proba(self, X: Iterable[Any]) -> list[FloatArray]:
        """Logarithms of :meth:`predict_proba`, -inf where a probability is too small for a number."""
        with np.errstate(divide="ignore"):
            return [np.log(p) for p in self.predict_proba(X)]

    def solutions(self, X: Iterable[Any]) -> list[Solution[AnyArray]]:
        """:meth:`infer` for several graphs, on ``n_jobs`` threads."""
        model, settings = self._fitted(), self._settings()
        return model.infer_all(self._raw(X), settings.inference, settings.threads)

    def infer(self, graph: Any, time_limit: float | None = None) -> Solution[AnyArray]:
        """Best labeling found for one graph, with its energy and a proven lower bound of all labelings' energies."""
        return self._fitted().infer(self._raw([graph])[0], self._settings().inference, time_limit)

    def energy(self, graph: Any) -> Energy:
        """Unary, pairwise and clique tables of the learned model on one graph; label k stands for ``classes_[k]``."""
        return self._fitted().energy(self._raw([graph])[0])

    def score(self, X: Iterable[Any], y: Sequence[Any] | None = None) -> float:
        """Weight of the nodes labelled right over the weight of all labelled nodes."""
        model, graphs = self._fitted(), as_graphs(X, y)
        scores = score_graphs(graphs, self.predict(graphs), model.coder.classes)
        if not scores.nodes > 0:
            raise ValueError("no labelled node with a positive weight to score on: give labels")
        return scores.accuracy

    def check(
        self, X: Iterable[Any], time_limit: float | None = None, callback: Callback | None = None
    ) -> ClaimCheck:
        """Prove both ends of the certificate again from the labelled graphs of the fit, trusting nothing in the model.

        ``time_limit`` in seconds, for the lower end; ``callback`` as at construction.
        """
        settings = self._posed()
        return check_claim(self._fitted(), settings, self._raw(X), time_limit, callback)

    def prove(
        self, X: Iterable[Any], time_limit: float | None = None, callback: Callback | None = None
    ) -> Proof:
        """A proof of the model's claim, from the labelled graphs of the fit, for others to check (docs/proofs.md).

        The lower end is reached anew by a training run, within ``time_limit`` seconds. Raises ValueError for other
        graphs, and as :meth:`fit_proven`.
        """
        settings = self._posed()
        return prove_model(self._fitted(), settings, self._raw(X), time_limit, callback)

    def takes_checkpoint(self, X: Iterable[Any]) -> bool:
        """Whether a fit to these graphs can be kept on disk and resumed."""
        graphs = X if isinstance(X, GraphFolder) else self._raw(X)
        return LEARNERS[self._settings().settled(graphs).learner].takes_checkpoint

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor parameters by name, ``deep`` or not."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor parameters. ValueError for an unknown name."""
        for name, value in params.items():
            if name not in self._parameter_names():
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
            setattr(self, name, value)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all: weights, feature steps, certificate, history, parameters.

        Parameters are those of the fit; ``checkpoint`` and what is not plain data (a callback, a RandomState) are left
        out. Raises ValueError for labels that are not int, str, bool or float, and for a base that is kept in memory
        only.
        """
        write_container(Path(path), *self.to_state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file. Raises :class:`gapcut.ModelFileError` if it is no model, or was damaged or altered."""
        model, params = read_model(Path(path))
        with blame(Path(path)):
            return cls._of(model, params)

    @classmethod
    def _of(cls, model: FittedModel, params: dict[str, Any]) -> Self:
        unknown = sorted(set(params) - set(cls._parameter_names()))
        if unknown:
            raise ValueError(f"unknown parameter {unknown[0]!r}")
        estimator = cls(
            **{name: read_param(value) for name, value in params.items() if name not in _NOT_KEPT}
        )
        estimator._settings()
        return estimator._adopt(model)

    def to_state(self) -> tuple[dict[str, AnyArray], dict[str, Any]]:
        """Arrays and a JSON-able document: what :meth:`save` writes, to be part of another file."""
        model = self._fitted()
        return pack_model(model, {**self._fit_params, "inference": self.inference, "n_jobs": self.n_jobs})

    @classmethod
    def from_state(cls, arrays: dict[str, AnyArray], document: dict[str, Any]) -> Self:
        """Back from :meth:`to_state`. Raises ValueError and its kin for anything else."""
        return cls._of(*unpack_model(arrays, document))

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
    def interrupted_(self) -> bool:
        """Whether Ctrl-C ended the fit early; the model is the best one until then."""
        return STOPPED_BY_USER in self._fitted("interrupted_").message

    @property
    def eta_(self) -> float | None:
        return self._fitted("eta_").eta

    @property
    def xi_(self) -> float | None:
        return self._fitted("xi_").xi

    @property
    def history_(self) -> tuple[Record, ...]:
        return self._fitted("history_").history

    @property
    def pipeline_(self) -> FeaturePipeline:
        return self._fitted("pipeline_").pipeline

    @property
    def node_names_(self) -> tuple[str, ...]:
        return self._fitted("node_names_").node_names

    @property
    def C_(self) -> float:
        choice = self._fitted("C_").choice
        return float(self._fit_params["C"] if choice is None else choice.C)

    @property
    def choice_(self) -> Choice | None:
        return self._fitted("choice_").choice

    @property
    def n_features_in_(self) -> int:
        return self._fitted("n_features_in_").n_features

    @property
    def feature_names_in_(self) -> AnyArray:
        names, _ = self._fitted("feature_names_in_").pipeline.given_names
        if names is None:
            raise AttributeError("feature_names_in_: the training graphs had no names of node features")
        return np.array(names, dtype=object)

    @property
    def model_(self) -> FittedModel:
        """All of the fitted state."""
        return self._fitted("model_")

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return list(signature(cls.__init__).parameters)[1:]

    def _posed(self) -> Settings:
        """Settings of the problem that the model answers, with what was chosen."""
        choice, settings = self.choice_, self._settings()
        oracle = settings.oracle if choice is None else choice.oracle
        return replace(settings, checkpoint=None, C=self.C_, oracle=oracle)

    def _adopt(self, model: FittedModel) -> Self:
        """Become fitted; the parameters of this fit are kept, since set_params may change them afterwards."""
        self._model = model
        self._fit_params = {n: v for n, v in self.get_params(deep=False).items() if n not in _NOT_KEPT}
        return self

    def _fitted(self, attribute: str | None = None) -> FittedModel:
        model: FittedModel | None = getattr(self, "_model", None)
        if model is None:
            from sklearn.exceptions import NotFittedError

            what = (
                f"{attribute} exists only after fit" if attribute else "this StructuredSVM is not fitted yet"
            )
            # It is an AttributeError, so hasattr(svm, "classes_") is False before fit.
            raise NotFittedError(f"{what}: call fit first, or load a model")
        return model

    def _settings(self) -> Settings:
        settings = Settings.checked(self.get_params(deep=False))
        return replace(settings, callback=spoken(settings.callback)) if settings.verbose else settings

    def _raw(self, X: Iterable[Any]) -> GraphSet:
        return as_graphs(X, allow_empty=True)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {**state, "_reached": None}


__all__ = ["Choice", "ClaimCheck", "Machine", "Proof"]


def label_set(graphs: Iterable[Graph]) -> AnyArray:
    """The sorted distinct labels of some graphs: what ``classes`` may be, so that a part of them knows all.

    Raises ValueError if no node carries a label.
    """
    return LabelCoder.found([graph.labels for graph in graphs]).classes

"""The parameters of :class:`gapcut.StructuredSVM`, declared once."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from gapcut.certificates import Callback as Callback
from gapcut.engines.shards import ShardEngineName
from gapcut.features.pipeline import DegreeScale, EdgeLift, IncidenceScale, Standardize
from gapcut.inference import MethodName
from gapcut.oracles.kinds import KINDS
from gapcut.parameters.declaration import Range
from gapcut.stacking import BaseChoice, BaseFeatures
from gapcut.typing import BoolArray, FloatArray

LearnerName: TypeAlias = Literal[
    "auto", "primal-dual", "block", "cutting-plane", "frank-wolfe", "subgradient"
]
ComparedOracle: TypeAlias = Literal["qpbo", "qpbo-rounded", "qpbo-rounded-energy", "icm", "bp"]
OracleName: TypeAlias = Literal["auto", "cut", "tree", "trws", "ilp", "lp", ComparedOracle, "brute"]
QpSolver: TypeAlias = Literal["dual", "dcd", "clarabel"]
BaseFeaturesChoice: TypeAlias = Literal["auto", BaseFeatures]
NodeLiftChoice: TypeAlias = Literal["auto", "none", "stumps"]
PairwiseKind: TypeAlias = Literal["full", "symmetric", "potts"]
SignRule: TypeAlias = Literal["auto", "pairwise", "none"]
Nonnegative: TypeAlias = SignRule | BoolArray | list[Any] | Mapping[str, BoolArray | list[Any]]
ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float]
Costs: TypeAlias = FloatArray | list[Any] | Mapping[Any, Mapping[Any, float]]
Frozen: TypeAlias = Mapping[str, FloatArray | list[Any]]

# Squares of products of two such numbers neither overflow nor vanish.
Positive: TypeAlias = Annotated[float, Range("in [1e-30, 1e30]", lambda x: 1e-30 <= x <= 1e30)]
Share: TypeAlias = Annotated[float, Range("in [0, 1)", lambda x: 0 <= x < 1)]
Count: TypeAlias = Annotated[int, Range(">= 1", lambda x: x >= 1)]
Seconds: TypeAlias = Annotated[float, Range("in [0, 1e9]", lambda x: 0 <= x <= 1e9)]
Seed: TypeAlias = Annotated[int, Range("in [0, 2**32)", lambda x: 0 <= x < 2**32)]


@dataclass(eq=False, repr=False)
class Parameters:
    """Values as given: nothing is checked before :class:`gapcut.model.settings.Settings` does.

    This is the one declaration. The estimator's constructor is this dataclass's, checks come from the annotations, its
    documentation has the entries below. On the command line their first lines are the help (``cli/options.py``).

    C: Trade-off between training loss and ``1/2 |w|^2``.
        ``"cv"``: powers of ten from 0.1 to 1,000, from 1 to 10,000 with a base of trees that see edges, are tried on at
        most three folds of whole graphs (of connected parts where there is one graph; where that is connected, 1 or 10
        is taken), each trained once along C to a gap of 5 % or twelve certificates: the first until it gets worse, the
        others at its best C and the two beside it. The C is taken whose accuracy on the nodes held out is the best, the
        smallest of equals; ``choice_`` has the folds' scores.
    loss_scale: Loss of a graph in which every node is labelled wrong by a one-hot labeling (rho).
    gap: Stop once (upper - lower) / upper is proven to be at most this.
    eps: Stop of the cutting plane in place of the gap: eta - xi <= eps, as Algorithm 1 has it.
    learner: What minimises the training objective.
        ``auto``: ``primal-dual`` with ``cut`` and ``lp``, ``block`` with other oracles and for graphs with cliques.
        ``primal-dual``: first-order steps on the tight relaxation, certified by the exact oracle.
        ``block``: block coordinate ascent with a cache of planes. ``cutting-plane``: Algorithm 1 of the
        paper. ``frank-wolfe`` and ``subgradient``: classic methods, for comparison; slow, but certified too.
    oracle: What solves the inner maximum, and with it which problem is learned; the certificate names it.
        ``cut``: labels as independent indicators, pairwise weights >= 0, one exact min cut per graph.
        One label per node (the standard structural SVM), weights of any sign: ``tree``, exact on graphs without
        cycles; ``trws``, message passing whose bound certifies as far as it is tight; ``ilp``, exact and slow;
        ``lp``, which certifies the LP-relaxed problem. For comparison, never certified: ``icm``, ``bp``;
        ``qpbo`` (half labels, a pair of them counts 1/4), ``qpbo-rounded`` (1/2 where the score is positive,
        else 0; ``qpbo-rounded-energy``: the other way round). ``brute``: enumeration, for tests on tiny graphs.
        ``auto``: ``tree`` where no training graph has a cycle, else ``cut``; with ``C="cv"`` or ``base="auto"`` in
        its place ``lp``, if the folds are certified and more accurate with it by more than one standard error (with
        a base: unless they are less accurate by more than three). Which to take: ``tree`` without cycles, always
        (exact, and the more classes, the better it is than ``cut``). With cycles, ``cut`` first: it is always
        certified, in the least time. Then try ``lp`` or ``trws``, which take a few times as long; where the proven gap
        of ``trws`` stays open it proves little.
    incidence: Add to every node the sums of its outgoing and of its incoming edge features.
        ``False``: the paper as written.
    classes: All labels, in the order of the weight rows; default: the sorted labels of the training data.
        Labels of the data must be among them, and one without training nodes stays a legal label.
    inference: How the energy is minimised when graphs are labelled.
    standardize: Scale features.
        ``"scale"`` does not centre node features, so that sparse ones stay sparse. All feature steps are described at
        :class:`gapcut.features.FeaturePipeline`.
    intercept: Add constant features.
    edge_lift: How signed edge features become >= 0.
    nonnegative: Which pairwise weights are >= 0: all, none, or what the oracle asks for.
        ``"auto"``: ``"pairwise"`` with ``oracle="cut"``, which needs it, ``"none"`` with oracles that take any sign. An
        array of shape (K, K, De) (or its flat form) is True at the constrained ones; a mapping holds arrays "unary"
        (K, Dn) and/or "pairwise".
    pairwise: Which label pairs have weights of their own.
        ``full``: all ordered ones, K * K times the edge features. ``symmetric``: a pair and its reverse share theirs,
        so which end of an edge comes first does not matter to them; about half as many. ``potts``: one weight per edge
        feature, for ends of the same label, whatever it is; other pairs have none. Weights that are shared count once
        in ``|w|^2``, and the certificate is of that problem. The sums of ``incidence`` keep their direction.
    class_weight: Multiplies the loss of the nodes of a class.
        A mapping from label to weight; "balanced" is inverse to the classes' node weights. The loss of a graph adds up
        to ``loss_scale`` all the same: it is shifted between the nodes of the graph.
    costs: What each wrong label costs in place of each true one.
        A mapping ``{true: {label: cost}}``, or an array (K, K) in the order of ``classes_`` with a row for each true
        label and zeros on the diagonal. Costs are factors of a node's loss, >= 0; those not named are 1. Which C is the
        best is judged by accuracy all the same.
    qp: Solver of the cutting plane's working-set program.
        ``dual``: our Newton method. ``dcd``: dual coordinate descent, as the paper has it. ``clarabel``: a general
        solver (extra ``exact``). All end at the same weights; ``benchmarks/qp_solvers.py`` times them.
    warm_start: Go on from the fit before, where that was to the same data.
        With another C or a smaller gap, the primal-dual learner takes up the state that it reached; the certificate is
        made anew. The state is kept with the estimator (12 bytes per edge and active label pair) but not pickled,
        copied or saved. Fits to other data start anew.
    n_jobs: Threads over graphs, -1 for all cores; results do not depend on it.
        The model is the same bit for bit for any number; at most 1024.
    max_passes: Stop after so many passes over the graphs.
    time_limit: Stop after so many seconds, also inside a pass.
    checkpoint: File that is renewed every few seconds; a fit that finds it goes on from it.
        It ends with the model it would have had without the interruption. Deleted once the target gap is met.
    callback: Called with a :class:`gapcut.certificates.Record` after every pass.
        Returning True stops with the best model so far.
    random_state: Seed of all random orders; without one it is 0, so that every run is repeatable.
    frozen: Weights fixed at a value.
        Float arrays "unary" (K, Dn) and/or "pairwise" (K, K, De) over the features after the feature steps, NaN where a
        weight is to be learned.
    node_lift: Node features as 0/1 quantile answers (stumps).
        ``"auto"``: columns of 0 and 1 stay as they are; others become stumps if a linear model of single nodes is more
        accurate with them on held-out graphs by more than one standard error. ``choice_`` has the reason.
    degree_scale: Divide edge features by the graph's mean degree, the degrees of their nodes or the larger of them.
    incidence_scale: Scale of the sums that incidence adds.
    base: Classifier of nodes whose held-out log-probabilities join the node features.
        They join after the feature steps, clipped at log 0.001: for the training graphs those of classifiers that have
        not seen them (5 folds of whole graphs; of one graph's stretches where there is one), for new graphs those of
        one that has seen all. ``"trees"``: extremely randomised trees, whose columns, unless they see a node's own
        features alone, stand in place of the node features, scaled to [0, 1], beside a column of ones; or any
        classifier of scikit-learn with ``predict_proba``. ``"auto"``: trees, if folds as those of ``C="cv"`` are more
        accurate with them by more than one standard error; none with less than 1,000 labelled nodes. The certificate
        holds for the problem with these columns. ``save`` keeps trees, forests, histogram boosting and logistic
        regression (also after a ``StandardScaler``) as arrays, and refuses others.
    base_features: What the base sees of a node.
        ``own``: its features. ``edges``: also sums, means, maxima and minima over its outgoing and its incoming edges.
        ``context``: in two more rounds also what the round before takes its neighbours for; columns are the means of
        what the rounds say. ``auto``: edges, and context in its place where the base is decided by folds, or C is,
        unless these are less accurate with it by more than one standard error.
    probability: Fit the temperature of ``predict_proba`` on held-out folds.
        Folds as those of ``C="cv"``, which has them anyway: there, and where ``base="auto"`` was decided by folds, the
        temperature comes without asking. Otherwise it costs one fit more a fold, to a gap of 5 %.
    verbose: Print a line with both ends of the certificate after every pass.
    engine: Where the weights are learned: on threads of this process, with its state on disk, or on a Ray cluster.
        The model is the same bit for bit. ``"disk"`` is for sets whose state does not fit the memory: shards of the
        graphs are worked on one after the other, the others' states are in files; for ``learner="primal-dual"``,
        without a checkpoint. ``"ray"`` (``pip install "gapcut[cluster]"``) puts the shards on actors of a cluster, for
        ``learner="primal-dual"``, and for ``"block"`` with ``oracle="cut"``, ``"tree"`` or ``"trws"``. Feature steps,
        folds and a base stay in this process.
    address: Of the Ray cluster, HOST:PORT, or "auto" on one of its nodes; with ``engine="disk"`` a folder.
        Without it that of the environment variable RAY_ADDRESS, or else a cluster of this machine's own. The folder is
        by default that for temporary files.
    """

    C: Positive | Literal["cv"] = 1.0
    loss_scale: Positive = 100.0
    gap: Share = 1e-2
    eps: Positive | None = None
    learner: LearnerName = "auto"
    oracle: OracleName = "cut"
    incidence: bool = True
    classes: Iterable[Hashable] | None = None
    inference: MethodName = "auto"
    standardize: Standardize = True
    intercept: bool = True
    edge_lift: EdgeLift = "auto"
    nonnegative: Nonnegative = "auto"
    pairwise: PairwiseKind = "full"
    class_weight: ClassWeight | None = None
    costs: Costs | None = None
    qp: QpSolver = "dual"
    warm_start: bool = False
    n_jobs: int | None = 1
    max_passes: Count | None = None
    time_limit: Seconds | None = None
    checkpoint: str | os.PathLike[str] | None = None
    callback: Callback | None = None
    random_state: Seed | np.random.RandomState | None = 0
    frozen: Frozen | None = None
    node_lift: NodeLiftChoice = "none"
    degree_scale: DegreeScale = "none"
    incidence_scale: IncidenceScale = "auto"
    base: BaseChoice | None = None
    base_features: BaseFeaturesChoice = "edges"
    probability: bool = False
    verbose: bool = False
    engine: ShardEngineName = "threads"
    address: str | None = None


def sign_rule_for(nonnegative: Nonnegative, oracle: OracleName) -> Nonnegative:
    """What ``nonnegative="auto"`` stands for with this oracle."""
    if not (isinstance(nonnegative, str) and nonnegative == "auto"):
        return nonnegative
    return KINDS[oracle].nonnegative

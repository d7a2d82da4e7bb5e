"""Models of the version that is about to be released, for ``test_released_models.py``, which loads them for ever.

    python tests/released/make_models.py tests/released/0.1

writes a folder of the kinds below, each with what it says about ``graphs.npz`` (docs/releasing.md).
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from gapcut import GraphSet, StructuredSVM
from sample_cliques import xor_graphs
from sample_graphs import relabelled, sample_graphs

NAMES = ["deck", "pier", "ground"]


def kinds() -> dict[str, tuple[StructuredSVM, GraphSet, GraphSet]]:
    """Estimator, training graphs and graphs to label of each kind of model."""
    train, test = sample_graphs(6, seed=1), sample_graphs(3, seed=2)
    named = relabelled(train, NAMES), relabelled(test, NAMES)
    weighted = GraphSet(g.replace(node_weights=np.arange(1.0, g.n_nodes + 1)) for g in train)
    signed = GraphSet(g.replace(edge_features=g.edge_features - 0.5) for g in train)
    chains = GraphSet(
        g.replace(edges=g.edges[: g.n_nodes - 1], edge_features=g.edge_features[: g.n_nodes - 1])
        for g in train
    )
    fast = {"gap": 0.05, "loss_scale": 10.0}
    return {
        "default": (StructuredSVM(**fast), train, test),
        "names-and-weights": (StructuredSVM(**fast, class_weight="balanced"), named[0], named[1]),
        "node-weights": (StructuredSVM(**fast, incidence=False, intercept=False), weighted, test),
        "signed-edges": (StructuredSVM(**fast, degree_scale="graph", standardize="scale"), signed, test),
        "stumps": (StructuredSVM(**fast, node_lift="stumps", edge_lift="stumps"), train, test),
        "block": (StructuredSVM(**fast, learner="block", max_passes=5), train, test),
        "chains": (StructuredSVM(**fast, oracle="tree"), chains, test),
        "lp": (StructuredSVM(**fast, oracle="lp"), train, test),
        "searched": (StructuredSVM(**fast, C="cv", probability=True), train, test),
        "logistic-base": (StructuredSVM(**fast, base=_logistic()), train, test),
        "cliques": (StructuredSVM(**fast), xor_graphs(6, seed=1), xor_graphs(3, seed=2)),
    }


def _logistic() -> object:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def said(svm: StructuredSVM, graphs: GraphSet) -> dict[str, object]:
    """What a model claims and says about graphs."""
    found, proof = svm.solutions(graphs), svm.certificate_
    return {
        "params": {
            name: value
            for name, value in svm.get_params(deep=False).items()
            if isinstance(value, str | float)
        },
        "classes": svm.classes_.tolist(),
        "status": proof.status,
        "problem": proof.problem,
        "lower": proof.lower,
        "upper": proof.upper,
        "labels": [s.labels.tolist() for s in found],
        "energies": [s.energy for s in found],
        "probabilities": None
        if svm.model_.temperature is None
        else [p.tolist() for p in svm.predict_proba(graphs)],
    }


def main(folder: Path) -> None:
    """Fits and writes all kinds."""
    folder.mkdir()
    for name, (svm, train, test) in kinds().items():
        svm.fit(train).save(folder / f"{name}.gapcut")
        test.save(folder / f"{name}.npz")
        (folder / f"{name}.json").write_text(json.dumps(said(svm, test)) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))

"""What ``check_proof.py --raw RAW`` adds: are the graphs of a proof what the feature steps make of the raw ones?

Ordinary floating point, so this is a comparison and no proof. Formulas of the steps: docs/features.md.
"""

import hashlib
import io
import json

import numpy as np


def node_features(file):
    if "node_features" in file:
        return np.asarray(file["node_features"], dtype=float)
    dense, starts = (
        np.zeros(file["node_features_shape"]),
        file["node_features_indptr"],
    )  # rows with zeros left out
    owner = np.repeat(np.arange(len(dense)), np.diff(starts))
    np.add.at(dense, (owner, file["node_features_indices"]), file["node_features_data"])
    return dense


def transform(X, F, edges, size, count, steps, arrays):
    """Features of nodes and edges after the steps; ``edges`` name nodes of all graphs, whose numbers of nodes and edges
    are ``size`` and ``count``."""
    for name, settings in steps.items():
        own = {key.split(".")[2]: value for key, value in arrays.items() if key.startswith(f"steps.{name}.")}
        if name == "node stumps":
            X = (X[:, own["source"]] <= own["threshold"]).astype(float)
        elif name == "stumps":
            F = (F[:, own["source"]] <= own["threshold"]).astype(float)
        elif name == "nodes":
            X = (X[:, own["kept"]] / own["peak"] - own["mean"]) / own["deviation"]
        elif name == "edges":
            F = F[:, own["kept"]] / own["peak"]
        elif name == "lift":  # columns as they are (0), their positive (1) and negative parts (-1)
            parts = np.maximum(F[:, own["source"]] * own["part"], 0.0)
            F = np.where(own["part"] == 0, F[:, own["source"]], parts)
        elif name == "intercept":
            X, F = (np.hstack([features, np.ones((len(features), 1))]) for features in (X, F))
        elif name == "degree":
            degree = np.bincount(edges.ravel(), minlength=len(X)).astype(float)
            mean = np.repeat(2 * count / np.maximum(1, size), count)
            ends = np.sqrt(degree[edges].prod(axis=1))
            F = F / (mean if settings["by"] == "graph" else ends)[:, None]
        elif name == "incidence":  # sums over the edges that leave a node, then over those that come in
            sums = np.zeros((2, len(X), F.shape[1]))
            for end in (0, 1):
                np.add.at(sums[end], edges[:, end], F)
            X = np.hstack([X, (np.hstack([*sums]) - own["mean"]) / own["deviation"]])
        else:
            raise ValueError(f"unknown step {name!r}")
    return X, F


def compare(proof, graphs, raw):
    """Largest difference of a feature; ValueError if the graphs differ otherwise."""
    said = json.loads(str(proof["header"]))
    size, count, first = np.diff(raw["node_offset"]), np.diff(raw["edge_offset"]), graphs["node_offset"]
    edges = raw["edges"] + np.repeat(raw["node_offset"][:-1], count)[:, None]
    features = node_features(raw), np.asarray(raw["edge_features"], dtype=float)
    X, F = transform(*features, edges, size, count, said["steps"], proof)
    graph = np.repeat(np.arange(len(size)), size)
    selected = raw[said["select"]].astype(bool) if said["select"] else np.ones(len(size), dtype=bool)
    chosen = selected[graph] & raw.get("labelled", np.ones(len(X), dtype=bool))  # nodes that are learned from
    inside, place = chosen[edges].all(axis=1), np.cumsum(chosen) - 1
    sizes = np.bincount(graph[chosen], minlength=len(size))
    own_edges = (
        graphs["edges"] + first[np.repeat(np.arange(len(first) - 1), np.diff(graphs["edge_offset"]))][:, None]
    )
    if len(set(said["classes"])) < len(said["classes"]):
        raise ValueError("two classes have one name")
    weights = np.nan_to_num(raw.get("node_weights", np.ones(len(X)))[chosen], nan=1.0)
    for what, ours, theirs in (
        ("sizes", sizes[sizes > 0], np.diff(first)),
        ("edges", place[edges[inside]], own_edges),
        ("labels", raw["labels"][chosen], np.asarray(said["classes"])[graphs["labels"]]),
        ("weights of nodes", weights, graphs.get("node_weights", np.ones(len(weights)))),
        (
            "numbers of features",
            [X.shape[1], F.shape[1]],
            [graphs[f"{n}_features"].shape[1] for n in ("node", "edge")],
        ),
    ):
        if not np.array_equal(ours, theirs):
            raise ValueError(f"the {what} differ")
    pairs = (X[chosen], graphs["node_features"]), (F[inside], graphs["edge_features"])
    apart = [float(np.abs(a - b).max(initial=0.0)) for a, b in pairs]
    if not np.isfinite(apart).all():  # max(0.0, nan) would be 0
        raise ValueError("a feature after the steps is no finite number")
    return max(apart)


def report(proof, graphs, path):
    """One line."""
    try:
        with open(path, "rb") as file:
            content = file.read()  # once: hashed and compared
        digest = hashlib.sha256(content).hexdigest()
        named = "those" if digest == json.loads(str(proof["header"])).get("raw_sha256") else "NOT those"
        largest = compare(proof, graphs, dict(np.load(io.BytesIO(content), allow_pickle=False)))
    except Exception as error:  # whatever is wrong with the file
        return f"raw data: cannot be compared ({' '.join(ascii(error).split())[:300]})"
    return (
        f"raw data: {named} that the proof names; a feature after the steps differs by {largest:.3g} at most"
    )

"""
Terms over three nodes
======================

Data where no pairwise model can tell the classes apart.

Supports are of four kinds; between any two of them stands a member, whose kind depends on the pair: a column between a
pair of equal supports, a strut between abutment and pier, and so on (a Latin square, the Klein group). The member
itself looks the same whatever it is, and given one of its supports all four kinds are equally likely. A pairwise score
is a sum of one term for each support, and no such sum gets more than 11 of the 16 pairs of supports right:
``most_pairs_right`` proves it with an integer program. A term over (support, member, support) says it all.
"""

from itertools import combinations, product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from gapcut import CliqueSet, Graph, GraphSet, StructuredSVM

SUPPORTS = ("abutment", "pier", "tower", "wall")
MEMBERS = ("column", "strut", "cable", "tie")  # between supports of kinds i and j: MEMBERS[i ^ j]
N_SUPPORTS = 12


def scene(rng: np.random.Generator, third_order: bool) -> Graph:
    """12 supports seen through a little noise, and 66 members of unseen kind between them."""
    kind = rng.integers(4, size=N_SUPPORTS)
    pairs = np.array(list(combinations(range(N_SUPPORTS), 2)))
    labels = [SUPPORTS[k] for k in kind] + [MEMBERS[kind[i] ^ kind[j]] for i, j in pairs]
    features = np.zeros((len(labels), 5))
    features[:N_SUPPORTS, :4] = np.eye(4)[kind] + 0.2 * rng.normal(size=(N_SUPPORTS, 4))
    features[N_SUPPORTS:, 4] = 1.0  # "I am a member"
    member = N_SUPPORTS + np.arange(len(pairs))
    first, second = pairs.T
    edges = np.concatenate([np.column_stack(e) for e in ((first, member), (member, second), (first, second))])
    relation = np.repeat(np.eye(3), len(pairs), axis=0)  # which of the three an edge is
    triples = CliqueSet(np.column_stack([first, member, second]), np.ones((len(pairs), 1)), tuples="all")
    return Graph(features, edges, relation, labels, cliques=[triples] if third_order else None)


def scenes(count: int, seed: int, third_order: bool) -> GraphSet:
    """The same scenes with and without the triples."""
    rng = np.random.default_rng(seed)
    return GraphSet(scene(rng, third_order) for _ in range(count))


def most_pairs_right() -> int:
    """For how many of the 16 pairs (i, j) any numbers f, g can have ``argmax_k f_k(i) + g_k(j) = i ^ j``.

    Variables: f (k, i), g (k, j) in [-60, 60], and c (i, j) in {0, 1}: this pair is right, by a margin of 1.
    """
    rows = []
    for i, j in product(range(4), repeat=2):
        for other in set(range(4)) - {i ^ j}:
            row = np.zeros(16 + 16 + 16)
            row[[4 * (i ^ j) + i, 16 + 4 * (i ^ j) + j]] = 1.0
            row[[4 * other + i, 16 + 4 * other + j]] = -1.0
            row[32 + 4 * i + j] = -241.0
            rows.append(row)
    right = np.append(np.zeros(32), np.ones(16))
    box = Bounds(np.append(np.full(32, -60.0), np.zeros(16)), np.append(np.full(32, 60.0), np.ones(16)))
    found = milp(
        -right, constraints=LinearConstraint(np.array(rows), -240.0, np.inf), bounds=box, integrality=right
    )
    return round(-found.fun)


if __name__ == "__main__":
    members = N_SUPPORTS * (N_SUPPORTS - 1) // 2
    best = most_pairs_right() / 16
    ceiling = (N_SUPPORTS + best * members) / (N_SUPPORTS + members)
    print(f"pairwise rules get at most {best:.4f} of the members right: {ceiling:.3f} of all nodes")
    rows = (("pairwise", False, "cut"), ("pairwise, one-hot", False, "trws"), ("third order", True, "cut"))
    for name, third_order, oracle in rows:
        train, test = scenes(20, 0, third_order), scenes(20, 1, third_order)
        svm = StructuredSVM(C=1.0, gap=0.01, oracle=oracle).fit(train)
        proof = svm.certificate_
        lower, upper = proof.shown(4)  # rounded outwards: what is read is proven too
        print(
            f"{name:17}  accuracy on held-out graphs {svm.score(test):.3f}   "
            f"{lower} <= optimum <= {upper}  ({proof.status}, gap {proof.shown_gap()})"
        )
    (tuples, weights), *_ = svm.cliques_
    for labels, row in zip(tuples, weights, strict=True):
        if row[-1] > 0.0 and labels[0] == "abutment":
            print(f"weight {row[-1]:.2f}   {' - '.join(labels)}")

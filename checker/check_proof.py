"""Check a proof that learned weights are near the optimum:  python check_proof.py PROOF GRAPHS [--raw RAW]

THE PROBLEM. Given n graphs whose nodes u have features x_u and true labels y_u and whose edges e = (u, v) have features
f_e, minimise over the weights w = (w_k, w_kl), every coordinate in an interval,
    P(w) = 1/2 |w|^2 + C/n sum_i s_i(w),    s_i(w) = max over (z, m) in Z_i of  L_i(z) - w . (F_i(y) - F_i(z, m)).
F(z, m) holds sum_u z_uk x_u for every label k and sum_e m_ekl f_e for every pair (k, l); F(y) is that of the true
labels, z_uk = 1 if k = y_u else 0, m_ekl = z_uk z_vl. The loss is L(z) = sum_uk r_u |z_uk - y_uk| with y_uk of the true labels,
r_u = rho a_u / (2 sum of a over the graph), a_u = (weight of u) (weight of class y_u). Z_i is one of
    relaxed binary:      all z_uk in {0, 1} and m_ekl = z_uk z_vl;
    LP-relaxed one-hot:  all z >= 0 with sum_k z_uk = 1, all m >= 0 with sum_l m_ekl = z_uk and sum_k m_ekl = z_vl.
SHOWN: lower <= min P <= P(weights of the proof) <= upper, for the graphs of GRAPHS.
ARITHMETIC. A float64 is a whole number over a power of two and becomes just that; whole numbers and fractions are all
that is added, multiplied and compared. No bound depends on a rounding.
"""

import hashlib
import json
import sys
from fractions import Fraction

import numpy as np

WHOLE = 1 << 15  # shares, labels and table entries are counted in units of 1/WHOLE
PIECE = 24  # bits in a piece of a whole number
HASHED = "node_offset edge_offset edges labels node_weights node_features node_features_data node_features_indices "
HASHED += "node_features_indptr node_features_shape edge_features"


class Refused(Exception):
    """What is wrong with the files."""


def need(holds, what):
    if not holds:
        raise Refused(what)


def pieces(values):
    """([(s, part)], k) with values = sum of part 2^(PIECE s) / 2^k exactly; parts are int64, below 2^PIECE in size."""
    need(values.dtype == np.float64 and np.isfinite(values).all(), "an array is not of finite float64")
    # values = fraction 2^exponent with 1/2 <= |fraction| < 1 of 53 bits: 2^53 fraction is a whole number, not rounded
    fraction, exponent = np.frexp(values)
    whole, place = np.abs(np.ldexp(fraction, 53)).astype(np.int64), exponent.astype(np.int64) - 53
    # drop trailing zeros of the whole number: its lowest bit is a power of two, the exponent of which is exact
    zeros = np.where(whole > 0, np.frexp((whole & -whole).astype(np.float64))[1] - 1, 0)
    whole, place = whole >> zeros, place + zeros
    used = place[whole > 0]
    k = max(0, -int(used.min(initial=0)))
    # |values| = whole 2^place / 2^k, place >= 0 now; piece s holds its bits PIECE s, ..., PIECE s + PIECE - 1
    place, parts, mask = place + k, [], (1 << PIECE) - 1
    for s in range((int(used.max(initial=0)) + k + 53) // PIECE + 1):
        left = np.clip(place - PIECE * s, 0, PIECE)
        part = ((whole >> np.clip(PIECE * s - place, 0, 63)) & (mask >> left)) << left
        if part.any():
            parts.append((s, np.where(values < 0, -part, part)))
    return parts, k


def product(a, b):
    """Matrix product of the sums that ``a`` and ``b`` are pieces of, in Python's integers; 0 if one has no pieces."""
    total = 0
    for s, p in a:
        for t, q in b:
            for c in range(
                0, p.shape[1], 1 << 14
            ):  # 2^14 terms below 2^24 2^24 add up to less than 2^63: no overflow
                part = p[:, c : c + (1 << 14)] @ q[c : c + (1 << 14)]
                total = total + (part.astype(object) << PIECE * (s + t))
    return total


def digest(graphs):
    """SHA-256 over the arrays: name, type, shape, bytes."""
    total = hashlib.sha256()
    for name in (name for name in HASHED.split() if name in graphs):
        array = np.ascontiguousarray(graphs[name])
        total.update(f"{name} {array.dtype.str} {array.shape};".encode() + array.tobytes())
    return total.hexdigest()


def node_features(graphs):
    if "node_features" in graphs:
        return graphs["node_features"]
    dense, starts = (
        np.zeros(graphs["node_features_shape"]),
        graphs["node_features_indptr"],
    )  # rows with zeros left out
    need(
        starts[0] == 0 and (np.diff(starts) >= 0).all() and len(starts) == len(dense) + 1,
        "damaged sparse rows",
    )
    at = (np.repeat(np.arange(len(dense)), np.diff(starts)), graphs["node_features_indices"])
    need(len(np.unique(np.stack(at), axis=1).T) == len(at[0]), "sparse rows name a column twice")
    dense[at] = graphs["node_features_data"]
    return dense


class Problem:
    """What both files say, checked for all that is taken for granted below."""

    def __init__(self, proof, graphs):
        self.said = json.loads(str(proof["header"]))
        need(self.said["format"] == "gapcut proof" and self.said["version"] == 1, "not a proof of version 1")
        need(self.said["problem"] in ("relaxed binary", "LP-relaxed one-hot"), "unknown problem")
        need(self.said["graphs_sha256"] == digest(graphs), "the proof is about other graphs")
        self.binary = self.said["problem"] == "relaxed binary"
        self.C, self.rho = Fraction(self.said["C"]), Fraction(self.said["loss_scale"])
        self.X, self.F, self.y = node_features(graphs), graphs["edge_features"], graphs["labels"]
        self.unary, self.pairwise = proof["unary"], proof["pairwise"]
        N, M, K = len(self.X), len(self.F), len(self.unary)
        self.n, self.K, self.starts = len(graphs["node_offset"]) - 1, K, graphs["node_offset"].tolist()
        need(self.n > 0 and self.C >= 0, "there are no graphs, or C is negative")
        for offset, rows in ((graphs["node_offset"], N), (graphs["edge_offset"], M)):
            need(offset.dtype == np.int64 and offset.shape == (self.n + 1,), "offsets are no whole numbers")
            need(offset[0] == 0 and offset[-1] == rows and (np.diff(offset) >= 0).all(), "offsets do not fit")
        need(self.unary.shape == (K, self.X.shape[1]) and self.y.shape == (N,), "sizes of nodes do not fit")
        need(self.pairwise.shape == (K, K, self.F.shape[1]), "sizes of edges do not fit")
        need(self.y.dtype.kind in "iu" and ((self.y >= 0) & (self.y < K)).all(), "a label does not exist")
        owner, edges = np.repeat(np.arange(self.n), np.diff(graphs["edge_offset"])), graphs["edges"]
        need(edges.shape == (M, 2) and edges.dtype == np.int64, "edges are not pairs of whole numbers")
        size = np.diff(graphs["node_offset"])[owner][
            :, None
        ]  # edges count nodes from the first one of their graph
        need(((edges >= 0) & (edges < size)).all(), "an edge leaves its graph")
        self.tail, self.head = (edges + graphs["node_offset"][owner][:, None]).T
        self.graph = np.repeat(np.arange(self.n), np.diff(graphs["node_offset"]))
        weights, self.low, self.high = self.pairwise.ravel(), proof["lower"], proof["upper"]
        weights = np.concatenate([self.unary.ravel(), weights])
        need(self.low.shape == self.high.shape == weights.shape, "the box does not fit")
        need(((self.low <= weights) & (weights <= self.high)).all(), "the weights are outside the box")
        self.square = sum((Fraction(w) ** 2 for w in weights.tolist() if w), Fraction(0))
        of_node, of_class = graphs.get("node_weights", np.ones(N)), proof["class_weight"]
        need(of_node.shape == (N,) and of_class.shape == (K,), "weights of nodes or classes do not fit")
        one, two = [Fraction(w) for w in of_node.tolist()], [Fraction(w) for w in of_class.tolist()]
        a = [w * two[k] for w, k in zip(one, self.y.tolist(), strict=True)]
        unit = max((x.denominator for x in a), default=1)  # powers of two: the largest is a multiple of all
        self.a = np.array(
            [x.numerator * (unit // x.denominator) for x in a], dtype=object
        )  # unit cancels in r_u
        self.Xp, self.kx = pieces(self.X)
        self.Fp, self.kf = pieces(self.F)

    def rates(self, g):
        """r_u of the nodes of graph g: whole numbers R_u and D with r_u = R_u / D. (All a_u = 0: no loss.)"""
        a = self.a[self.starts[g] : self.starts[g + 1]]
        total = 2 * sum(a.tolist())
        need(total >= 0, "the weights of a graph are negative")
        return (self.rho.numerator * a, self.rho.denominator * total) if total else (0 * a, 1)


def upper_end(p, proof):
    """P(w) = 1/2 |w|^2 + C/n sum_i s_i(w) with a bound of every s_i. With y in {0, 1} and z in [0, 1],
    |z - y| = y + z (1 - 2 y); so with A_uk = w_k . x_u + r_u (1 - 2 y_uk) and b_ekl = w_kl . f_e
        s_i = sum_u r_u - w . F(y) + max over Z_i of [ sum_uk A_uk z_uk + sum_ekl b_ekl m_ekl ]."""
    N, M, K = len(p.y), len(p.tail), p.K
    (Up, ku), (Wp, kw) = pieces(p.unary.T), pieces(p.pairwise.reshape(K * K, -1).T)
    given = shares(proof) if p.binary else messages(proof, M, K)
    k = max(p.kx + ku, p.kf + kw, 0 if p.binary else -int(given[1].min(initial=0)))
    unit = WHOLE << k  # A, b and messages are whole numbers over this
    A = np.zeros((N, K), dtype=object) + product(p.Xp, Up) * (unit >> (p.kx + ku))
    rest = np.zeros(p.n, dtype=object)  # of every graph: - w . F(y), and bounds of sums of m
    np.subtract.at(rest, p.graph, A[np.arange(N), p.y])
    pairs = np.flatnonzero(p.pairwise.any(axis=2))  # k K + l; b = 0 for all others
    for first in range(0, M, 1 << 14):
        rows = slice(first, first + (1 << 14))
        tail, head = p.tail[rows], p.head[rows]
        b = product([(s, f[rows]) for s, f in p.Fp], [(s, w[:, pairs]) for s, w in Wp])
        b = np.zeros((len(tail), len(pairs)), dtype=object) + b * (unit >> (p.kf + kw))
        e, c = np.nonzero((p.y[tail] * K + p.y[head])[:, None] == pairs)
        np.subtract.at(rest, p.graph[tail[e]], b[e, c])
        if p.binary:
            # Where b > 0: z_uk z_vl is at most z_uk and at most z_vl, so b z_uk z_vl <= q b z_uk + (1 - q) b z_vl for
            # any share q in [0, 1]; A_uk and A_vl grow by these parts. Where b < 0: b z_uk z_vl <= 0.
            e, c = np.nonzero(b > 0)
            need(len(e) <= len(given), "shares are missing")
            q, given, gain = given[: len(e)].astype(object), given[len(e) :], b[e, c] // WHOLE
            np.add.at(A, (tail[e], pairs[c] // K), gain * q)  # q counts 1/WHOLE, of which b is a multiple
            np.add.at(A, (head[e], pairs[c] % K), gain * (WHOLE - q))
        else:
            # sum_k d_ek (z_uk - sum_l m_ekl) = 0 for any messages d, and likewise at v: A_uk grows by d_ek, b_ekl
            # falls by both messages. The m_ekl of an edge are >= 0 and add up to 1: their part is at most its largest.
            power = [[(unit >> k) << (k + x) for x in both] for both in given[1][rows].tolist()]
            d = given[0][rows].astype(object) * np.array(power, dtype=object).reshape(-1, 2, 1)
            table = np.zeros((len(tail), K * K), dtype=object)
            table[:, pairs] = b
            table = table.reshape(-1, K, K) - d[:, 0, :, None] - d[:, 1, None, :]
            np.add.at(A, tail, d[:, 0])
            np.add.at(A, head, d[:, 1])
            np.add.at(rest, p.graph[tail], table.reshape(-1, K * K).max(axis=1))
    need(not p.binary or len(given) == 0, "there are more shares than arcs")
    slack = Fraction(0)
    for g in range(p.n):
        nodes, (R, D) = slice(p.starts[g], p.starts[g + 1]), p.rates(g)
        sign = np.where(p.y[nodes, None] == np.arange(K), -1, 1).astype(object)  # 1 - 2 y_uk
        gains = A[nodes] * D + sign * (R * unit)[:, None]  # A_uk over D unit
        # Only z is left. Binary: each z_uk is 0 or 1; one-hot: those of a node are >= 0 and add up to 1.
        most = np.maximum(gains, 0).sum() if p.binary else gains.max(axis=1).sum()
        slack += Fraction(int(most + R.sum() * unit + rest[g] * D), D * unit)
    return p.square / 2 + p.C / p.n * slack


def shares(proof):
    need(proof["shares"].ndim == 1 and proof["shares"].dtype == np.uint16, "shares do not fit")
    need((proof["shares"] <= WHOLE).all(), "a share is more than 1")
    return proof["shares"]


def messages(proof, M, K):
    """d = q 2^x: q of every edge, end and label, x of every edge and end."""
    q, x = proof["messages"], proof["exponents"]
    need(q.shape == (M, 2, K) and x.shape == (M, 2) and q.dtype == x.dtype == np.int16, "messages do not fit")
    need((np.abs(x.astype(int)) < 1200).all(), "a message is beyond all numbers")
    return q, x


def lower_end(p, proof):
    """For any point (z, m) of every graph and every w, since s_i is a maximum,
        P(w) >= 1/2 |w|^2 + C/n sum_i L_i(z) - w . h,    h = C/n sum_i (F_i(y) - F_i(z, m)).
    The least value over the box is found coordinate by coordinate: 1/2 w^2 - w h is least where w is nearest to h. The
    point may be an average of members of Z_i: L_i is linear for z in [0, 1] and F is linear, so the inequality is the
    average of those of the members."""
    Z, K = proof["labels"], p.K
    need(Z.shape == (len(p.y), K) and Z.dtype == np.uint16 and (Z <= WHOLE).all(), "labels are not in [0, 1]")
    Z, true = Z.astype(np.int64), p.y[:, None] == np.arange(K)
    T = None if p.binary else tables(proof, p, Z)
    h = [p.C / p.n * x for k in range(K) for x in moment(WHOLE * true[:, k] - Z[:, k], p.X, p.Xp, p.kx)]
    for k in range(K):
        for m in range(K):
            # Binary: m_ekl = min(z_uk, z_vl). For t in (0, 1] let z^t = [z >= t], a member of Z_i. The average of z^t
            # over t is z, and z^t_uk z^t_vl = [min(z_uk, z_vl) >= t] has the average min(z_uk, z_vl).
            part = np.minimum(Z[p.tail, k], Z[p.head, m]) if p.binary else T[:, k, m]
            both = true[p.tail, k] & true[p.head, m]
            h += [p.C / p.n * x for x in moment(WHOLE * both - part, p.F, p.Fp, p.kf)]
    wrong, value = np.abs(Z - WHOLE * true).sum(axis=1).astype(object), Fraction(0)
    for g in range(p.n):
        R, D = p.rates(g)
        value += p.C / p.n * Fraction(int((R * wrong[p.starts[g] : p.starts[g + 1]]).sum()), D * WHOLE)
    for x, low, high in zip(h, p.low.tolist(), p.high.tolist(), strict=True):
        w = Fraction(low) if x < low else Fraction(high) if x > high else x
        value += w * w / 2 - w * x
    return value


def tables(proof, p, Z):
    """m of the LP-relaxed problem, in units: (z, m) has to lie in Z_i, so rows and columns add up to the labels."""
    M, K, bits, entries = len(p.tail), p.K, proof["table_mask"], proof["tables"]
    need((Z.sum(axis=1) == WHOLE).all(), "the labels of a node do not add up to 1")
    need(
        bits.shape == (-(-M * K * K // 8),) and bits.dtype == np.uint8 and entries.dtype == np.uint16,
        "tables",
    )
    filled, T = np.flatnonzero(np.unpackbits(bits, count=M * K * K)), np.zeros(M * K * K, dtype=np.int64)
    need(entries.shape == filled.shape, "there are more or fewer table entries than places")
    T[filled] = entries
    T = T.reshape(M, K, K)
    need(
        (T.sum(axis=2) == Z[p.tail]).all() and (T.sum(axis=1) == Z[p.head]).all(),
        "tables do not fit the labels",
    )
    return T


def moment(counts, features, parts, k):
    """sum over the rows of counts / WHOLE times features, column by column; 2^15 2^24 2^23 rows is below 2^63."""
    total = [0] * features.shape[1]
    for s, part in parts:
        for r in range(0, len(counts), 1 << 23):
            sums = counts[r : r + (1 << 23)] @ part[r : r + (1 << 23)]
            total = [t + (x << PIECE * s) for t, x in zip(total, sums.tolist(), strict=True)]
    return [Fraction(t, WHOLE << k) for t in total]


def verify(proof, graphs):
    """(lower, upper) as fractions. ``proof`` and ``graphs`` map names to arrays. Raises Refused, or whatever else."""
    p = Problem(proof, graphs)
    lower, upper = lower_end(p, proof), upper_end(p, proof)
    need(Fraction(p.said["lower"]) <= lower, "the lower end is claimed to be higher than is proven")
    need(upper <= Fraction(p.said["upper"]), "the upper end is claimed to be lower than is proven")
    return lower, upper


def decimal(value, up):
    """Six digits after the point, rounded down or up."""
    units = -(-value * 10**6 // 1) if up else value * 10**6 // 1
    return f"{'-' if units < 0 else ''}{abs(units) // 10**6}.{abs(units) % 10**6:06d}"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.splitlines()[0])
        return 2
    try:
        proof, graphs = (dict(np.load(path, allow_pickle=False)) for path in arguments)
        lower, upper = verify(proof, graphs)
    except Exception as error:  # whatever is wrong with the files: nothing is shown
        print(f"REFUSED: {error if isinstance(error, Refused) else f'{type(error).__name__}: {error}'}")
        return 1
    print(f"lower end     {decimal(lower, False)} (exactly {lower})")
    print(f"upper end     {decimal(upper, True)} (exactly {upper})")
    print(f"VERIFIED: {decimal(lower, False)} <= optimum <= these weights <= {decimal(upper, True)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

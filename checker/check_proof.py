"""Check a proof that learned weights are near the optimum:  python check_proof.py PROOF GRAPHS [--raw RAW]

THE PROBLEM. Given n graphs whose nodes u have features x_u and true labels y_u and whose edges e = (u, v) have features
f_e, minimise over the weights w = (w_k, w_kl), every coordinate in an interval (the box),
    P(w) = 1/2 |w|^2 + C/n sum_i s_i(w),    s_i(w) = max over (z, m) in Z_i of  L_i(z) - w . (F_i(y) - F_i(z, m)).
F(z, m) holds sum_u z_uk x_u for every label k and sum_e m_ekl f_e for every pair (k, l); F(y) is that of the true
labels: y_uk = 1 if k = y_u, else 0, and m_ekl = y_uk y_vl. The loss is L(z) = sum_uk r_u |z_uk - y_uk| with
r_u = rho a_u / (2 sum of a over the graph), 0 if that is 0/0; a_u = (weight of u) (weight of class y_u). Z_i is one of
    relaxed binary:      all z_uk in {0, 1} and m_ekl = z_uk z_vl;
    LP-relaxed one-hot:  all z >= 0 with sum_k z_uk = 1, all m >= 0 with sum_l m_ekl = z_uk and sum_k m_ekl = z_vl.
SHOWN: lower <= min P <= P(weights of the proof) <= upper, for graphs, true labels and node weights (1 if absent) in
GRAPHS and the kind of problem, C, rho, box, class weights and K in PROOF, each number exactly as Python reads it. Edges
may be parallel, or loops; graphs without nodes count. What else PROOF holds is not looked at; --raw is a comparison by
compare_raw.py beside this file, and no part of what is shown. All is in whole numbers and fractions.
TAKEN FOR GRANTED: that Python and NumPy read files, compare, copy, take float64 apart and work with whole numbers as
they say they do, and that no two files have the same SHA-256.
"""

import hashlib
import io
import json
import sys
from fractions import Fraction

import numpy as np

KNOWN = {"node_offset", "edge_offset", "node_features", "edges", "edge_features", "labels", "node_weights"}
WHOLE, PIECE, TERMS = 1 << 15, 24, 1 << 14  # shares, labels, tables count 1/WHOLE; see pieces and product


def need(holds, what):
    if not holds:
        raise ValueError(what)


def fits(file, name, dtype, *shape):
    array = file[name]
    need(array.dtype == dtype and array.shape == shape, f"{name} is not {dtype.__name__} of shape {shape}")
    return array


def pieces(values):
    """([(s, part)], k) with values = sum of part 2^(PIECE s) / 2^k exactly; parts are int64, below 2^PIECE in size."""
    need(values.dtype == np.float64 and np.isfinite(values).all(), "an array is not of finite float64")
    need((np.full(1, 5e-324) > 0).all(), "subnormal numbers count as 0, as some library has set")
    # values = fraction 2^exponent with 1/2 <= |fraction| < 1 of 53 bits: 2^53 fraction is a whole number, not rounded
    fraction, exponent = np.frexp(values)
    whole, place = np.abs(np.ldexp(fraction, 53)).astype(np.int64), exponent.astype(np.int64) - 53
    # drop trailing zeros of the whole number: its lowest bit is a power of two, whose exponent is exact
    zeros = np.where(whole > 0, np.frexp((whole & -whole).astype(np.float64))[1] - 1, 0)
    whole, place = whole >> zeros, place + zeros
    used, parts = place[whole > 0], []
    k = max(0, -int(used.min(initial=0)))
    # |values| = whole 2^(place + k) / 2^k, place + k >= 0; piece s holds the bits PIECE s to PIECE s + PIECE - 1
    for s in range((int(used.max(initial=0)) + k + 53) // PIECE + 1):
        left, right = np.clip(place + k - PIECE * s, 0, PIECE), np.clip(PIECE * s - place - k, 0, 63)
        part = ((whole >> right) & (((1 << PIECE) - 1) >> left)) << left
        if part.any() or s == 0:
            parts.append((s, np.where(values < 0, -part, part)))
    return parts, k


def product(a, b):
    """Matrix product of the sums that a and b are pieces of, in Python's integers. NumPy adds up TERMS products below
    2^PIECE 2^PIECE at a time: less than 2^63, so its int64 do not overflow."""
    total = 0
    for s, p in a:
        for t, q in b:
            for c in range(0, max(1, p.shape[1]), TERMS):
                total = total + ((p[:, c : c + TERMS] @ q[c : c + TERMS]).astype(object) << PIECE * (s + t))
    return total


class Problem:  # what both files say, checked for all that the rest of this program relies on
    def __init__(self, proof, graphs):
        said = self.said = json.loads(str(proof["header"]))
        need(said["format"] == "gapcut proof" and said["version"] == 3, "not a proof of version 3")
        self.binary = {"relaxed binary": True, "LP-relaxed one-hot": False}[said["problem"]]
        need({type(said[x]) for x in ("C", "loss_scale", "lower", "upper")} <= {int, float}, "not a number")
        need(not graphs.keys() - KNOWN, "nothing is proven of graphs with more arrays, of cliques say")
        self.C, self.rho = Fraction(said["C"]), Fraction(said["loss_scale"])
        X, F, K = graphs["node_features"], graphs["edge_features"], len(proof["unary"])
        (N, Dn), (M, De) = X.shape, F.shape
        self.N, self.M, self.K, self.n = N, M, K, len(graphs["node_offset"]) - 1
        need(self.n > 0 and self.C >= 0 and self.rho >= 0, "there are no graphs, or C or rho is negative")
        for name, rows in (("node_offset", N), ("edge_offset", M)):
            offset = fits(graphs, name, np.int64, self.n + 1)
            need(offset[[0, -1]].tolist() == [0, rows] and (offset == np.sort(offset)).all(), "wrong offsets")
        first, owner = graphs["node_offset"], np.repeat(np.arange(self.n), np.diff(graphs["edge_offset"]))
        edges = fits(graphs, "edges", np.int64, M, 2)  # they count nodes from the first one of their graph
        need(((edges >= 0) & (edges < np.diff(first)[owner][:, None])).all(), "an edge leaves its graph")
        self.tail, self.head = (edges + first[owner][:, None]).T
        self.graph, self.first = np.repeat(np.arange(self.n), np.diff(first)), first.tolist()
        self.y = fits(graphs, "labels", np.int64, N)
        need(((self.y >= 0) & (self.y < K)).all(), "a label does not exist")
        self.unary = fits(proof, "unary", np.float64, K, Dn)
        self.pairwise = fits(proof, "pairwise", np.float64, K, K, De)
        w = np.concatenate([self.unary.ravel(), self.pairwise.ravel()])
        count = fits(proof, "box_repeats", np.int64, len(proof["box"]))
        need((count >= 0).all() and sum(count.tolist()) == len(w), "the box is of other weights")
        self.low, self.high = np.repeat(fits(proof, "box", np.float64, len(count), 2), count, axis=0).T
        need(((self.low <= w) & (w <= self.high)).all(), "the weights are outside the box")
        self.square = sum((Fraction(x) ** 2 for x in w.tolist() if x), Fraction(0))
        of_node = fits(graphs, "node_weights", np.float64, N) if "node_weights" in graphs else np.ones(N)
        of_class = [Fraction(x) for x in fits(proof, "class_weight", np.float64, K).tolist()]
        a = [Fraction(x) * of_class[k] for x, k in zip(of_node.tolist(), self.y.tolist(), strict=True)]
        need(all(x >= 0 for x in a), "the weight of a node, times that of its class, is negative")
        unit = max((x.denominator for x in a), default=1)  # powers of two: the largest is a multiple of all
        self.a = np.array([int(x * unit) for x in a], dtype=object)  # unit cancels in r_u
        (self.Xp, self.kx), (self.Fp, self.kf) = pieces(X), pieces(F)

    def rates(self, g):  # r_u = R_u / D of the nodes of graph g; no loss where the a_u add up to 0
        a = self.a[self.first[g] : self.first[g + 1]]
        total = 2 * sum(a.tolist())
        return (self.rho.numerator * a, self.rho.denominator * total) if total else (0 * a, 1)


def upper_end(p, proof):
    """P(w) = 1/2 |w|^2 + C/n sum_i s_i(w), C >= 0, with a bound of every s_i. With y in {0, 1} and z in [0, 1],
    |z - y| = y + z (1 - 2 y); so with A_uk = w_k . x_u + r_u (1 - 2 y_uk) and b_ekl = w_kl . f_e
        s_i = sum_u r_u - w . F(y) + max over Z_i of [ sum_uk A_uk z_uk + sum_ekl b_ekl m_ekl ]."""
    K, (Up, ku), (Wp, kw) = p.K, pieces(p.unary.T), pieces(p.pairwise.reshape(p.K * p.K, -1).T)
    step = Fraction(1 if p.binary else fits(proof, "message_step", np.float64, 1).item())
    unit = (WHOLE << max(p.kx + ku, p.kf + kw)) * step.denominator  # A, b, d are whole numbers over this
    A = product(p.Xp, Up) * (unit >> (p.kx + ku))
    rest, slack = np.zeros(p.n, dtype=object), Fraction(0)  # rest: - w . F(y)
    np.subtract.at(rest, p.graph, A[np.arange(p.N), p.y])
    pairs = np.flatnonzero(p.pairwise.any(axis=2)) if p.binary else np.arange(K * K)  # k K + l; else b = 0
    shares = fits(proof, "shares", np.uint16, *proof["shares"].shape[:1]) if p.binary else np.zeros(0)
    need((shares <= WHOLE).all(), "a share is more than 1")
    for rows in (slice(start, start + TERMS) for start in range(0, p.M, TERMS)):  # so many edges at a time
        tail, head = p.tail[rows], p.head[rows]
        b = product([(s, f[rows]) for s, f in p.Fp], [(s, w[:, pairs]) for s, w in Wp])
        b = b * (unit >> (p.kf + kw))
        e, c = np.nonzero((p.y[tail] * K + p.y[head])[:, None] == pairs)  # label pairs of the truth
        np.subtract.at(rest, p.graph[tail[e]], b[e, c])
        if p.binary:
            # Where b > 0: z_uk z_vl is at most z_uk and at most z_vl, so b z_uk z_vl <= q b z_uk + (1 - q) b z_vl for
            # any share q in [0, 1]; A_uk and A_vl grow by these parts. Where b < 0: b z_uk z_vl <= 0.
            e, c = np.nonzero(b > 0)
            need(len(e) <= len(shares), "shares are missing")
            q, shares = shares[: len(e)].astype(object), shares[len(e) :]
            gain = b[e, c] // WHOLE  # without a remainder: b is a multiple of WHOLE
            np.add.at(A, (tail[e], pairs[c] // K), gain * q)
            np.add.at(A, (head[e], pairs[c] % K), gain * (WHOLE - q))
        else:
            # For any messages d: sum_kl b_ekl m_ekl = sum_l d_el z_vl + sum_kl (b_ekl - d_el) m_ekl, as sum_k m_ekl =
            # z_vl; and, as m >= 0 and sum_l m_ekl = z_uk, the last sum is at most sum_k max_l (b_ekl - d_el) z_uk.
            # Those in the file count steps: three bytes, the lowest first, less 2^23; that for the last label is 0.
            d = fits(proof, "messages", np.uint8, p.M, K - 1, 3)[rows] @ [1, 1 << 8, 1 << 16] - (1 << 23)
            d = np.pad(d, ((0, 0), (0, 1))).astype(object) * (unit // step.denominator * step.numerator)
            np.add.at(A, head, d)
            np.add.at(A, tail, (b.reshape(-1, K, K) - d[:, None, :]).max(axis=2))
    need(len(shares) == 0, "there are more shares than arcs")
    for g in range(p.n):
        nodes, (R, D) = slice(p.first[g], p.first[g + 1]), p.rates(g)
        sign = np.where(p.y[nodes, None] == np.arange(K), -1, 1).astype(object)  # 1 - 2 y_uk
        gains = A[nodes] * D + sign * (R * unit)[:, None]  # A_uk over D unit
        # Only z is left. Binary: each z_uk is 0 or 1; one-hot: those of a node are >= 0 and add up to 1.
        most = np.maximum(gains, 0).sum() if p.binary else gains.max(axis=1).sum()
        slack += Fraction(int(most + R.sum() * unit + rest[g] * D), D * unit)
    return p.square / 2 + p.C / p.n * slack


def lower_end(p, proof):
    """For any point (z, m) of every graph and every w, since s_i is a maximum and C >= 0,
        P(w) >= 1/2 |w|^2 + C/n sum_i L_i(z) - w . h,    h = C/n sum_i (F_i(y) - F_i(z, m)).
    Its least value over the box is found coordinate by coordinate: 1/2 w^2 - w h is least where w is nearest to h. The
    point may be an average of members of Z_i: L_i (for z in [0, 1]) and F are linear, so the bound averages theirs."""
    K, Z = p.K, fits(proof, "labels", np.uint16, p.N, p.K if p.binary else p.K - 1).astype(np.int64)
    Z = Z if p.binary else np.hstack([Z, WHOLE - Z.sum(axis=1, keepdims=True)])  # the rest of 1
    need(((Z >= 0) & (Z <= WHOLE)).all(), "a label is not in [0, 1]")
    true, T = p.y[:, None] == np.arange(K), None if p.binary else tables(proof, p, Z[p.tail], Z[p.head])
    h = [x for k in range(K) for x in moment(WHOLE * true[:, k] - Z[:, k], p.Xp, p.kx)]
    for k in range(K):
        for m in range(K):
            # Binary: m_ekl = min(z_uk, z_vl). For t in (0, 1] let z^t = [z >= t], a member of Z_i. The average of z^t
            # over t is z, and z^t_uk z^t_vl = [min(z_uk, z_vl) >= t] has the average min(z_uk, z_vl).
            part = np.minimum(Z[p.tail, k], Z[p.head, m]) if p.binary else T[:, k, m]
            h += moment(WHOLE * (true[p.tail, k] & true[p.head, m]) - part, p.Fp, p.kf)
    wrong, value = np.abs(Z - WHOLE * true).sum(axis=1).astype(object), Fraction(0)
    for g in range(p.n):
        R, D = p.rates(g)
        value += p.C / p.n * Fraction(int((R * wrong[p.first[g] : p.first[g + 1]]).sum()), D * WHOLE)
    for x, low, high in zip((p.C / p.n * x for x in h), p.low.tolist(), p.high.tolist(), strict=True):
        w = Fraction(low) if x < low else Fraction(high) if x > high else x
        value += w * w / 2 - w * x
    return value


def tables(proof, p, u, v):
    """m of the LP-relaxed problem from the labels u, v of all tails and heads, in units. The file has the entries, edge
    by edge and row by row, of rows and columns whose labels are > 0 and not the (first) largest of their node. Entries
    of a label that is 0 are 0; rows and columns of the largest are what the sums lack. However m was found, it is seen
    at the end that it is >= 0 and adds up to the labels: (z, m) lies in Z_i."""
    e, row, column, at_tail, at_head = np.arange(p.M), u.argmax(axis=1), v.argmax(axis=1), u > 0, v > 0
    at_tail[e, row] = at_head[e, column] = False
    given = at_tail[:, :, None] & at_head[:, None, :]
    T = np.zeros(given.shape, dtype=np.int64)
    T[given] = fits(proof, "tables", np.uint16, int(given.sum()))
    T[e, :, column] = u - T.sum(axis=2)
    T[e, row] += v - T.sum(axis=1)
    need((T >= 0).all() and (T.sum(axis=2) == u).all() and (T.sum(axis=1) == v).all(), "the tables are wrong")
    return T


def moment(counts, parts, k):  # sum over the rows of counts / WHOLE, which is one piece, times features
    return [Fraction(x, WHOLE << k) for x in product([(0, counts[None])], parts)[0].tolist()]


def verify(proof, graphs):
    """(lower, upper) as fractions, from arrays by name; the hash is not looked at. Raises whatever is wrong."""
    p = Problem(proof, graphs)
    lower, upper = lower_end(p, proof), upper_end(p, proof)
    need(Fraction(p.said["lower"]) <= lower, "the lower end is claimed to be higher than is proven")
    need(upper <= Fraction(p.said["upper"]), "the upper end is claimed to be lower than is proven")
    return lower, upper


def decimal(value, up):  # six digits after the point, rounded down or up
    units = -(-value * 10**6 // 1) if up else value * 10**6 // 1
    return f"{'-' if units < 0 else ''}{abs(units) // 10**6}.{abs(units) % 10**6:06d}"


def main(arguments):
    try:
        need(len(arguments) in (2, 4) and arguments[2:3] in ([], ["--raw"]), str(__doc__).splitlines()[0])
        sys.set_int_max_str_digits(0)  # both ends are printed, however long
        data = [np.fromfile(path, np.uint8).tobytes() for path in arguments[:2]]  # read once: hashed and used
        files = [np.load(io.BytesIO(each), allow_pickle=False) for each in data]
        need(all(len({*x.files}) == len(x.files) for x in files), "a file has two arrays of one name")
        proof, graphs = map(dict, files)
        said = json.loads(str(proof["header"]))
        need(hashlib.sha256(data[1]).hexdigest() == said["graphs_sha256"], "it is about other graphs")
        lower, upper = verify(proof, graphs)
        notes = [__import__("compare_raw").report(proof, graphs, arguments[3])] if arguments[2:] else []
    except Exception as error:  # it may hold a text of the files: in ASCII, no runs of spaces, cut short
        print("REFUSED:", " ".join(f"{error!a}".split())[:300])
        return 1
    runs = [f"{n} in {tuple(proof['box'][i].tolist())}" for i, n in enumerate(proof["box_repeats"]) if n]
    print(f"{said['problem']}, C = {said['C']}, rho = {said['loss_scale']}, class weights", end=" ")
    print(*proof["class_weight"], f"\nweights, {proof['unary'].size} of nodes, then those of edges:")
    print(*runs, f"lower end: exactly {lower}", f"upper end: exactly {upper}", sep="\n")
    ends = decimal(lower, up=False), decimal(upper, up=True)
    print("VERIFIED: {} <= optimum <= these weights <= {}".format(*ends), *notes, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

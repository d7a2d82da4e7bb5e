"""The checker against enumeration, and against proofs that were tampered with."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import zipfile
from fractions import Fraction

import numpy as np
import pytest

from gapcut.certificates import packed
from tiny_proofs import (
    CHECKER,
    Files,
    acyclic,
    exact_objective,
    files,
    graph_file,
    header,
    load_checker,
    tiny_proof,
)

checker = load_checker()
ORACLES = ("cut", "tree", "lp")


def with_header(proof: dict, **changes: object) -> dict:
    return {**proof, "header": np.array(json.dumps({**header(proof), **changes}))}


def weights_to_try(proof: dict, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Points of the box: the lower end must be below the objective at each."""
    own = np.concatenate([proof["unary"].ravel(), proof["pairwise"].ravel()])
    split, (low, high) = proof["unary"].size, np.repeat(proof["box"], proof["box_repeats"], axis=0).T
    tries = [own, np.clip(np.zeros_like(own), low, high)]
    tries += [np.clip(own * rng.uniform(0.5, 1.5, own.shape), low, high)]
    return [
        (w[:split].reshape(proof["unary"].shape), w[split:].reshape(proof["pairwise"].shape)) for w in tries
    ]


def assert_true(proof: dict, graphs: dict, ends: tuple[Fraction, Fraction], rng: np.random.Generator) -> None:
    """What the checker accepted holds."""
    lower, upper = ends
    said = header(proof)
    assert Fraction(said["lower"]) <= lower
    assert upper <= Fraction(said["upper"])
    assert exact_objective(proof, graphs, proof["unary"], proof["pairwise"]) <= upper
    if said["problem"] != "relaxed binary" and not acyclic(graphs):
        return  # there the polytope has more corners than labelings, and a higher objective
    for unary, pairwise in weights_to_try(proof, rng):
        assert lower <= exact_objective(proof, graphs, unary, pairwise)


def compare_with_enumeration(seeds: range, oracle: str) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        found = tiny_proof(rng, oracle)
        proof, graphs = files(found)
        lower, upper = checker.verify(proof, graphs)
        assert_true(proof, graphs, (lower, upper), rng)
        # written ends are those of the numbers in the file, up to floating point; messages to tails, which are as large
        # as the loss, have single precision in the writer and are exact in the checker
        size = header(proof)["C"] * header(proof)["loss_scale"]
        assert float(lower) - found.lower < 1e-6 * found.upper + 1e-9
        assert found.upper - float(upper) < 1e-5 * found.upper + 1e-6 * size + 1e-9


@pytest.mark.parametrize("oracle", ORACLES)
def test_what_is_proven_agrees_with_enumeration(oracle):
    compare_with_enumeration(range(25), oracle)


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ORACLES)
def test_what_is_proven_agrees_with_enumeration_often(oracle):
    compare_with_enumeration(range(1000, 1400), oracle)


def test_shares_of_a_cut_prove_the_exact_objective_up_to_quantising():
    rng = np.random.default_rng(5)
    for _ in range(30):
        proof, graphs = files(tiny_proof(rng))
        _, upper = checker.verify(proof, graphs)
        exact = exact_objective(proof, graphs, proof["unary"], proof["pairwise"])
        assert float(upper - exact) <= 1e-3 * float(exact) + 1e-9


@pytest.fixture(scope="module")
def binary() -> Files:
    return files(_with_arcs("cut"))


@pytest.fixture(scope="module")
def one_hot() -> Files:
    return files(_with_arcs("tree"))


def _with_arcs(oracle: str):
    """A proof in which every kind of number matters."""
    for seed in range(1000):
        proof = tiny_proof(np.random.default_rng(seed), oracle)
        names = ["shares"] if oracle == "cut" else ["messages", "tables"]
        rich = min(np.count_nonzero(proof.arrays[name]) for name in names)
        fractional = np.count_nonzero(proof.arrays["labels"] % checker.WHOLE)
        if rich >= 2 and fractional >= 2 and proof.lower > 0 and "node_weights" in graph_file(proof):
            return proof
    raise AssertionError("no such problem")


@pytest.mark.parametrize("kind", ["binary", "one_hot"])
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_claim_better_by_one_unit_is_refused(kind, end, request):
    proof, graphs = request.getfixturevalue(kind)
    lower, upper = checker.verify(proof, graphs)
    exact = lower if end == "lower" else upper
    near = float(exact)
    down = near if Fraction(near) <= exact else math.nextafter(near, -math.inf)
    up = near if Fraction(near) >= exact else math.nextafter(near, math.inf)
    holds, fails = (
        (down, math.nextafter(down, math.inf)) if end == "lower" else (up, math.nextafter(up, -math.inf))
    )
    if Fraction(fails) == exact:
        fails = math.nextafter(fails, math.inf if end == "lower" else -math.inf)
    checker.verify(with_header(proof, **{end: holds}), graphs)
    with pytest.raises(ValueError, match=f"the {end} end is claimed"):
        checker.verify(with_header(proof, **{end: fails}), graphs)


def replaced(array: np.ndarray, value: float) -> np.ndarray:
    array = array.copy()
    array.flat[0] = value
    return array


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("shares", lambda s: replaced(s, checker.WHOLE + 1), "a share is more than 1"),
        ("shares", lambda s: -s.astype(np.int16), "shares is not uint16"),
        ("shares", lambda s: s[:-1], "shares are missing"),
        ("shares", lambda s: np.append(s, s[:1]), "more shares than arcs"),
        ("labels", lambda z: replaced(z, checker.WHOLE + 1), "a label is not in"),
        ("labels", lambda z: z.astype(np.int32) - 1, "labels is not uint16"),
        ("labels", lambda z: z[1:], "labels is not uint16 of shape"),
        ("labels", lambda z: z[:, 1:], "labels is not uint16 of shape"),
        ("unary", lambda w: replaced(w, np.nan), "outside the box"),
        ("pairwise", lambda w: replaced(w, -1.0), "outside the box"),
        ("box", lambda b: b[:, :1], "box is not float64 of shape"),
        ("box", lambda b: b[1:], "box_repeats is not int64 of shape"),
        ("box_repeats", lambda n: n + 1, "the box is of other weights"),
        ("box_repeats", lambda n: np.append(n[:-1], -(2**62)), "the box is of other weights"),
        ("class_weight", lambda c: c[1:], "class_weight is not float64 of shape"),
    ],
)
def test_tampered_arrays_are_refused(binary, name, change, message):
    proof, graphs = binary
    with pytest.raises(ValueError, match=message):
        checker.verify({**proof, name: change(proof[name])}, graphs)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("labels", lambda z: replaced(z, checker.WHOLE + 1), "a label is not in"),
        ("tables", lambda t: t + np.uint16(checker.WHOLE), "the tables are wrong"),
        ("tables", lambda t: t[1:], "tables is not uint16 of shape"),
        ("tables", lambda t: np.append(t, t[:1]), "tables is not uint16 of shape"),
        ("messages", lambda d: d.astype(np.int8), "messages is not uint8"),
        ("messages", lambda d: d[:, :, :2], "messages is not uint8 of shape"),
        ("messages", lambda d: np.pad(d, [(0, 0), (0, 1), (0, 0)]), "messages is not uint8 of shape"),
        ("messages", lambda d: d[:, :, ::-1], "the upper end is claimed"),
        ("message_step", lambda s: 1e6 * s, "the upper end is claimed"),
        ("message_step", lambda s: -s, "the upper end is claimed"),
        ("message_step", lambda s: s * np.nan, "NaN"),
        ("message_step", lambda s: s * np.inf, "Infinity to integer"),
        ("message_step", lambda s: s.astype(np.float32), "message_step is not float64"),
        ("message_step", lambda s: np.append(s, s), "message_step is not float64 of shape"),
    ],
)
def test_tampered_one_hot_arrays_are_refused(one_hot, name, change, message):
    proof, graphs = one_hot
    with pytest.raises((ValueError, OverflowError), match=message):
        checker.verify({**proof, name: change(proof[name])}, graphs)


@pytest.mark.parametrize("change", [{"version": 2}, {"format": "x"}, {"problem": "x"}, {"C": -1.0}])
def test_other_headers_are_refused(binary, change):
    with pytest.raises((ValueError, KeyError)):
        checker.verify(with_header(binary[0], **change), binary[1])


def test_a_smaller_problem_is_not_taken_for_the_true_one(binary):
    """Less C makes both ends smaller: the claim of the one problem cannot stand for the other."""
    proof, graphs = binary
    C = header(proof)["C"]
    with pytest.raises(ValueError, match="the lower end is claimed"):
        checker.verify(with_header(proof, C=C / 2), graphs)


VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan)


def mutate(rng: np.random.Generator, proof: dict, graphs: dict) -> Files:
    """One change, anywhere in the files. The hash of the graphs is left to the forger: he can compute it."""
    proof, graphs = dict(proof), dict(graphs)
    if rng.random() < 0.15:
        said = header(proof)
        key = str(rng.choice(list(said)))
        new = rng.choice([0, 1, -1, 0.5, 1e9, -3.5, None, "x"], size=1).tolist()[0]
        if isinstance(said[key], float) and rng.random() < 0.7:
            new = said[key] * float(rng.choice([0.5, 1 - 1e-9, 1 + 1e-9, 2.0, 1 - 2**-53, 1 + 2**-52]))
        said[key] = new
        if rng.random() < 0.2:
            del said[key]
        return {**proof, "header": np.array(json.dumps(said))}, graphs
    target = graphs if rng.random() < 0.3 else proof
    name = str(rng.choice([n for n in target if n != "header"]))
    array = target[name].copy()
    way = rng.integers(7)
    if way == 0 and array.size:
        array = np.delete(array, int(rng.integers(len(array))), axis=0)
    elif way == 1 and array.size:
        array = np.concatenate([array, array[:1]])
    elif way == 2:
        array = array.astype(rng.choice([np.float32, np.int8, np.int64, np.uint16, np.float64]))
    elif way == 3 and rng.random() < 0.3:
        del target[name]
        return proof, graphs
    elif array.size:
        at = int(rng.integers(array.size))
        if way == 4 and array.dtype.kind == "f":
            array.flat[at] = rng.choice(VALUES)
        elif way == 5:
            raw = array.view(np.uint8).reshape(-1)
            raw[int(rng.integers(raw.size))] ^= np.uint8(1 << int(rng.integers(8)))
        elif array.dtype.kind == "f":
            array.flat[at] += rng.normal() * 10.0 ** rng.integers(-12, 3)
        else:
            with np.errstate(all="ignore"):
                array.flat[at] = np.asarray(array.flat[at] + rng.choice([1, -1])).astype(array.dtype)
    target[name] = array
    return proof, graphs


def attack(kind: Files, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    accepted = 0
    for _ in range(count):
        with np.errstate(all="ignore"):
            proof, graphs = mutate(rng, *kind)
            try:
                ends = checker.verify(proof, graphs)
            except Exception:  # main() prints them all
                continue
        accepted += 1
        assert_true(proof, graphs, ends, rng)
    assert 0 < accepted < count // 2


@pytest.mark.parametrize("kind", ["binary", "one_hot"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_mutations_prove_nothing_wrong(kind, request):
    attack(request.getfixturevalue(kind), 400, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["binary", "one_hot"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_thousands_of_random_mutations_prove_nothing_wrong(kind, request):
    attack(request.getfixturevalue(kind), 5000, 2)


def test_numbers_become_whole_numbers_exactly():
    rng = np.random.default_rng(3)
    values = rng.normal(size=200) * 10.0 ** rng.integers(-300, 300, size=200)
    for column in (
        values,
        np.array([0.0, -0.0, 5e-324, -1.7976931348623157e308, 1.0, -3.0]),
        np.zeros(3),
        np.ones(1),
    ):
        parts, k = checker.pieces(column)
        total = np.zeros(len(column), dtype=object)
        for s, part in parts:
            assert (np.abs(part) < 1 << checker.PIECE).all()
            total = total + (part.astype(object) << checker.PIECE * s)
        assert [Fraction(int(t), 1 << k) for t in total] == [Fraction(x) for x in column.tolist()]


def test_products_are_exact():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(5, 40)) * 10.0 ** rng.integers(-9, 9, size=(5, 40)), rng.normal(size=(40, 3))
    (pa, ka), (pb, kb) = checker.pieces(a), checker.pieces(b)
    found = checker.product(pa, pb)
    for i in range(5):
        for j in range(3):
            exact = sum(
                Fraction(x) * Fraction(y) for x, y in zip(a[i].tolist(), b[:, j].tolist(), strict=True)
            )
            assert Fraction(int(found[i, j]), 1 << (ka + kb)) == exact


def test_decimals_are_rounded_outward():
    third = Fraction(1, 3)
    assert checker.decimal(third, False) == "0.333333"
    assert checker.decimal(third, True) == "0.333334"
    assert checker.decimal(-third, False) == "-0.333334"
    assert checker.decimal(Fraction(5), True) == checker.decimal(Fraction(5), False) == "5.000000"


def test_the_program_runs_alone(binary, tmp_path):
    proof, graphs = binary
    np.savez(tmp_path / "p.npz", **proof)
    (tmp_path / "g.npz").write_bytes(b"".join(packed(graphs)))  # those that were hashed
    np.savez(tmp_path / "other.npz", **{**graphs, "labels": graphs["labels"][::-1]})
    copy = tmp_path / "alone.py"
    copy.write_text(CHECKER.read_text())

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(copy), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    done = run("p.npz", "g.npz")
    assert done.returncode == 0
    assert "VERIFIED" in done.stdout
    assert f"{header(proof)['problem']}, C = {header(proof)['C']}" in done.stdout
    assert ", class weights" in done.stdout  # and what else of the problem is the proof's own
    runs = zip(proof["box_repeats"].tolist(), proof["box"].tolist(), strict=True)
    told = "".join(f"{n} in {tuple(ends)}\n" for n, ends in runs if n)
    assert f"weights, {proof['unary'].size} of nodes, then those of edges:\n{told}lower end" in done.stdout
    np.savez(tmp_path / "worse.npz", **with_header(proof, lower=header(proof)["upper"]))
    forgeries = [("worse.npz", "g.npz"), ("p.npz", "p.npz"), ("p.npz", "other.npz"), ("absent.npz", "g.npz")]
    for pair in (*forgeries, ("alone.py", "g.npz")):
        done = run(*pair)
        assert done.returncode == 1
        assert done.stdout.startswith("REFUSED: ")
        assert not done.stderr
    assert "check_proof.py PROOF GRAPHS" in run("p.npz").stdout


def test_text_of_a_hostile_file_is_not_printed(binary, tmp_path, capsys):
    """NumPy's message repeats the type that an array claims to have; its lines must not look like a verdict."""
    proof, graphs = binary
    np.savez(tmp_path / "g.npz", **graphs)
    np.savez(tmp_path / "p.npz", **proof)
    text = "{'descr': 'f8,\nVERIFIED: 0 <= \x1b', 'fortran_order': False, 'shape': (1,), }"
    entry = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(8)
    with zipfile.ZipFile(tmp_path / "p.npz", "a") as archive:
        archive.writestr("unused.npy", entry)
    assert checker.main([str(tmp_path / "p.npz"), str(tmp_path / "g.npz")]) == 1
    out = capsys.readouterr().out
    assert out.startswith("REFUSED: ")
    assert out.count("\n") == 1
    assert "\x1b" not in out


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused(binary, tmp_path, capsys):
    """Programs differ in which of them they read, so a hash of the file would not say what was proven about."""
    proof, graphs = binary
    np.savez(tmp_path / "p.npz", **proof)
    np.savez(tmp_path / "g.npz", **graphs)
    with zipfile.ZipFile(tmp_path / "g.npz") as archive:
        labels = archive.read("labels.npy")
    with zipfile.ZipFile(tmp_path / "g.npz", "a") as archive:
        archive.writestr("labels.npy", labels)
    assert checker.main([str(tmp_path / "p.npz"), str(tmp_path / "g.npz")]) == 1
    assert "two arrays of one name" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": "\u09ea"}, "not a number"),  # a digit to int() that looks like another
        ({"C": True}, "not a number"),
        ({"loss_scale": "1/3"}, "not a number"),
        ({"loss_scale": -1.0}, "negative"),
    ],
)
def test_numbers_of_the_header_are_numbers(binary, change, message):
    with pytest.raises(ValueError, match=message):
        checker.verify(with_header(binary[0], **change), binary[1])


def test_negative_weights_and_cliques_are_refused(binary):
    proof, graphs = binary
    spoilt = np.where(np.arange(len(proof["class_weight"])) == 0, -1.0, proof["class_weight"])
    with pytest.raises(ValueError, match="negative"):
        checker.verify({**proof, "class_weight": spoilt}, graphs)
    for unknown in ("clique_offset_0", "labelled", "node_features_data"):
        with pytest.raises(ValueError, match="more arrays, of cliques say"):
            checker.verify(proof, {**graphs, unknown: np.zeros(2)})


def test_offsets_whose_differences_overflow_are_refused(binary):
    proof, graphs = binary
    nodes = len(graphs["labels"])
    wild = np.array([0, 2**62, -(2**62) - 1, nodes])
    graphs = {**graphs, "node_offset": wild, "edge_offset": np.array([0, 0, 0, len(graphs["edges"])])}
    with pytest.raises(ValueError, match="offsets"):
        checker.verify(proof, graphs)


def test_it_imports_numpy_and_nothing_of_ours():
    lines = [line for line in CHECKER.read_text().splitlines() if line.startswith(("import ", "from "))]
    assert {line.split()[1].split(".")[0] for line in lines} == {
        "hashlib",
        "io",
        "json",
        "sys",
        "fractions",
        "numpy",
    }
    assert len(CHECKER.read_text().splitlines()) <= 250

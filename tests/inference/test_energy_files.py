"""Energies on disk: round trips, what each format means, and complaints about what is no such file."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gapcut
from gapcut import Energy, EnergyFileError, read_energy, solve, write_energy

INF = math.inf
EXACT = [".cfn", ".cfn.gz", ".h5"]


def random_energy(seed: int, integers: bool = False) -> Energy:
    """Label counts 1-4, edges in both directions and repeated, cliques, forbidden entries, values of all sizes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(1, 5, int(rng.integers(1, 6)))

    def values(shape):
        if integers:
            drawn = rng.integers(0, 9, shape).astype(float)
        else:
            drawn = rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9, shape)
        return np.where(rng.random(shape) < 0.2, INF, drawn)

    count = int(rng.integers(0, 6)) if len(labels) > 1 else 0
    edges = [tuple(rng.choice(len(labels), 2, replace=False).tolist()) for _ in range(count)]
    tables = [values((labels[u], labels[v])) for u, v in edges]
    cliques = []
    for _ in range(int(rng.integers(0, 3)) if len(labels) > 2 else 0):
        nodes = rng.permutation(len(labels))[: int(rng.integers(3, len(labels) + 1))]
        cliques.append((nodes, values(tuple(labels[nodes]))))
    return Energy(
        [values(k) for k in labels], np.array(edges, dtype=int).reshape(-1, 2), tables, cliques=cliques
    )


def all_energies(energy: Energy) -> list[float]:
    return [energy.energy(y) for y in itertools.product(*[range(k) for k in energy.n_labels])]


def round_trip(energy: Energy, path: Path) -> Energy:
    write_energy(energy, path)
    return read_energy(path)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def complaint(path: Path, **options) -> str:
    with pytest.raises(EnergyFileError) as caught:
        read_energy(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(options.get("evidence", path)))
    return message


# ---- all formats


@pytest.mark.parametrize("end", EXACT)
def test_exact_formats_give_back_every_entry(end, tmp_path):
    for seed in range(60):
        energy = random_energy(seed)
        assert all_energies(round_trip(energy, tmp_path / f"e{end}")) == all_energies(energy)


def test_weights_of_uai_give_back_entries_to_rounding(tmp_path):
    for seed in range(60):
        energy = random_energy(seed)
        back = round_trip(energy, tmp_path / "e.uai")
        for u in range(energy.n_nodes):
            np.testing.assert_allclose(back.unary(u), energy.unary(u), rtol=4e-16, atol=4e-16)
        for e in range(energy.n_edges):
            assert back.edges[e].tolist() == energy.edges[e].tolist()
            np.testing.assert_allclose(back.table(e), energy.table(e), rtol=4e-16, atol=4e-16)
        for c in range(energy.n_cliques):
            assert back.clique(c)[0].tolist() == energy.clique(c)[0].tolist()
            np.testing.assert_allclose(back.clique(c)[1], energy.clique(c)[1], rtol=4e-16, atol=4e-16)


@pytest.mark.parametrize("end", [".wcsp", ".wcsp.gz", ".cfn", ".h5"])
def test_integers_come_back_from_every_format(end, tmp_path):
    for seed in range(60):
        energy = random_energy(seed, integers=True)
        assert all_energies(round_trip(energy, tmp_path / f"e{end}")) == all_energies(energy)


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn", ".h5"])
def test_tables_are_not_transposed(end, tmp_path):
    table = np.arange(6.0).reshape(2, 3)
    back = round_trip(Energy([[0.0] * 2, [0.0] * 3], [[0, 1]], [table]), tmp_path / f"a{end}")
    np.testing.assert_allclose(back.table(0), table, atol=1e-15)
    back = round_trip(Energy([[0.0] * 3, [0.0] * 2], [[1, 0]], [table]), tmp_path / f"b{end}")
    assert [[back.energy([k, j]) for k in range(3)] for j in range(2)] == pytest.approx(table)


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn", ".h5"])
def test_energies_without_nodes_or_edges(end, tmp_path):
    assert round_trip(Energy([]), tmp_path / f"none{end}").n_nodes == 0
    assert all_energies(round_trip(Energy([[3.0], [1.0, 0.0]]), tmp_path / f"few{end}")) == [4.0, 3.0]


def test_unknown_end_missing_file_and_incomplete_gzip(tmp_path):
    assert "must end with" in complaint(write(tmp_path / "e.txt", "MARKOV"))
    with pytest.raises(FileNotFoundError):
        read_energy(tmp_path / "none.uai")
    path = tmp_path / "e.cfn.gz"
    path.write_bytes(gzip.compress(b"{problem: {p <1}}")[:-3])
    assert "gzip" in complaint(path)
    with pytest.raises(EnergyFileError, match="must end with"):
        write_energy(Energy([[0.0]]), tmp_path / "e.lp")


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "e.wcsp"
    write_energy(Energy([[1.0, 2.0]]), path)
    before = path.read_bytes()
    for bad in (0.5, -1.0, 2.0**60):
        with pytest.raises(EnergyFileError, match=r"write \.cfn"):
            write_energy(Energy([[bad, 2.0]]), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["e.wcsp"]


# ---- UAI

UAI = """MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


def test_uai_weights_become_energies(tmp_path):
    energy = read_energy(write(tmp_path / "e.uai", UAI))
    assert energy.n_labels.tolist() == [2, 2, 3]
    assert energy.energy([1, 0, 2]) == pytest.approx(-math.log(0.564 * 0.920 * 0.457), rel=1e-14)
    assert energy.energy([0, 1, 1]) == INF
    assert read_energy(write(tmp_path / "b.uai", UAI.replace("MARKOV", "bayes"))).n_edges == 2


def test_uai_weights_beyond_float64(tmp_path):
    text = "MARKOV\n1\n4\n1\n1 0\n4 1e-400 1e-320 0.0e-999 1\n"
    unary = read_energy(write(tmp_path / "e.uai", text)).unary(0)
    assert unary[0] == pytest.approx(400 * math.log(10), rel=1e-15)
    assert unary[1] == pytest.approx(320 * math.log(10), rel=1e-15)
    assert unary[2:].tolist() == [INF, 0.0]
    assert not np.signbit(unary[3])


@pytest.mark.parametrize("text", ["2 1 0 2 1", "1\n2 1 0 2 1\n"])
def test_evidence_forbids_other_labels(text, tmp_path):
    path, evidence = write(tmp_path / "e.uai", UAI), write(tmp_path / "e.uai.evid", text)
    free, known = read_energy(path), read_energy(path, evidence=evidence)
    for y in itertools.product(range(2), range(2), range(3)):
        assert known.energy(y) == (free.energy(y) if y[1:] == (0, 1) else INF)


@pytest.mark.parametrize("text", ["0", "1 0"])
def test_no_evidence(text, tmp_path):
    path = write(tmp_path / "e.uai", UAI)
    assert all_energies(read_energy(path, write(tmp_path / "v", text))) == all_energies(read_energy(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 3 0", "node 3 does not exist"),
        ("1 2 3", "labels are 0..2"),
        ("2 0 1 0 0", "labels 1 and 0"),
        ("2 0 1", "ends"),
        ("1 0 1 1", "unexpected"),
        ("x", "integer"),
        ("", "ends"),
    ],
)
def test_bad_evidence(text, message, tmp_path):
    assert message in complaint(write(tmp_path / "e.uai", UAI), evidence=write(tmp_path / "v", text))


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("MARKOV", "MRF", 1, "starts with MARKOV"),
        ("2 2 3", "2 0 3", 3, "is 0, expected at least 1"),
        ("2 0 1", "2 0 3", 6, "node 3 does not exist"),
        ("2 0 1", "2 1 1", 6, "stands twice"),
        ("\n4\n", "\n5\n", 12, "announces 5 weights, its nodes need 4"),
        ("0.872", "0,872", 13, "finite number, found '0,872'"),
        ("0.872", "nan", 13, "found 'nan'"),
        ("0.872", "1_0", 13, "found '1_0'"),
        ("0.872", "-0.1", 13, "negative"),
        ("0.189", "0.189 7", 18, "unexpected '7'"),
        ("0.189", "", 18, "ends"),
        ("\n3\n1 0", "\n999999999999\n1 0", 18, "integer"),
    ],
)
def test_uai_complaints_name_the_line(old, new, line, message, tmp_path):
    path = write(tmp_path / "e.uai", UAI.replace(old, new, 1))
    assert message in complaint(path)
    if message not in ("ends", "integer"):
        assert complaint(path).startswith(f"{path}:{line}: ")


# ---- WCSP


def test_wcsp_defaults_shared_functions_and_comparators(tmp_path):
    text = """test 3 3 7 20
2 3 3
0 4 0
1 0 1 1
1 6
-2 0 1 0 2
0 0 5
1 2 20
2 0 2 0 -1
2 1 2 -1 >= 1 1
2 1 2 3 1
0 0 25
3 0 1 2 -1 max 1 2 0 1 3 2 2 2
"""
    energy = read_energy(write(tmp_path / "e.wcsp", text))

    def expected(a, b, c):
        pair = {(0, 0): 5.0, (1, 2): INF}
        short = max(0, c + 1 - b)
        largest = max(3 if a == 1 else 1, 1, 2 if c == 2 else 1)
        total = largest + 4 + (6 if a == 1 else 1) + pair.get((a, b), 0.0) + pair.get((a, c), 0.0)
        return total + (INF if short > 1 else short) + (INF if (b, c) == (0, 0) else 3.0)

    for y in itertools.product(range(2), range(3), range(3)):
        assert energy.energy(y) == expected(*y)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("p 2 2 1 9\n2 2\n2 0 1 -1 salldiff var 1", 3, "'salldiff' is not supported"),
        ("p 2 2 1 9\n2 -2\n", 2, "interval variable"),
        ("p 2 2 1 9\n2 0\n", 2, "domain size is 0"),
        ("p 1 2 1 9\n2\n1 0 0 1\n2 5", 4, "label 2 does not exist"),
        ("p 1 2 1 9\n2\n1 0 0 1\n1 -5", 4, "negative"),
        ("p 1 2 1 9\n2\n1 0 0 1\n1 0.5", 4, "integer"),
        ("p 1 2 1 9\n2\n1 0 0 -1\n", 3, "no shared cost function 1"),
        ("p 1 2 1 9\n2\n1 1 0 0\n", 3, "node 1 does not exist"),
        ("p 1 2 1 9\n2\n1 0 0 1\n1", 4, "ends"),
        ("p 1 2 1 0\n2\n", 1, "upper bound is 0"),
        ("p 1 2 0 9\n2\n3", 3, "unexpected"),
        (f"p 40 9 1 9\n{'9 ' * 40}\n30 {' '.join(map(str, range(30)))} 0 0\n", 3, "entries"),
        ("p 1 999999999999 0 9\n999999999999\n", 2, "entries"),
    ],
)
def test_wcsp_complaints_name_the_line(text, line, message, tmp_path):
    path = write(tmp_path / "e.wcsp", text)
    assert message in complaint(path)
    assert complaint(path).startswith(f"{path}:{line}: ")


# ---- CFN

CFN = """{ "problem": { "name": "test", "mustbe": "<100.0" },
# a comment, with } and "
  "variables": { "a": ["x", "y"], "b": 3 },
  "functions": {
    "fa": { "scope": ["a"], "costs": [0.5, -1.25] },
    "fab": { "scope": ["a", "b"], "defaultcost": 2, "costs": ["y", 0, 5, "x", 2, 100.0] },
    "again": { "scope": ["a", "b"], "costs": "last" },
    "last": { "scope": ["a", "b"], "costs": [1, 2, 3, 4, 5, 6] },
    "all": { "scope": [], "costs": [10] } } }
"""
LOOSE = """{ {test <100.0} [[x y] 3]
  [ {[0] costs [0.5 -1.25]} {[0 1] defaultcost 2 costs [[y 0 5] {x 2 100.0}]}
    {[0 1] costs last} last {[0 1] costs [1 2 3 4 5 6]} {[] costs [10]} ] }
"""


@pytest.mark.parametrize("text", [CFN, LOOSE])
def test_cfn_strict_and_loose(text, tmp_path):
    energy = read_energy(write(tmp_path / "e.cfn", text))
    for a, b in itertools.product(range(2), range(3)):
        sparse = {(1, 0): 5.0, (0, 2): 100.0}.get((a, b), 2.0)
        # the function's 100 and the least the others can add, -1.25, stay below the bound 100
        assert energy.energy([a, b]) == (0.5, -1.25)[a] + sparse + 2 * (1 + 3 * a + b) + 10


def test_cfn_bound_forbids_what_reaches_it_alone(tmp_path):
    text = "{{p <10.0} {a 2 b 2} {{scope [a] costs [9.9 10.0]} {scope [b] costs [0 -1]}}}"
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [9.9, 8.9, 10.0, 9.0]
    text = text.replace("10.0]", "11.0]")
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [9.9, 8.9, INF, INF]


def test_cfn_maximisation_is_minimisation_of_the_negative(tmp_path):
    text = "{{p >-10.0} {a 2 b 2} {{scope [a] costs [3 -10]} {scope [a b] costs [1 2 3 4]}}}"
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [-4.0, -5.0, 7.0, 6.0]
    text = text.replace("-10]", "-14]")
    assert all_energies(read_energy(write(tmp_path / "e.cfn", text))) == [-4.0, -5.0, INF, INF]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"<100.0"', '"100.0"', 1, "mustbe"),
        ('"<100.0"', '"<x"', 1, "no number"),
        ('"b": 3', '"b": -3', 3, "interval"),
        ('"b": 3', '"b": 0', 3, "empty"),
        ('"b": 3', '"a": 3', 3, "twice"),
        ('"b": 3', '"b"', 3, "no domain"),
        ("[0.5, -1.25]", "[0.5]", 5, "1 costs, the scope needs 2"),
        ("[0.5, -1.25]", "[0.5, z]", 5, "found 'z'"),
        ("[0.5, -1.25]", "[0.5, inf]", 5, "found 'inf'"),
        ('"y", 0, 5,', '"z", 0, 5,', 6, "no label 'z'"),
        ('"y", 0, 5,', '"y", 0,', 6, "the last is cut"),
        ('"y", 0, 5,', '"y", 3, 5,', 6, "no label '3'"),
        ('["a"]', '["c"]', 5, "no variable 'c'"),
        ('["a"]', '["a", "a"]', 5, "twice"),
        ('"last" }', '"lost" }', 7, "'lost' do not exist"),
        ('"last" }', '"again" }', 7, "do not exist"),
        ('"last" }', '"fa" }', 7, "label counts"),
        ('"costs": [10]', '"type": "salldiff", "params": []', 9, "'salldiff' is not supported"),
        ('"costs": [10]', '"price": [10]', 9, "neither costs nor a type"),
        ("} } }", "} } } }", 9, "closes nothing"),
        ("} } }", "} }", 1, "never closed"),
        ("[10]", '["10]', 9, "quote"),
    ],
)
def test_cfn_complaints_name_the_line(old, new, line, message, tmp_path):
    path = write(tmp_path / "e.cfn", CFN.replace(old, new, 1))
    assert message in complaint(path)
    assert complaint(path).startswith(f"{path}:{line}: ")


def test_cfn_files_are_json(tmp_path):
    path = tmp_path / "3 e.cfn"
    write_energy(random_energy(5), path)
    assert set(json.loads(path.read_text())) == {"problem", "variables", "functions"}


# ---- OpenGM

h5py = pytest.importorskip("h5py")


def opengm_file(path: Path, **changes) -> Path:
    """Two nodes of 2 and 3 labels, a sparse, an explicit and a Potts function."""
    arrays = {
        "header": [2, 0, 2, 3, 3, 16000, 1, 16001, 1, 16006, 1, 1],
        "numbers-of-states": [2, 3],
        "function-id-16000/indices": [1, 2],
        "function-id-16000/values": [0.5, 7.0],
        "function-id-16001/indices": [2, 2, 3, 2, 1, 4],
        "function-id-16001/values": [1.0, 10.0, 20.0],
        "function-id-16006/indices": [2, 3],
        "function-id-16006/values": [-1.0, 4.0],
        "factors": [0, 0, 1, 0, 0, 1, 2, 0, 1, 0, 2, 2, 0, 1],
        **{name.replace("__", "/").replace("_", "-"): value for name, value in changes.items()},
    }
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            if values is not None:
                file[f"gm/{name}"] = np.array(values, dtype=None if "values" in name else np.uint64)
    return path


def test_opengm_functions(tmp_path):
    energy = read_energy(opengm_file(tmp_path / "e.h5"))
    # sparse entries are numbered with the first node fastest: 1 is (1, 0), 4 is (0, 2)
    sparse = {(1, 0): 10.0, (0, 2): 20.0}
    for a, b in itertools.product(range(2), range(3)):
        assert energy.energy([a, b]) == [0.5, 7.0][a] + sparse.get((a, b), 1.0) + (-1.0 if a == b else 4.0)


def test_opengm_files_hold_the_first_node_fastest_and_ascending(tmp_path):
    table = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    energy = Energy([[0.0] * 3, [0.0] * 2, [0.0] * 2], [[1, 0], [2, 0]], [table, table])
    path = tmp_path / "e.hdf5"
    write_energy(energy, path)
    with h5py.File(path) as file:
        gm = file["gm"]
        assert gm["header"][:].tolist() == [2, 0, 3, 5, 1, 16000, 3, 1]
        assert gm["numbers-of-states"][:].tolist() == [3, 2, 2]
        assert gm["function-id-16000/indices"][:].tolist() == [1, 3, 1, 2, 2, 3, 2]
        # the file's table is [node 0, node 1], node 0 fastest: column after column
        assert gm["function-id-16000/values"][5:].tolist() == [1, 2, 3, 4, 5, 6]
        assert gm["factors"][-10:].tolist() == [2, 0, 2, 0, 1, 2, 0, 2, 0, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"header": None}, "found 0"),
        ({"header": [2, 1, 0, 0, 0, 1]}, "version 2.1"),
        ({"header": [2, 0]}, "header ends"),
        ({"numbers_of_states": [2]}, "the header says 2"),
        ({"numbers_of_states": [2, 0]}, "node 1 has 0 labels"),
        ({"factors": [0, 0, 1, 0]}, "factors ends"),
        ({"factors": [0, 7, 1, 0] * 4}, "type 7, which does not exist"),
        ({"factors": [3, 0, 1, 0] * 4}, "function 3 of type 0"),
        ({"factors": [0, 0, 1, 1] * 4}, "shape (2,)"),
        ({"factors": [0, 0, 1, 9] * 4}, "node 9"),
        ({"function_id_16000__indices": [1, 2**40]}, "too large"),
        ({"function_id_16000__values": [0.5]}, "values ends"),
        ({"function_id_16000__values": None}, "no one-dimensional data set 'values'"),
        ({"function_id_16001__indices": [2, 2, 3, 2, 1, 6]}, "beyond"),
        ({"header": [2, 0, 2, 3, 1, 16007, 1, 1]}, "type 16007 is not supported"),
    ],
)
def test_opengm_complaints(changes, message, tmp_path):
    assert message in complaint(opengm_file(tmp_path / "e.h5", **changes))


def test_opengm_without_h5py(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match="pip install"):
        read_energy(write(tmp_path / "e.h5", ""))


# ---- garbage


def sample(end: str, tmp_path: Path) -> bytes:
    path = tmp_path / f"sample{end}"
    if not path.exists():
        write_energy(random_energy(3, integers=True), path)
    return path.read_bytes()


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn", ".cfn.gz", ".h5"])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(data=st.data())
def test_damaged_files_are_refused_or_read(end, data, tmp_path):
    whole = bytearray(sample(end, tmp_path))
    kind = data.draw(st.sampled_from(["cut", "change", "insert", "garbage"]))
    at = data.draw(st.integers(0, len(whole) - 1))
    if kind == "cut":
        whole = whole[:at]
    elif kind == "garbage":
        whole = bytearray(data.draw(st.binary(max_size=200)))
    else:
        piece = data.draw(
            st.sampled_from([b"-", b"9", b"99999999", b" ", b"x", b"{", b"]", b'"', b"\xff", b"."])
        )
        whole[at : at + (kind == "change")] = piece
    path = tmp_path / f"damaged{end}"
    path.write_bytes(whole)
    try:
        read_energy(path)
    except EnergyFileError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("end", [".uai", ".wcsp", ".cfn"])
def test_every_truncation_is_refused(end, tmp_path):
    whole = sample(end, tmp_path).rstrip()
    last_word = len(whole) - len(whole.split()[-1])
    for length in range(0, last_word, 3):
        path = tmp_path / f"cut{end}"
        path.write_bytes(whole[:length])
        complaint(path)


def test_deep_brackets(tmp_path):
    assert "never closed" in complaint(write(tmp_path / "e.cfn", "[" * 100_000))
    complaint(write(tmp_path / "e.cfn", "[" * 100_000 + "]" * 100_000))


# ---- known files


def test_known_files_have_their_published_optimum(shared):
    for folder in ("scene-decomposition", "protein"):
        root = shared / "data" / "energies" / folder
        for name, known in json.loads((root / "optimum.json").read_text())["instances"].items():
            found = solve(read_energy(root / name), time_limit=60)
            assert found.status == "optimal", name
            assert found.energy == pytest.approx(known["best_energy"], abs=1e-9), name


TOULBAR2 = ["1aho.cfn.gz", "warehouse.wcsp", "max.cfn"]
NEEDS_SEARCH = ["4queens.wcsp", "celar6sub0.wcsp", "example.wcsp", "zebra.wcsp"]


@pytest.mark.parametrize("name", TOULBAR2 + NEEDS_SEARCH)
def test_toulbar2_files_have_their_published_optimum(name, shared):
    if name in NEEDS_SEARCH:
        pytest.importorskip("pytoulbar2")
    root = shared / "data" / "energies" / "toulbar2"
    found = solve(read_energy(root / name))
    assert found.status == "optimal"
    assert found.energy == pytest.approx(float((root / f"{name.split('.')[0]}.ub").read_text()), abs=1e-9)


def reported_energy(case) -> Energy:
    """The energy of a case of inference.json."""

    def table(rows):
        return np.array([[INF if x is None else x for x in np.atleast_1d(row)] for row in rows], dtype=float)

    labels = case["labels"]
    unaries = [np.zeros(k) for k in labels]
    if "V" in case and "unary" in case:
        unaries = [np.array(u, dtype=float) for u in case["unary"]]
    elif "unary" in case:
        unaries = [np.full(k, case["unary"]) for k in labels]
    elif case["id"] == 5:
        unaries = list(-np.eye(4))
    terms = [(nodes, table(rows)) for nodes, rows in case.get("terms", [])]
    terms = [(n, t.ravel() if len(n) == 1 else t) for n, t in terms]
    terms += [(edge, table(case["V"])) for edge in case.get("edges", [])]
    ternary = np.array([INF if x is None else x for x in case.get("ternary", [])]).reshape(-1, 2, 2, 2)
    terms += [(scope, ternary[0]) for scope in case.get("scopes3", [])]
    return Energy(unaries, cliques=terms)


@pytest.mark.parametrize("end", [".uai", ".cfn.gz", ".h5"])
def test_reported_cases_through_files(end, shared, tmp_path):
    cases = json.loads((shared / "cases" / "inference.json").read_text())["cases"]
    cases = [case for case in cases if "min" in case]
    assert len(cases) >= 7
    for case in cases:
        energy = round_trip(reported_energy(case), tmp_path / f"case{end}")
        found = solve(energy)
        assert found.energy == pytest.approx(case["min"], abs=1e-12), case["id"]
        if "x" in case:
            assert found.labels.tolist() == case["x"]
        if "n_optima" in case:
            near = [value for value in all_energies(energy) if value <= case["min"] + 1e-9]
            assert len(near) == case["n_optima"], case["id"]


def test_files_read_one_after_the_other_do_not_meet(shared):
    root = shared / "data" / "energies" / "toulbar2"
    alone = solve(read_energy(root / "warehouse.wcsp")).energy
    solve(read_energy(root / "1aho.cfn.gz"))
    assert solve(read_energy(root / "warehouse.wcsp")).energy == alone == 328.0


def test_names_at_the_top():
    assert {"read_energy", "write_energy", "EnergyFileError"} <= set(gapcut.__all__)

"""WCSP: whole costs, shared functions, comparators."""

from __future__ import annotations

import itertools

import pytest

from energy_files import INF, complaint, write
from gapcut import read_energy


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
        ("p 2 2 1 9\n2 -2\n", 2, "variable 1 is an interval"),
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

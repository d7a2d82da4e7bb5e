"""No vector in the compiled core is wider than the registers of its target."""

from __future__ import annotations

import re
from pathlib import Path

CPP = Path(__file__).resolve().parents[2] / "cpp"
WIDER_THAN_ANY = re.compile(r"vector_size|target_clones|may_alias|__builtin_shufflevector")
REGISTER = re.compile(r"__m(?:128|256|512)|float(?:32x4|64x2)_t|_mm(?:256|512)?_")


def test_no_compiler_extension_makes_vectors() -> None:
    """These compile to anything, scalars through the stack included, where the target lacks such a register."""
    found = [path for path in CPP.rglob("*.[ch]pp") if WIDER_THAN_ANY.search(path.read_text())]
    assert found == []


def test_registers_are_named_in_two_files_only() -> None:
    users = {path.name for path in CPP.rglob("*.[ch]pp") if REGISTER.search(path.read_text())}
    assert users <= {"simd.hpp", "quad.hpp"}


def test_each_register_stands_behind_its_instruction_set() -> None:
    """Of simd.hpp and quad.hpp, the instantiations for each branch of the preprocessor."""
    widest = {"__AVX512F__": 512, "__AVX2__": 256, "__SSE2__": 128, "__aarch64__": 128}
    for name in ("simd.hpp", "quad.hpp"):
        branch: list[int] = []
        for line in (CPP / "kernels" / name).read_text().splitlines():
            if line.startswith("#if"):
                branch.append(next((bits for key, bits in widest.items() if key in line), 0))
            elif line.startswith("#elif"):
                branch[-1] = next((bits for key, bits in widest.items() if key in line), 0)
            elif line.startswith("#else"):
                branch[-1] = 0
            elif line.startswith("#endif"):
                branch.pop()
            used = [int(bits) for bits in re.findall(r"__m(128|256|512)d?\b", line)]
            assert not used or max(used) <= max(branch, default=0), (name, line)

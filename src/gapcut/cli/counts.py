"""How many of what, in words."""

from __future__ import annotations


def counted(**numbers: int) -> str:
    """``graph=1, node=2000`` is ``1 graph, 2,000 nodes``."""
    return ", ".join(
        f"{number:,} {noun if number == 1 else _plural(noun)}" for noun, number in numbers.items()
    )


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("s") else "s")

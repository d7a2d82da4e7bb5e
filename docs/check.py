"""Run every snippet of the pages and compare with what they show: ``python docs/check.py [--slow] [PAGE ...]``.

Words and counts must be the same. Digits that depend on the processor are not compared: numbers with a decimal point
or an exponent, and counts that rounding may move (VARIES). Brackets ``lower <= optimum <= ... <= upper`` must overlap.
A target that is missed shows as another word (``certified``, ``optimal``, ``holds``). What cannot run here is skipped
with the reason.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pages import Failed, Session, blocks, pages

BRACKET = re.compile(r"(\S+) <= (?:optimum|minimum) <=.*?(?<=<= )([\d.e+-]+)")
VARIES = re.compile(
    r"[\d,]+(?= (?:oracle calls|passes|of [\d,]+ pairwise are not|of [\d,]+ pairwise are exactly|MB|s\b))"
    r"|(?<=in )\d+(?= passes)|\S*\d[\d,]*\.\d\S*|\S*\de[+-]\d+\S*"
)


def skeleton(text: str) -> list[str]:
    """The words and counts of an output; layout, and digits that vary, are gone."""
    return VARIES.sub("#", re.sub("[─|]+", "", text)).split()


def difference(shown: str, now: str) -> str | None:
    """What is wrong with a new output; None if nothing is."""
    for old, new in zip(BRACKET.findall(shown), BRACKET.findall(now), strict=False):
        if max(float(old[0]), float(new[0])) > min(float(old[1]), float(new[1])):
            return f"bracket [{', '.join(new)}] does not overlap the one shown, [{', '.join(old)}]"
    before, after = skeleton(shown), skeleton(now)
    if before == after:
        return None
    place = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), -1)
    return f"shown {before[place:][:3]}, now {after[place:][:3]}, in\n{now}"


def check(page: Path, slow: bool) -> tuple[int, int]:
    """How many snippets of a page ran, and how many failed."""
    ran = failed = 0
    text = page.read_text()
    with Session() as session:
        for block in blocks(page):
            if reason := block.reason_to_skip(slow):
                print(f"{block.where}: skipped, {reason}", flush=True)
                continue
            ran += 1
            try:
                now = session.run(block)
                wrong = difference(text[block.shown], now) if block.shown else None
            except Failed as error:
                wrong = str(error)
            if wrong:
                failed += 1
                print(f"{block.where}: {wrong}", flush=True)
    return ran, failed


def main(names: list[str], slow: bool) -> None:
    chosen = [Path(name).resolve() for name in names] or pages()
    ran, failed = (sum(counts) for counts in zip(*(check(page, slow) for page in chosen), strict=True))
    print(f"{ran} snippets run, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if not name.startswith("-")], "--slow" in sys.argv[1:])

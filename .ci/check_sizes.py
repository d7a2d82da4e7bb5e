"""Checks that files of ``src`` and ``cpp`` have at most 400 lines, and functions less than 60. Run from anywhere; exits
1 with one line a fault."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE, FUNCTION = 400, 60
ENDINGS = (".py", ".cpp", ".hpp", ".js", ".css", ".html")
_NOT_CODE = re.compile(
    r'^\s*#.*?$|//.*?$|/\*.*?\*/|`[^`]*`|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.M | re.S
)
_SCOPE = re.compile(r"(template\s*<.*>\s*)?(namespace|class|struct|enum|union|extern)\b")


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and lines of each function, its docstring with it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def braced_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """The same of C++ and JavaScript: what stands in braces outside of other functions, and is no class or list."""
    code = _NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    open_: list[tuple[bool, int, str]] = []
    start, line = 0, 1
    for at, sign in enumerate(code):
        line += sign == "\n"
        if sign == "{":
            head = code[start:at].strip()
            open_.append((bool(_SCOPE.match(head)), line - head.count("\n"), head))
        elif sign == "}" and open_:
            scope, first, head = open_.pop()
            name = head.split("(")[0]
            if not scope and "=" not in name and all(outer for outer, _, _ in open_):
                yield " ".join(name.split()[-1:]), first, line - first + 1
        if sign in "{};":
            start = at + 1


def main() -> int:
    """Prints the faults of all files, and the longest file and function."""
    listed = subprocess.run(
        ["git", "ls-files", "src", "cpp"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    found, longest, most = [], 0, 0
    for name in (name for name in listed.stdout.split() if name.endswith(ENDINGS)):
        text = (ROOT / name).read_text()
        size = text.count("\n")
        most = max(most, size)
        if size > FILE:
            found.append(f"{name}: {size} lines, {FILE} at most")
        for function, first, lines in (python_functions if name.endswith(".py") else braced_functions)(text):
            longest = max(longest, lines)
            if lines >= FUNCTION:
                found.append(f"{name}:{first}: {function} has {lines} lines, {FUNCTION - 1} at most")
    print("\n".join(found) or f"sizes: files up to {most} lines, functions up to {longest}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

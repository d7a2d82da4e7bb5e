"""What is said about a file that holds no energy we can read, or an energy that a format cannot hold."""

from __future__ import annotations

from pathlib import Path


class EnergyFileError(ValueError):
    """One line: ``path:line: what is wrong``, without the line where a format has none."""

    def __init__(self, path: Path | str, detail: str, line: int | None = None) -> None:
        where = f"{path}" if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {detail}")
        self.path = str(path)
        self.detail = detail
        self.line = line

    def __reduce__(self) -> tuple[type[EnergyFileError], tuple[str, str, int | None]]:
        return EnergyFileError, (self.path, self.detail, self.line)


class BadFactor(ValueError):
    """A term that no energy can have; readers add the place in the file."""

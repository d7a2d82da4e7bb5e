"""What is said about a point cloud, or a file of one, that cannot be used."""

from __future__ import annotations

from os import PathLike


class CloudError(ValueError):
    """One line: which point or attribute, what is wrong with it, what to do."""


class CloudFileError(CloudError):
    """The same about a file; the line begins with its path."""

    def __init__(self, path: str | PathLike[str], detail: str) -> None:
        super().__init__(f"{path}: {detail}")
        self.path = str(path)
        self.detail = detail

    def __reduce__(self) -> tuple[type[CloudFileError], tuple[str, str]]:
        return CloudFileError, (self.path, self.detail)

"""A learned model as a value: labels, weight domain, training, files, and the check of its claim."""

from gapcut.model.container import ModelFileError

__all__ = ["ModelFileError"]

"""The version of the package, for the files it writes."""

__version__ = "0.1.0"

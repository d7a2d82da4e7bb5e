"""Files that appear whole or not at all: any bytes, and checked containers of arrays."""

from gapcut.files.atomic import try_to_write, write_atomically
from gapcut.files.container import ModelFileError, blame, read_container, write_container

__all__ = ["ModelFileError", "blame", "read_container", "try_to_write", "write_atomically", "write_container"]

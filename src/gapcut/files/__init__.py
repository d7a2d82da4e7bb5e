"""Files that appear whole or not at all: any bytes, arrays, JSON for programs, and checked containers of arrays."""

from gapcut.files.arrays import write_arrays
from gapcut.files.atomic import try_to_write, write_atomically, write_bytes
from gapcut.files.container import ModelFileError, blame, read_container, write_container
from gapcut.files.documents import json_text, plain, write_text
from gapcut.files.ledger import Entry, Ledger, are_there, digest, digests

__all__ = [
    "Entry",
    "Ledger",
    "ModelFileError",
    "are_there",
    "blame",
    "digest",
    "digests",
    "json_text",
    "plain",
    "read_container",
    "try_to_write",
    "write_arrays",
    "write_atomically",
    "write_bytes",
    "write_container",
    "write_text",
]

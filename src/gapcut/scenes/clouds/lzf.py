"""Decompression of LZF, the byte stream of ``binary_compressed`` PCD files.

A control byte c below 32 announces c + 1 literal bytes. Otherwise c >> 5 (if 7: plus the next byte) + 2 bytes
are copied from ((c & 31) << 8 | next byte) + 1 bytes back in the output; the copy may overlap its own result.
"""

from __future__ import annotations

MOST_EXPANSION = 90
"""Three bytes stand for at most 7 + 255 + 2 = 264."""


def decompress(data: bytes, size: int) -> bytes:
    """The ``size`` bytes that ``data`` stands for. Raises ValueError if it stands for anything else."""
    out = bytearray()
    at, end = 0, len(data)
    try:
        while at < end:
            control = data[at]
            at += 1
            if control < 32:
                stop = at + control + 1
                if stop > end:
                    raise ValueError("the compressed data end within a run of literals")
                out += data[at:stop]
                at = stop
                continue
            length = control >> 5
            if length == 7:
                length += data[at]
                at += 1
            length += 2
            start = len(out) - ((control & 31) << 8) - data[at] - 1
            at += 1
            if start < 0:
                raise ValueError("the compressed data refer to before their beginning")
            piece = out[start : start + length]
            while len(piece) < length:
                piece += piece[: length - len(piece)]
            out += piece
            if len(out) > size:
                break
    except IndexError:
        raise ValueError("the compressed data end within a reference") from None
    if len(out) != size:
        raise ValueError(f"the compressed data hold {len(out)} bytes or more, not {size}")
    return bytes(out)

"""Progress of a fit for people who watch it."""

from __future__ import annotations

from gapcut.certificates.certificate import Callback, Record


def spoken(callback: Callback | None) -> Callback:
    """Prints one line after every pass, then calls ``callback``."""

    def say(record: Record) -> bool | None:
        lower, upper = record.shown(4)
        print(
            f"[gapcut] pass {record.passes:3d} {record.seconds:8.1f} s   "
            f"{lower} <= optimum <= {upper}   gap {record.shown_gap()}",
            flush=True,
        )
        return None if callback is None else callback(record)

    return say

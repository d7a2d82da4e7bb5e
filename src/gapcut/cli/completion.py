"""``gapcut --install-completion``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from gapcut.cli.exits import DONE


def install_completion(
    *, shell: Literal["bash", "zsh", "fish"] | None = None, out: Path | None = None
) -> int:
    """Complete commands and options in your shell from now on.

    :param shell: Default: the one this runs in.
    :param out: File to write the script to, and nothing else; default: where the shell looks for it, and a line in its
        start-up file.
    """
    from gapcut.cli.app import build_app

    path = build_app().install_completion(shell=shell, output=out, add_to_startup=out is None)
    print(f"written  {os.fspath(path)}" + ("" if out else ": open a new shell"))
    return DONE

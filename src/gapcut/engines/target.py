"""Which instruction set the compiled kernels use."""

from __future__ import annotations

import platform
from pathlib import Path

from gapcut import _core


def target() -> str:
    """``"baseline"`` (SSE2; NEON on ARM), ``"v3"`` (AVX2) or ``"v4"`` (AVX-512): the fastest that the processor has, or
    what the environment variable ``GAPCUT_TARGET`` named when gapcut was imported.
    """
    return str(_core.target())


def targets() -> list[str]:
    """Those that this processor can run, slowest first."""
    return list(_core.targets())


def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def describe_machine() -> str:
    """One line: processor and target, for reports of times."""
    return f"{processor()}, target {target()} (of {', '.join(targets())})"

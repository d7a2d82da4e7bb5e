"""One browser for all pages that a test process opens."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    program = os.environ.get("GAPCUT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium on this machine (set GAPCUT_CHROMIUM to one)")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield running
        running.close()

"""What all tests share: a quiet, offline, single-threaded process, and honest skips."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import hypothesis
import pytest

from xtc_viz.threads import wait_passively

if TYPE_CHECKING:
    from playwright.sync_api import Playwright

# Read when torch, gradio and transformers are imported, hence before any test module is.
wait_passively()
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["FORWARDED_ALLOW_IPS"] = ""  # as the command line has it

# Chromium without the window and the pages of its own, which no test looks at: it is faster.
CHROMIUM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"

# A shared machine is slow at moments that say nothing about the code.
hypothesis.settings.register_profile("whole", deadline=None, print_blob=True)
hypothesis.settings.register_profile(
    "quick", hypothesis.settings.get_profile("whole"), max_examples=40
)


def pytest_configure(config: pytest.Config) -> None:
    """Search for counterexamples longer where all tests are run (`make test`)."""
    quick = config.option.markexpr and not config.getoption("hypothesis_profile", None)
    hypothesis.settings.load_profile("quick" if quick else "whole")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out of `--cov` what measures time: tracing takes half as long again."""
    for item in items:
        if item.get_closest_marker("browser") or item.get_closest_marker("story_model"):
            item.add_marker("no_cover")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run `gpu` tests where there is a CUDA device, and skip them, visibly, elsewhere.

    All others see no such device, so that they test the same things on every machine.
    """
    marked = item.get_closest_marker("gpu") is not None
    if marked or "torch" in sys.modules:
        import torch

        if marked and not _has_cuda():
            pytest.skip("needs a CUDA device")
        torch.cuda.is_available = _has_cuda if marked else _no_cuda


@cache
def _has_cuda() -> bool:
    import torch

    return torch.cuda.device_count() > 0


def _no_cuda() -> bool:
    return False


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """What drives browsers; there can be one at a time."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver

"""What all tests share: a quiet, offline, single-threaded process, and honest skips."""

from __future__ import annotations

import os

# Read when torch, gradio and transformers are imported, hence before any test module is.
# With waiting threads asleep, a second busy process costs a few percent and not a factor of 60.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import hypothesis
import pytest

# A shared machine is slow at moments that say nothing about the code.
hypothesis.settings.register_profile("xtc_viz", deadline=None, print_blob=True)
hypothesis.settings.load_profile("xtc_viz")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip `gpu` tests, visibly, where there is no CUDA device."""
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")

"""Which models get graphs, and one that cannot be recorded; see `test_gpu` for the rest."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps.graph import SWITCH, CudaGraphs, graphs_for

Folder = Callable[[str], Path]


def test_only_models_on_one_gpu_have_graphs(tiny_folder: Folder) -> None:
    loaded = LocalModel.load(str(tiny_folder("llama")))
    model = loaded.model
    assert loaded.graphs is graphs_for(model) is None
    model.hf_device_map = {"": "cuda:0"}
    assert graphs_for(model, {}) is not None
    assert graphs_for(model, {SWITCH: "1"}) is not None
    assert graphs_for(model, {SWITCH: "0"}) is None
    assert graphs_for(model, {"SPACES_ZERO_GPU": "true"}) is None
    model.hf_device_map = {"model.layers.0": 0, "model.layers.1": 1}
    assert graphs_for(model, {}) is None


def test_what_cannot_be_recorded_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """Without a CUDA device the very first call fails, with one the step does."""
    graphs = CudaGraphs(torch.device("cuda:0"))

    def step() -> torch.Tensor:
        raise RuntimeError("operation not permitted when stream is capturing")

    with caplog.at_level(logging.WARNING):
        assert graphs.usable
        assert graphs.capture(step) is None
        assert not graphs.usable
        assert graphs.capture(step) is None
    assert [record.getMessage() for record in caplog.records] == [
        "no CUDA graph could be recorded: decoding without"
    ]

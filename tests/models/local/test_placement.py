"""Devices, dtypes, quantization and attention."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.placement import devices_of, resolve_device
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.records.modelinfo import Placement

pytestmark = pytest.mark.slow

Folder = Callable[[str], Path]
with_bitsandbytes = pytest.mark.skipif(
    find_spec("bitsandbytes") is None, reason="needs the optional package bitsandbytes"
)


@pytest.fixture
def folder(tiny_folder: Folder) -> str:
    return str(tiny_folder("llama"))


def first_logits(model: LocalModel) -> torch.Tensor:
    generation = model.start([[5, 6, 7]] * 2)
    return generation.advance([8, 9]).float().cpu()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "abacus"}, r"`device` must be auto, cpu, cuda or cuda:N, but is 'abacus'"),
        ({"device": "meta"}, r"`device` must be .*, but is 'meta'"),
        ({"dtype": "int3"}, r"`dtype` must be one of auto, .*, but is 'int3'"),
        ({"attention": "none"}, r"`attention` must be one of auto, .*, but is 'none'"),
        ({"quantization": "2bit"}, r"`quantization` must be one of none, .*, but is '2bit'"),
        ({"max_memory": {"gpu": "1GiB"}}, r"`max_memory` must name .*, but names 'gpu'"),
    ],
)
def test_settings_are_checked(folder: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        LocalModel.load(LocalSpec(folder, **options))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_no_cuda_device() -> None:
    with pytest.raises(ModelError, match="this machine has no CUDA device"):
        resolve_device("cuda:0")


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_attention(folder: str, attention: str) -> None:
    model = LocalModel.load(LocalSpec(folder, attention=attention))
    assert model.model.config._attn_implementation == attention
    torch.testing.assert_close(
        first_logits(model), first_logits(LocalModel.load(folder)), rtol=1e-4, atol=1e-4
    )


def test_limits_spread_a_model_over_the_devices_named(folder: str) -> None:
    model = LocalModel.load(LocalSpec(folder, device="cpu", max_memory={"cpu": "1GiB"}))
    assert devices_of(model.model) == (torch.device("cpu"),)
    assert model.info.placement == Placement("float32", "cpu")
    torch.testing.assert_close(
        first_logits(model), first_logits(LocalModel.load(folder)), rtol=1e-4, atol=1e-4
    )


def test_what_exceeds_the_limits_is_not_run_from_the_disk(folder: str) -> None:
    with pytest.raises(ModelError, match="tiny-llama does not fit into the memory"):
        LocalModel.load(LocalSpec(folder, device="cpu", max_memory={"cpu": "20KB"}))


def test_several_devices_are_named_in_order() -> None:
    spread = {"embed": 0, "layers.0": 0, "layers.1": 1, "layers.2": "cpu"}
    model = SimpleNamespace(hf_device_map=spread)
    assert devices_of(model) == (torch.device("cuda:0"), torch.device("cuda:1"))


@pytest.mark.skipif(find_spec("bitsandbytes") is not None, reason="bitsandbytes is installed")
@pytest.mark.parametrize("kind", ["8bit", "4bit"])
def test_without_bitsandbytes_the_message_says_what_to_install(folder: str, kind: str) -> None:
    with pytest.raises(ModelError, match="pip install bitsandbytes"):
        LocalModel.load(LocalSpec(folder, quantization=kind))


@with_bitsandbytes
@pytest.mark.parametrize(("kind", "closeness"), [("8bit", 0.02), ("4bit", 0.2)])
def test_quantized(big_folder: Path, kind: str, closeness: float) -> None:
    path = str(big_folder)
    plain = LocalModel.load(path)
    model = LocalModel.load(LocalSpec(path, quantization=kind))
    assert model.info.placement == Placement(f"float32, {kind}", "cpu")
    assert model.info.parameters == plain.info.parameters
    got, reference = first_logits(model).softmax(-1), first_logits(plain).softmax(-1)
    assert not torch.equal(got, reference)
    torch.testing.assert_close(got, reference, rtol=0, atol=closeness)

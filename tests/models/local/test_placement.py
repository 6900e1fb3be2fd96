"""Devices, dtypes, quantization and attention; what goes in and out of memory."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.models import tiny
from xtc_viz.errors import ModelError
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.placement import devices_of, resolve_device
from xtc_viz.models.spec import ModelSpec

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
        LocalModel.load(ModelSpec(folder, **options))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_no_cuda_device() -> None:
    with pytest.raises(ModelError, match="this machine has no CUDA device"):
        resolve_device("cuda:0")


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_attention(folder: str, attention: str) -> None:
    model = LocalModel.load(ModelSpec(folder, attention=attention))
    assert model.model.config._attn_implementation == attention
    torch.testing.assert_close(
        first_logits(model), first_logits(LocalModel.load(folder)), rtol=1e-4, atol=1e-4
    )


def test_limits_spread_a_model_over_the_devices_named(folder: str) -> None:
    model = LocalModel.load(ModelSpec(folder, device="cpu", max_memory={"cpu": "1GiB"}))
    assert devices_of(model.model) == (torch.device("cpu"),)
    assert model.info.device == "cpu"
    torch.testing.assert_close(
        first_logits(model), first_logits(LocalModel.load(folder)), rtol=1e-4, atol=1e-4
    )


def test_what_exceeds_the_limits_is_not_run_from_the_disk(folder: str) -> None:
    with pytest.raises(ModelError, match="tiny-llama does not fit into the memory"):
        LocalModel.load(ModelSpec(folder, device="cpu", max_memory={"cpu": "20KB"}))


def test_several_devices_are_named_in_order() -> None:
    spread = {"embed": 0, "layers.0": 0, "layers.1": 1, "layers.2": "cpu"}
    model = SimpleNamespace(hf_device_map=spread)
    assert devices_of(model) == (torch.device("cuda:0"), torch.device("cuda:1"))


@pytest.mark.skipif(find_spec("bitsandbytes") is not None, reason="bitsandbytes is installed")
@pytest.mark.parametrize("kind", ["8bit", "4bit"])
def test_without_bitsandbytes_the_message_says_what_to_install(folder: str, kind: str) -> None:
    with pytest.raises(ModelError, match="pip install bitsandbytes"):
        LocalModel.load(ModelSpec(folder, quantization=kind))


@with_bitsandbytes
@pytest.mark.parametrize(("kind", "closeness"), [("8bit", 0.02), ("4bit", 0.2)])
def test_quantized(tmp_path: Path, kind: str, closeness: float) -> None:
    path = str(big_model(tmp_path))
    plain = LocalModel.load(path)
    model = LocalModel.load(ModelSpec(path, quantization=kind))
    assert model.info.dtype == f"float32, {kind}"
    assert model.info.parameters == plain.info.parameters
    got, reference = first_logits(model).softmax(-1), first_logits(plain).softmax(-1)
    assert not torch.equal(got, reference)
    torch.testing.assert_close(got, reference, rtol=0, atol=closeness)


def big_model(path: Path) -> Path:
    """Save a model of 16 million weights, 64 MB, with a tiny tokenizer."""
    tokenizer = tiny.fast_tokenizer("bytelevel")
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=5,
        num_attention_heads=8,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def resident() -> int:
    """Return this process's memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_switching_and_unloading_free_the_memory(tmp_path: Path) -> None:
    path = str(big_model(tmp_path))
    weights = 64e6
    host = ModelHost()
    host.load(path)  # what the first load leaves behind is no leak
    host.unload()
    gc.collect()
    # What earlier tests freed but still holds pages would hide what this one takes.
    ctypes.CDLL(None).malloc_trim(0)
    empty = resident()
    host.load(path)
    with host.turn() as turn:
        assert turn.wait(0)
        model = turn.model
        assert isinstance(model, LocalModel)
        model.start([[5, 6]] * 2).advance([7, 8])
        weight = weakref.ref(model.model.get_input_embeddings().weight)
        del model, turn
    one = resident() - empty
    assert one > 0.5 * weights  # some of it goes into pages that were free before
    host.load(path)
    assert weight() is None, "the former model is gone"
    assert resident() - empty < 1.5 * weights
    host.rest()
    assert resident() - empty < 0.3 * weights
    with host.turn() as turn:
        assert turn.wait(30)
        turn.model.start([[5, 6]])  # weights take no memory before they are used
    assert resident() - empty > 0.5 * weights
    host.rest()
    assert resident() - empty < 0.3 * weights
    with host.turn() as turn:
        assert turn.wait(30)
        turn.model.start([[5, 6]])
    host.unload()
    assert resident() - empty < 0.3 * weights


def test_a_failed_load_leaves_nothing_behind(tmp_path: Path, folder: str) -> None:
    path = big_model(tmp_path)
    config = (path / "config.json").read_text()
    (path / "config.json").write_text(
        config.replace('"num_hidden_layers": 5', '"num_hidden_layers": 6')
    )
    host = ModelHost()
    host.load(folder)
    load = host.load_in_background(str(path))
    assert load.wait(30)
    assert "incomplete" in str(load.error)
    alive = [
        p for p in gc.get_objects() if type(p) is torch.nn.Parameter and p.shape == (1536, 512)
    ]
    assert not alive, "the half-loaded model lives on in the error"

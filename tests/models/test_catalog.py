"""The catalog against transformers' own count, against public totals, and its arithmetic."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    MistralConfig,
    Olmo2Config,
    Qwen2Config,
    Qwen3Config,
    SmolLM3Config,
)

from xtc_viz.models.catalog import CatalogModel, Fit, Machine, Precision, catalog

CONFIGS: dict[str, type[Any]] = {
    "llama": LlamaConfig,
    "smollm3": SmolLM3Config,
    "qwen2": Qwen2Config,
    "qwen3": Qwen3Config,
    "gemma3": Gemma3TextConfig,
    "mistral": MistralConfig,
    "olmo2": Olmo2Config,
}
MODELS = {model.id: model for model in catalog()}
# As the hub shows them.
PUBLISHED = {
    "HuggingFaceTB/SmolLM2-135M": 134_515_008,
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": 1_711_376_384,
    "HuggingFaceTB/SmolLM3-3B": 3_075_098_624,
    "google/gemma-3-1b-it": 999_885_952,
    "google/gemma-3-4b-it": 4_300_079_472,
    "google/gemma-3-27b-it": 27_432_406_640,
    "meta-llama/Llama-3.2-1B": 1_235_814_400,
    "meta-llama/Llama-3.2-3B-Instruct": 3_212_749_824,
    "meta-llama/Llama-3.3-70B-Instruct": 70_553_706_496,
    "mistralai/Mistral-Nemo-Instruct-2407": 12_247_782_400,
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B": 14_770_033_664,
}


def meta(model: CatalogModel, layers: int) -> torch.nn.Module:
    """Build the real architecture without memory, with fewer layers to be quick."""
    sizes: dict[str, Any] = {
        "num_hidden_layers": layers,
        "hidden_size": model.hidden,
        "intermediate_size": model.inner,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.kv_heads,
        "vocab_size": model.vocab,
        "tie_word_embeddings": model.tied,
        "pad_token_id": None,
    }
    if model.architecture != "olmo2":
        sizes["head_dim"] = model.head_dim
    with torch.device("meta"):
        empty: torch.nn.Module = AutoModelForCausalLM.from_config(
            CONFIGS[model.architecture](**sizes)
        )
    return empty


def size(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in set(module.parameters()))


@pytest.mark.parametrize("id", PUBLISHED)
def test_parameters_are_the_published_ones(id: str) -> None:
    assert MODELS[id].parameters == PUBLISHED[id]


@pytest.mark.parametrize("architecture", CONFIGS)
def test_parameters_are_those_of_the_real_architecture(architecture: str) -> None:
    model = next(m for m in catalog() if m.architecture == architecture)
    one, two = meta(model, 1), meta(model, 2)
    layer = size(two) - size(one)
    assert size(one) + (model.layers - 1) * layer == model.parameters - model.other
    linear = sum(
        m.weight.numel()
        for name, m in one.named_modules()
        if isinstance(m, torch.nn.Linear) and "lm_head" not in name
    )
    assert linear * model.layers == model.linear_parameters


def test_the_catalog_covers_what_it_should_and_is_sane() -> None:
    assert len(MODELS) == len(catalog())
    assert [m.parameters for m in catalog()] == sorted(m.parameters for m in catalog())
    for family in ("SmolLM2", "SmolLM3", "Qwen3", "gemma-3", "Llama-3.2", "Llama-3.3", "Nemo"):
        assert any(family in id for id in MODELS)
    for model in catalog():
        assert model.kind in {"base", "chat"}
        assert model.reasoning in {"none", "optional", "always"}
        assert model.reasoning == "none" or model.kind == "chat"
        assert model.gated in {True, False, None}
        assert model.heads % model.kv_heads == 0


def test_memory_by_hand() -> None:
    llama = MODELS["meta-llama/Llama-3.3-70B-Instruct"]
    assert llama.weight_bytes(Precision.BFLOAT16) == 2 * 70_553_706_496
    assert llama.weight_bytes(Precision.FLOAT32) == 4 * 70_553_706_496
    # 80 layers, keys and values, 8 heads of 128, 2 bytes: 320 KiB a token.
    assert llama.cache_bytes(1) == 327_680
    assert llama.cache_bytes(1, Precision.FLOAT32) == 2 * 327_680
    linear = 80 * (8192 * 128 * (64 + 64 + 8 + 8) + 3 * 8192 * 28672)
    assert llama.linear_parameters == linear
    rest = 70_553_706_496 - linear
    assert llama.weight_bytes(Precision.INT8) == linear + 2 * rest
    assert 36e9 < llama.weight_bytes(Precision.INT4) < 40e9


@pytest.mark.parametrize("model", catalog(), ids=lambda m: m.id)
def test_fewer_bits_need_less_and_fitting_agrees(model: CatalogModel) -> None:
    needs = [model.memory_bytes(p) for p in Precision]
    assert needs == sorted(needs, reverse=True)
    for precision in Precision:
        need = model.memory_bytes(precision)
        assert model.fits(need, precision)
        assert not model.fits(need - 1, precision)
    assert model.widest_fit(needs[1], gpu=True) is Precision.BFLOAT16
    assert model.widest_fit(needs[1] - 1, gpu=True) is Precision.INT8
    assert model.widest_fit(needs[3] - 1, gpu=True) is None
    assert model.widest_fit(needs[0], gpu=False) is Precision.FLOAT32
    assert model.widest_fit(needs[1] - 1, gpu=False) is None


def test_what_fits_a_24_gb_gpu() -> None:
    fit = {model.id: model.widest_fit(24 * 10**9, gpu=True) for model in catalog()}
    assert fit["Qwen/Qwen3-8B"] is Precision.BFLOAT16
    assert fit["Qwen/Qwen3-14B"] is Precision.INT8
    assert fit["Qwen/Qwen3-32B"] is Precision.INT4
    assert fit["meta-llama/Llama-3.3-70B-Instruct"] is None


def test_a_model_fits_now_or_only_once_others_are_gone() -> None:
    model = MODELS["Qwen/Qwen3-8B"]
    need = model.memory_bytes(Precision.BFLOAT16)
    fits = {
        (memory, free): model.fit(Machine((), memory, free), Precision.BFLOAT16)
        for memory, free in [(need, need), (need, need - 1), (need - 1, need - 1)]
    }
    assert list(fits.values()) == [Fit.FITS, Fit.TIGHT, Fit.NO]
    assert model.fit(Machine((), need - 1, need - 1), Precision.INT8) is Fit.FITS

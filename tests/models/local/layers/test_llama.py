"""The step of a Llama against transformers' own, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from tests.models import tiny
from xtc_viz.models.local.layers.linear import use_few_rows_linear
from xtc_viz.models.local.layers.llama import LlamaStep, is_plain_llama
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps.forward import forward

ROPE = {
    "default": {"rope_type": "default", "rope_theta": 1e4},
    "llama3": {
        "rope_type": "llama3",
        "rope_theta": 1e4,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    },
    "dynamic": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
}


def llama(**values: Any) -> Any:
    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=50, bos_token_id=None, eos_token_id=None, **tiny.SIZES | values)
    model = LlamaForCausalLM(config).eval()
    use_few_rows_linear(model)
    return model


@settings(max_examples=30)
@given(
    gaps=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    kv_heads=st.sampled_from([1, 2, 4]),
    bias=st.booleans(),
    rope=st.sampled_from(sorted(ROPE)),
)
def test_equals_transformers(
    gaps: list[int], dtype: torch.dtype, kv_heads: int, bias: bool, rope: str
) -> None:
    """Rows with gaps at their left, several steps after one prefill."""
    model = llama(num_key_value_heads=kv_heads, attention_bias=bias, rope_parameters=ROPE[rope])
    model.to(dtype)
    assert is_plain_llama(model)
    step = LlamaStep(model)
    padding = torch.tensor(gaps).unsqueeze(1)
    ours, theirs = DynamicCache(config=model.config), DynamicCache(config=model.config)
    prompt = torch.randint(0, 50, (len(gaps), 6))

    def given_to(columns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        positions = (columns - padding).clamp(0) if any(gaps) else columns
        return positions, columns < padding if any(gaps) else None

    with torch.inference_mode():
        columns = torch.arange(6).unsqueeze(0)
        positions, hidden = given_to(columns)
        mask = None if hidden is None else (~hidden).long()
        for cache in (ours, theirs):
            forward(model, prompt, mask, positions, cache)
        for column in range(6, 10):
            ids = torch.randint(0, 50, (len(gaps), 1))
            positions, hidden = given_to(torch.arange(column + 1).unsqueeze(0))
            mask = None if hidden is None else (~hidden).long()
            expected = forward(model, ids, mask, positions[:, column:], theirs)
            got = step(ids[:, 0], hidden, positions[:, column], ours)
            assert torch.equal(got, expected)
            assert ours.get_seq_length() == column + 1


@pytest.mark.parametrize("architecture", tiny.CONFIGS)
def test_only_a_llama_is_one(architecture: str, load: Callable[[str], LocalModel]) -> None:
    assert is_plain_llama(load(architecture).model) == (architecture == "llama")


def test_a_model_that_is_run_in_another_way_is_none() -> None:
    model = llama()
    model.set_attn_implementation("eager")
    assert not is_plain_llama(model)
    assert not is_plain_llama(llama().to("meta"))
    model = llama()
    model.model.layers[1].mlp._hf_hook = object()  # as accelerate leaves them
    assert not is_plain_llama(model)

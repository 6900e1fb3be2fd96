"""The processor in transformers' `generate`, beside what the model's own generation config says."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
)

from xtc_viz import XTCLogitsProcessor, XTCSettings

NEUTRAL: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0}
"""What the README says beside processors of one's own."""


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, bos_token_id=None, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    model: Any = LlamaForCausalLM(config).eval()
    model.lm_head.weight.data *= 20  # random weights are nearly uniform
    model.generation_config.update(do_sample=True, temperature=0.25, top_k=5, top_p=0.8)
    return model


def processors() -> LogitsProcessorList:
    xtc = XTCLogitsProcessor(XTCSettings(rho=1.0, tau=0.06), torch.Generator().manual_seed(1))
    return LogitsProcessorList([TemperatureLogitsWarper(1.5), TopKLogitsWarper(20), xtc])


def by_hand(logits: torch.Tensor) -> torch.Tensor:
    each: Any = processors()
    scores: torch.Tensor = each(torch.tensor([[1, 2, 3]]), logits)
    return scores


def scores(model: Any, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """What the first token was drawn from, and the model's logits before that."""
    ids = torch.tensor([[1, 2, 3]])
    torch.manual_seed(3)
    output = model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=1, output_scores=True,
        output_logits=True, return_dict_in_generate=True, logits_processor=processors(), **options,
    )  # fmt: skip
    return output.scores[0], output.logits[0]


def test_with_neutral_settings_the_own_processors_are_the_whole_list(model: Any) -> None:
    drawn_from, logits = scores(model, **NEUTRAL)
    expected = by_hand(logits)
    assert torch.equal(drawn_from, expected)
    assert 1 < int(expected.isfinite().sum()) < 20


def test_without_them_the_models_own_settings_come_on_top(model: Any) -> None:
    """Why the README asks for them: temperature, top-k and top-p of the model's generation config
    act on what XTC left."""
    drawn_from, logits = scores(model)
    expected = by_hand(logits)
    assert int(drawn_from.isfinite().sum()) <= 5 < int(expected.isfinite().sum())
    top = int(expected.argmax())
    assert float(drawn_from[0, top]) == pytest.approx(4.0 * float(expected[0, top]))

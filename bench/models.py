"""The models that the decoders are measured on: the embedded one, and random ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.local.layers.linear import use_few_rows_linear
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps.graph import graphs_for
from xtc_viz.records.modelinfo import ModelInfo, Placement

LOGIT_SPREAD = 5.0
"""Standard deviation of the random model's logits: heads as peaked as a trained model's."""


def story_model() -> LocalModel:
    """Return the embedded model as the app loads it; its texts end only at their length."""
    model = LocalModel.load(str(STORY_MODEL))
    return LocalModel(model.model, model.tokenizer, replace(model.info, eos_ids=()))


def plain_story_model() -> PreTrainedModel:
    """Return the embedded model as transformers loads it, in float32."""
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(STORY_MODEL, dtype=torch.float32)
    return model.eval()  # type: ignore[no-untyped-call,no-any-return]


def random_135m(dtype: torch.dtype) -> LocalModel:
    """Return `plain_random_135m` as the app would load it, in `dtype`."""
    model = plain_random_135m().to(dtype)  # type: ignore[arg-type]
    use_few_rows_linear(model)
    return as_local(model, "random 135M")


def plain_random_135m() -> PreTrainedModel:
    """Return a Llama of SmolLM2-135M's shape with random weights and as peaked as a real one."""
    config = LlamaConfig(
        vocab_size=49_152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
        num_attention_heads=9, num_key_value_heads=3, max_position_embeddings=2048,
        tie_word_embeddings=True, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    return plain_random(config, torch.device("cpu"), torch.float32)


def plain_random(
    config: PreTrainedConfig, device: torch.device, dtype: torch.dtype
) -> PreTrainedModel:
    """Return a model with random weights, made on `device`, as peaked as a real one."""
    torch.manual_seed(0)
    with device:
        made: Any = AutoModelForCausalLM.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]
    model: PreTrainedModel = made.eval()
    with torch.inference_mode():
        ids = torch.arange(100, 164, device=device)[None]
        spread = model(ids).logits[0].float().std(dim=-1).mean()
    with torch.no_grad():
        model.get_parameter("model.norm.weight").mul_(LOGIT_SPREAD / spread)
    return model


def dtype_of(model: PreTrainedModel) -> str:
    """Return the name of a model's dtype, such as `bfloat16`."""
    return str(model.dtype).removeprefix("torch.")


def as_local(model: PreTrainedModel, name: str) -> LocalModel:
    """Return a model as the app would use it, with a tokenizer that has a word for every id."""
    info = ModelInfo(
        name=name, revision="", parameters=model.num_parameters(),
        placement=Placement(dtype_of(model), str(model.device)),
        vocab_size=model.config.vocab_size,
        context_length=model.config.max_position_embeddings, eos_ids=(), newline_ids=(),
        has_chat_template=False,
    )  # fmt: skip
    tokenizer = _byte_level_tokenizer(model.config.vocab_size)
    return LocalModel(model, tokenizer, info, graphs_for(model))


def _byte_level_tokenizer(size: int) -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer with a word for every id, as many as the model has."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*alphabet, *(f"Ġw{i}" for i in range(size - len(alphabet)))]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)  # type: ignore[no-untyped-call]

"""A decode step of a Llama on the CPU, without what transformers does around it.

Beside its matrices a step of a small model is some hundred operations of a few microseconds each,
and checking arguments, making masks and calling modules takes as long as these. Here are the same
operations on the same weights in the same order, so the logits are the same to the last bit.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import embedding, scaled_dot_product_attention
from transformers import LlamaForCausalLM


def is_plain_llama(model: Any) -> bool:
    """Whether `LlamaStep` does what this model does: exactly this class, on the CPU, by SDPA."""
    return (
        # Exactly this class: others have their own norms, windows or biases.
        type(model) is LlamaForCausalLM
        and model.device.type == "cpu"
        and model.config._attn_implementation == "sdpa"
        # accelerate moves weights about before a module is called.
        and not any(hasattr(module, "_hf_hook") for module in model.modules())
    )


class LlamaStep:
    """Appends one token to each row of a cache."""

    def __init__(self, model: Any) -> None:
        """`model` must be one for which `is_plain_llama` holds."""
        self._model = model
        self._width = model.model.layers[0].self_attn.head_dim
        self._shared = model.model.layers[0].self_attn.num_key_value_groups

    def __call__(
        self, ids: torch.Tensor, hidden: torch.Tensor | None, positions: torch.Tensor, cache: Any
    ) -> torch.Tensor:
        """Return the next logits, (rows, vocab).

        Args:
            ids: (rows,) int64, a token for each row.
            hidden: (rows, columns) bool, the columns that a row must not see, the new one included.
            positions: (rows,) or (1,) int64, where the tokens stand in their texts.
            cache: what transformers' own step would be given; grows by a column.
        """
        model = self._model.model
        states = embedding(ids, model.embed_tokens.weight)
        cos, sin = model.rotary_emb(states, positions.unsqueeze(-1))
        half = sin.shape[-1] // 2
        sin = torch.cat((-sin[..., :half], sin[..., half:]), dim=-1)
        mask = None
        if hidden is not None:
            mask = torch.zeros(hidden.shape, dtype=states.dtype).masked_fill_(hidden, -torch.inf)
            mask = mask[:, None, None]
        for layer, columns in zip(model.layers, cache.layers, strict=True):
            attention = layer.self_attn
            inputs = _norm(layer.input_layernorm, states)
            queries, keys, values = (
                project(inputs).view(len(ids), -1, self._width)
                for project in (attention.q_proj, attention.k_proj, attention.v_proj)
            )
            keys, values = columns.update(_turn(keys, cos, sin).unsqueeze(2), values.unsqueeze(2))
            queries = _turn(queries, cos, sin).unsqueeze(2)
            context = self._attend(queries, keys, values, mask, attention.scaling)
            states = states + attention.o_proj(context.reshape(len(ids), -1))
            states = states + layer.mlp(_norm(layer.post_attention_layernorm, states))
        logits: torch.Tensor = self._model.lm_head(_norm(model.norm, states))
        return logits

    def _attend(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
        scale: float,
    ) -> torch.Tensor:
        """Return (rows, heads, 1, width); several heads share keys and values as transformers' do.

        It gives those heads to the kernel as so many queries where there is a mask.
        """
        rows, heads = queries.shape[:2]
        together = mask is not None and self._shared > 1
        if together:
            queries = queries.view(rows, heads // self._shared, self._shared, self._width)
        return scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=mask,
            scale=scale,
            enable_gqa=self._shared > 1 and not together,
        )


def _norm(norm: Any, states: torch.Tensor) -> torch.Tensor:
    """Root mean square norm, in float32."""
    wide = states.float()
    root = wide.square().mean(-1, keepdim=True).add_(norm.variance_epsilon).rsqrt_()
    normed: torch.Tensor = norm.weight * (wide * root).to(states.dtype)
    return normed


def _turn(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of (rows, heads, width), the minus of its first half in `sin`."""
    return heads * cos + heads.roll(heads.shape[-1] // 2, -1) * sin

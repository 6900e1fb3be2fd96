"""A key-value cache that grows in place once it is long.

transformers' dynamic cache copies all keys and values at every step. While they are few that is
the quickest way: attention then finds them in the processor's cache. At 3,000 tokens it costs a
135M model 13 % of a step, so from `SHORT` on a layer writes into a buffer that doubles when full.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

SHORT = 512


class GrowingLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """Keys and values (lanes, heads, tokens, width) as views of a larger buffer."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._buffers: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        length = self.get_seq_length()
        end = length + key_states.shape[-2]
        if end <= SHORT:
            self._buffers = None
            return super().update(key_states, value_states)
        buffers = self._buffers
        if buffers is None or end > buffers[0].shape[-2]:
            buffers = self._buffers = (
                self._grown(self.keys, key_states, length, end),
                self._grown(self.values, value_states, length, end),
            )
        for buffer, states in zip(buffers, (key_states, value_states), strict=True):
            buffer.narrow(-2, length, end - length).copy_(states)
        self.keys = buffers[0].narrow(-2, 0, end)
        self.values = buffers[1].narrow(-2, 0, end)
        return self.keys, self.values

    def batch_repeat_interleave(self, repeats: int) -> None:
        super().batch_repeat_interleave(repeats)
        self._buffers = None

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        super().batch_select_indices(indices)
        self._buffers = None

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        super().reorder_cache(beam_idx)
        self._buffers = None

    def reset(self) -> None:
        super().reset()
        self._buffers = None

    @staticmethod
    def _grown(
        old: torch.Tensor | None, states: torch.Tensor, length: int, end: int
    ) -> torch.Tensor:
        room = 2 * end
        buffer = states.new_empty((*states.shape[:-2], room, states.shape[-1]))
        if old is not None and length:
            buffer.narrow(-2, 0, length).copy_(old)
        return buffer


def new_cache(config: Any) -> DynamicCache:
    """Return an empty cache for a model of this config; layers of other kinds stay as they are."""
    cache = DynamicCache(config=config)
    # Exactly this class: sliding windows, linear attention and others keep their own layers.
    cache.layers = [GrowingLayer() if type(x) is DynamicLayer else x for x in cache.layers]
    return cache

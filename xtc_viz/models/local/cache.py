"""A key-value cache that grows in place, and whose rows can be others from now on.

transformers' dynamic cache copies all keys and values at every step: at 3,000 tokens that costs a
135M model 13 % of a step, at 100 a tenth of one of the story model. Here a layer writes into a
buffer that doubles when it is full.

Rows of different lengths end in the same column. A row's own columns are its last ones; what stands
before them is hidden by a mask, and need only be finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import CacheLayerMixin, DynamicLayer, DynamicSlidingWindowLayer

Pair = tuple[torch.Tensor, torch.Tensor]
"""Keys and values."""


class GrowingLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """Keys and values (rows, heads, columns, width) as views of a larger buffer."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._buffers: Pair | None = None
        self._begin = 0  # the buffers' column in which the cache begins

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> Pair:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        length = self.get_seq_length()
        end = length + key_states.shape[-2]
        buffers = self._buffers
        if buffers is None or self._begin + end > buffers[0].shape[-2]:
            # An empty layer holds tensors of another shape.
            keys, values = self._held() if length else (key_states, value_states)
            buffers = self._move(keys, values, length, room=2 * end)
        for buffer, states in zip(buffers, (key_states, value_states), strict=True):
            buffer.narrow(-2, self._begin + length, end - length).copy_(states)
        return self._show(buffers, end)

    def replace(self, places: torch.Tensor, other: CacheLayerMixin, length: int) -> None:
        """Let the rows of `other` stand in `places`, and all rows in `length` columns.

        Columns come or go at the left, which moves nothing where the buffer has them.
        """
        former = self.get_seq_length()
        buffers = self._buffers
        if buffers is None or self._begin + former < length:
            buffers = self._move(*self._held(), length, room=2 * length)
        else:
            self._begin += former - length
        self._show(buffers, length)
        _put(self, places, other)

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

    def _held(self) -> Pair:
        assert self.keys is not None
        assert self.values is not None
        return self.keys, self.values

    def _move(self, keys: torch.Tensor, values: torch.Tensor, length: int, room: int) -> Pair:
        """Make new buffers with room for `room` columns, of which these are the first `length`."""
        self._buffers = _aligned(keys, length, room), _aligned(values, length, room)
        self._begin = 0
        return self._buffers

    def _show(self, buffers: Pair, length: int) -> Pair:
        """Let the cache be `length` columns of the buffers."""
        self.keys = buffers[0].narrow(-2, self._begin, length)
        self.values = buffers[1].narrow(-2, self._begin, length)
        return self.keys, self.values


def new_cache(config: Any) -> DynamicCache:
    """Return an empty cache for a model of this config; layers of other kinds stay as they are."""
    cache = DynamicCache(config=config)
    # Exactly this class: sliding windows, linear attention and others keep their own layers.
    cache.layers = [GrowingLayer() if type(x) is DynamicLayer else x for x in cache.layers]
    return cache


def is_columns(config: Any) -> bool:
    """Whether a cache for this config is columns of keys and values, one a token, and no more.

    Then rows can be others (`replace_rows`) and columns lie in fixed buffers (`fixed`). It is more
    where layers keep a state that sums up all tokens, or forget them in chunks.
    """
    config = config.get_text_config(decoder=True)
    kinds = {type(layer) for layer in new_cache(config).layers}
    return (
        kinds <= {GrowingLayer, DynamicSlidingWindowLayer}
        and "chunked_attention" not in (getattr(config, "layer_types", None) or ())
        and getattr(config, "attention_chunk_size", None) is None
    )


def replace_rows(cache: Any, places: Sequence[int], other: Any, length: int) -> None:
    """Let the rows of the cache `other` stand in `places` of `cache`, for which `is_columns` holds.

    After that the cache has `length` columns: as many as its longest row has tokens, or more.
    """
    device = cache.layers[0].keys.device
    indices = torch.tensor(places).to(device, non_blocking=True)
    for layer, newcomer in zip(cache.layers, other.layers, strict=True):
        if isinstance(layer, GrowingLayer):
            layer.replace(indices, newcomer, length)
            continue
        # A sliding window holds the last columns only.
        columns = min(length, layer.sliding_window - 1)
        layer.keys = _aligned(layer.keys, columns, columns)
        layer.values = _aligned(layer.values, columns, columns)
        layer.cumulative_length = length
        _put(layer, indices, newcomer)


def keep_rows(cache: Any, places: Sequence[int]) -> None:
    """Leave only the rows in `places`, in this order; all kinds of layers can do that."""
    cache.reorder_cache(torch.tensor(places))


def _aligned(states: torch.Tensor, length: int, room: int) -> torch.Tensor:
    """Return a buffer of `room` columns; those of `states` end at column `length`.

    At the left they are cut off, or zeros come before them.
    """
    buffer = states.new_empty((*states.shape[:-2], room, states.shape[-1]))
    columns = min(length, states.shape[-2])
    # What a mask hides is still multiplied by zero, so it must not be NaN.
    buffer.narrow(-2, 0, length - columns).zero_()
    buffer.narrow(-2, length - columns, columns).copy_(
        states.narrow(-2, states.shape[-2] - columns, columns)
    )
    return buffer


def _put(layer: CacheLayerMixin, places: torch.Tensor, other: CacheLayerMixin) -> None:
    """Copy the rows of `other` to the right end of the rows `places` of `layer`."""
    for mine, theirs in ((layer.keys, other.keys), (layer.values, other.values)):
        assert mine is not None
        assert theirs is not None
        columns = theirs.shape[-2]
        mine.narrow(-2, mine.shape[-2] - columns, columns).index_copy_(0, places, theirs)

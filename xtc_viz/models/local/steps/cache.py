"""A key-value cache that grows in place, and whose rows can be others from now on.

transformers' dynamic cache copies all keys and values at every step: at 3,000 tokens that costs a
135M model 13 % of a step, at 100 a tenth of one of the story model. Here a layer writes into a
buffer that doubles when it is full.

Rows of different lengths end in the same column. A row's own columns are its last ones; what stands
before them is hidden by a mask, and need only be finite.

Layers that sum up all tokens in a state (state-space models, linear attention, convolutions) have
no columns: a row's state is the same whatever stands beside it, and cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache as memoized
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import (
    CacheLayerMixin,
    DummyLayer,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionAndFullAttentionLayer,
    LinearAttentionAndSlidingWindowAttentionLayer,
    LinearAttentionCacheLayerMixin,
    LinearAttentionLayer,
)

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
            keys, values = _held(self) if length else (key_states, value_states)
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
            buffers = self._move(*_held(self), length, room=2 * length)
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

    Then columns lie in fixed buffers (`fixed`). It is more where layers keep a state that sums up
    all tokens, or forget them in chunks.
    """
    return _kinds(config) <= _COLUMNS and not _in_chunks(config)


def takes_rows(config: Any) -> bool:
    """Whether the rows of a cache for this config can be others (`replace_rows`)."""
    return _kinds(config) <= _COLUMNS | _STATES and not _in_chunks(config)


def has_states(config: Any) -> bool:
    """Whether layers of a cache for this config keep a state that sums up all tokens.

    A gap before a prompt would become part of it.
    """
    return any(issubclass(kind, LinearAttentionCacheLayerMixin) for kind in _kinds(config))


def has_columns(config: Any) -> bool:
    """Whether any layer of a cache for this config has columns."""
    return any(issubclass(kind, CacheLayerMixin) for kind in _kinds(config))


# Exactly these classes: others keep more, which nothing here would move.
_COLUMNS = frozenset({GrowingLayer, DynamicSlidingWindowLayer})
_STATES = frozenset(
    {
        LinearAttentionLayer,
        LinearAttentionAndFullAttentionLayer,
        LinearAttentionAndSlidingWindowAttentionLayer,
        DummyLayer,
    }
)


def _kinds(config: Any) -> set[type]:
    return {type(layer) for layer in new_cache(config).layers}


def _in_chunks(config: Any) -> bool:
    config = config.get_text_config(decoder=True)
    layers = getattr(config, "layer_types", None) or ()
    return (
        "chunked_attention" in layers or getattr(config, "attention_chunk_size", None) is not None
    )


def replace_rows(cache: Any, places: Sequence[int], other: Any, length: int) -> None:
    """Let the rows of the cache `other` stand in `places` of `cache`, for which `takes_rows` holds.

    After that the cache has `length` columns: as many as its longest row has tokens, or more.
    """
    # One copy for each device of a model; none makes this thread wait for a GPU.
    on = memoized(lambda device: torch.tensor(places).to(device, non_blocking=True))
    for layer, newcomer in zip(cache.layers, other.layers, strict=True):
        if isinstance(layer, LinearAttentionCacheLayerMixin):
            for mine, theirs in zip(_states(layer), _states(newcomer), strict=True):
                mine.index_copy_(0, on(mine.device), theirs)
        if isinstance(layer, GrowingLayer):
            layer.replace(on(newcomer.device), newcomer, length)
        elif isinstance(layer, DynamicLayer) and layer.is_initialized:
            columns = length
            if isinstance(layer, DynamicSlidingWindowLayer):
                # It holds the last columns only.
                columns = min(length, layer.sliding_window - 1)
                layer.cumulative_length = length
            keys, values = _held(layer)
            layer.keys = _aligned(keys, columns, columns)
            layer.values = _aligned(values, columns, columns)
            _put(layer, on(newcomer.device), newcomer)


def keep_rows(cache: Any, places: Sequence[int]) -> None:
    """Leave only the rows in `places`, in this order; all kinds of layers can do that."""
    indices = torch.tensor(places)
    for layer in cache.layers:
        if isinstance(layer, LinearAttentionCacheLayerMixin) and layer.device is None:
            # transformers leaves it out where a layer has no convolution.
            state: Any = layer
            state.device = next((held.device for held in _states(layer)), None)
        layer.reorder_cache(indices)


def _states(layer: Any) -> list[torch.Tensor]:
    """Return the states (rows, ...) that a layer holds; of some kinds it may hold none."""
    states = [*layer.conv_states.values(), *layer.recurrent_states.values()]
    return [state for state in states if state is not None]


def _held(layer: CacheLayerMixin) -> Pair:
    assert layer.keys is not None
    assert layer.values is not None
    return layer.keys, layer.values


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
    for mine, theirs in zip(_held(layer), _held(other), strict=True):
        columns = theirs.shape[-2]
        mine.narrow(-2, mine.shape[-2] - columns, columns).index_copy_(0, places, theirs)

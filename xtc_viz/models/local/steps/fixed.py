"""A decode step over memory that stays where it is, so that it can be recorded (`graph`).

The prompt is prefilled as everywhere else; then its keys and values move into buffers with room
for `ROOM` more tokens. A step reads the tokens and the position from buffers too and moves the
position on, all on the device, hence every step until the room is used up is the same sequence
of kernels. When it is used up, the buffers grow and the step is recorded anew.

A layer with a sliding window keeps all columns here, and its mask hides what has left the window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from transformers.cache_utils import CacheLayerMixin, StaticLayer

from xtc_viz.models.local.steps.cache import is_columns, new_cache
from xtc_viz.models.local.steps.forward import forward

ROOM = 512
ALIGNED = 64  # columns; attention kernels are quickest on whole blocks

Step = Callable[[], torch.Tensor]
"""A step over fixed buffers that returns its logits, (lanes, vocab)."""


class Graphs(Protocol):
    """Records steps of one model. Lives as long as the model does."""

    @property
    def usable(self) -> bool:
        """Whether steps can be recorded; false for good after one that could not."""

    def warm_up(self, step: Step) -> torch.Tensor:
        """Run `step` once as it is, so that whatever a first call sets up is there."""

    def capture(self, step: Step) -> Step | None:
        """Record `step` without running it and return what replays it, or None: not possible."""


def can_be_fixed(model: Any) -> bool:
    """Whether a step of this model needs nothing beyond fixed buffers.

    It needs more where the cache is more than columns of keys and values, where the attention
    implementation or the rotary embedding looks at lengths, where weights are quantized (their
    kernels may wait for the device), and where accelerate moves weights about.
    """
    config = model.config.get_text_config(decoder=True)
    return (
        is_columns(config)
        and config._attn_implementation in ("sdpa", "eager")
        and bool(getattr(model, "_can_compile_fullgraph", False))
        and "dynamic" not in _rope_types(getattr(config, "rope_parameters", None))
        and getattr(model, "hf_quantizer", None) is None
        and not any(hasattr(module, "_hf_hook") for module in model.modules())
    )


def _rope_types(parameters: Any) -> set[str]:
    """Return the kinds of rotary embedding, of which a config may have one for each layer type."""
    if not isinstance(parameters, dict):
        return set()
    if "rope_type" in parameters:
        return {str(parameters["rope_type"])}
    return {kind for value in parameters.values() for kind in _rope_types(value)}


class FixedLayer(StaticLayer):  # type: ignore[no-untyped-call]
    """Keys and values (lanes, heads, capacity, width); a step writes the column `position`.

    As transformers' own, but all layers go by one position, which the step itself moves on.
    """

    def __init__(
        self, layer: CacheLayerMixin, length: int, capacity: int, position: torch.Tensor
    ) -> None:
        """Take over what `layer` holds of the first `length` columns.

        `position`, (1,) int64, says on the device where the next column goes.
        """
        super().__init__(max_cache_len=capacity)
        assert layer.keys is not None
        assert layer.values is not None
        self.keys = _moved(layer.keys, length, capacity)
        self.values = _moved(layer.values, length, capacity)
        self._position = position
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        assert self.keys is not None
        assert self.values is not None
        self.keys.index_copy_(2, self._position, key_states)
        self.values.index_copy_(2, self._position, value_states)
        return self.keys, self.values

    def get_seq_length(self) -> Any:
        # A tensor, so that the mask is computed from what the buffer holds at each replay.
        return self._position[0]


def _moved(old: torch.Tensor, length: int, capacity: int) -> torch.Tensor:
    """Return a buffer of `capacity` columns in which those of `old` end at `length`."""
    # What a mask hides is still multiplied by zero, so it must not be NaN.
    buffer = old.new_zeros((*old.shape[:2], capacity, old.shape[3]))
    # A sliding window holds the last columns only.
    buffer.narrow(2, length - old.shape[2], old.shape[2]).copy_(old)
    return buffer


class FixedStep:
    """The steps of one decode over fixed buffers, recorded by `graphs` as soon as possible."""

    def __init__(
        self,
        model: Any,
        cache: Any,
        gaps: Sequence[int],
        length: int,
        context_length: int,
        graphs: Graphs,
    ) -> None:
        """Go on from a transformers `cache` of `length` columns, whose layers are replaced.

        `gaps` says how many of the columns are padding at the left of each lane.
        """
        self._model, self._cache, self._graphs = model, cache, graphs
        self._length = length
        self._last_position = context_length - 1
        device = cache.layers[0].keys.device
        self._ids = torch.zeros(len(gaps), 1, dtype=torch.int64, device=device)
        self._gaps = torch.tensor(gaps).unsqueeze(1).to(device)
        self._position = torch.full((1,), length, device=device)
        self._warm = False
        self._replay: Step | None = None
        self._grow()

    def __call__(self, token_ids: Sequence[int]) -> torch.Tensor:
        """Append a token to each lane and return the next logits (lanes, vocab)."""
        if self._length == self._capacity:
            self._grow()
        # From pageable memory a copy may be left to itself: it is staged before the call returns.
        self._ids.copy_(torch.tensor(token_ids).unsqueeze(1), non_blocking=True)
        self._length += 1
        if self._replay is None and self._warm:
            self._replay = self._graphs.capture(self._step)
        if self._replay is not None:
            # The next replay writes into the same memory.
            return self._replay().clone()
        self._warm = True
        return self._graphs.warm_up(self._step)

    def released(self) -> Any:
        """Return the cache as transformers has it, to go on without fixed buffers."""
        cache: Any = new_cache(self._model.config)
        for layer, own in zip(cache.layers, self._cache.layers, strict=True):
            # Given to an empty layer, as a prefill does: a sliding window keeps what it needs.
            layer.update(own.keys[:, :, : self._length], own.values[:, :, : self._length])
        return cache

    def _step(self) -> torch.Tensor:
        """What is recorded: one forward, and the position moved on."""
        # A lane whose context is full rides along at the last position.
        positions = (self._position - self._gaps).clamp(0, self._last_position)
        logits = forward(self._model, self._ids, self._mask, positions, self._cache)
        self._position += 1
        return logits

    def _grow(self) -> None:
        # A recorded step holds the old memory.
        self._replay = None
        self._warm = False
        self._capacity = -(-(self._length + ROOM) // ALIGNED) * ALIGNED
        layers = self._cache.layers
        for number, layer in enumerate(layers):
            # One after the other, so that at most one layer is there twice.
            layers[number] = FixedLayer(layer, self._length, self._capacity, self._position)
        # Without padding too: some models look for it themselves where they get no mask.
        self._mask = torch.arange(self._capacity, device=self._gaps.device) >= self._gaps

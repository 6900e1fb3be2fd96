"""XTC for vLLM's V1 model runner: after temperature and min-p, before its top-k and top-p."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor, MoveDirectionality

from xtc_viz.plugins.vllm.parameters import asked
from xtc_viz.plugins.vllm.slots import Slots

if TYPE_CHECKING:
    import torch
    from vllm import SamplingParams


class XTC(LogitsProcessor):
    """Chosen by `--logits-processors xtc_viz.plugins.vllm.v1:XTC`."""

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse wrong arguments, with HTTP 400."""
        asked(sampling_params)

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._slots = Slots(device)
        # The tokens that a request has written, a list that vLLM itself keeps in step.
        self._written: dict[int, Sequence[int]] = {}

    def is_argmax_invariant(self) -> bool:
        """Say yes, which is what places this behind the temperature.

        At temperature 0 vLLM takes the most probable token and skips it; such requests are refused.
        """
        return True

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._slots.free(index)
            self._written.pop(index, None)
        for index, params, _, written in batch_update.added:
            self._slots.put(index, asked(params))
            self._written[index] = written
        for source, target, direction in batch_update.moved:
            swap = direction is MoveDirectionality.SWAP
            self._slots.move(source, target, swap=swap)
            moved, displaced = self._written.pop(source, ()), self._written.pop(target, ())
            self._written[target] = moved
            if swap:
                self._written[source] = displaced

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        if not len(self._slots):
            return logits
        rows = range(logits.shape[0])
        return self._slots.apply(logits, rows, (len(self._written.get(row, ())) for row in rows))

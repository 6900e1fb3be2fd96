"""XTC for vLLM's V2 model runner: after penalties, before temperature, min-p, top-k and top-p.

So τ is held against the softmax of the logits divided by the request's temperature, as on the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vllm.v1.worker.gpu.sample.logits_processor import (
    LogitsContext,
    LogitsProcessor,
    LogitsProcRequestState,
)

from xtc_viz.plugins.vllm.parameters import asked
from xtc_viz.plugins.vllm.slots import Slots

if TYPE_CHECKING:
    import torch
    from vllm import SamplingParams


class XTC(LogitsProcessor):
    """Chosen by `--logits-processors xtc_viz.plugins.vllm.v2:XTC`."""

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse wrong arguments, with HTTP 400."""
        asked(sampling_params)

    def __init__(self, vllm_config: Any, req_states: LogitsProcRequestState) -> None:
        if vllm_config.speculative_config is not None:
            raise ValueError("XTC decides one token at a time: switch speculative decoding off.")
        self._states = req_states
        self._slots = Slots(req_states.device)
        self._temperatures: dict[int, float] = {}

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        self._temperatures[req_idx] = sampling_params.temperature or 1.0
        return self._slots.put(req_idx, asked(sampling_params))

    def apply(self, logits: torch.Tensor, ctx: LogitsContext) -> torch.Tensor:
        slots = ctx.idx_mapping_np.tolist()
        if not len(self._slots):
            return logits
        # Tokens that the one to be drawn can see, less those of the prompt; during a prefill in
        # parts there are fewer, and what is drawn then is not used.
        written = ctx.seq_lens_upper_bound_np - self._states.prompt_len.np[ctx.idx_mapping_np]
        degrees = [self._temperatures.get(slot, 1.0) for slot in slots]
        temperature = None if {*degrees} == {1.0} else self._slots.tensor(degrees)
        return self._slots.apply(logits, slots, written.tolist(), temperature)

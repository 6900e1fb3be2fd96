"""XTC for transformers' `generate(custom_generate=...)`; `docs/plugins.md` says how to call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from xtc_viz.knobs import KNOBS
from xtc_viz.runs.protection import protected_tokens
from xtc_viz.sampling.operator import XTCLogitsProcessor
from xtc_viz.settings import XTCSettings


def generate(
    model: Any,
    *arguments: Any,
    xtc_probability: float = KNOBS["rho"].default,
    xtc_threshold: float = KNOBS["tau"].default,
    xtc_seed: int | None = None,
    xtc_protected: Sequence[int] | None = None,
    **others: Any,
) -> Any:
    """Do what `model.generate` does with the other arguments, with XTC behind all its cutoffs.

    Temperature, top-k, top-p and min-p, whether they are named here or in a generation config, act
    in front of XTC, and not a second time. It samples, as XTC means nothing to beams and greedy
    search. `xtc_seed` fixes the coins (torch's own numbers draw the tokens). `xtc_protected` are
    ids that XTC must never silence; without them the ends of a text and, where a `tokenizer` is
    given, the newlines.

    Raises:
        SettingsError: ρ or τ lies outside its bounds.
        ValueError: `do_sample=False`, or beams.
    """
    config = others.get("generation_config") or model.generation_config
    stack = {
        name: others.pop(name, getattr(config, name, None)) for name in _WARPERS
    }  # what is asked for in words goes before what a config says
    beams = others.get("num_beams", getattr(config, "num_beams", None))
    if others.pop("do_sample", True) is False or (beams or 1) > 1:
        raise ValueError("XTC samples: `do_sample` must be true, and `num_beams` 1.")
    if xtc_protected is None:
        xtc_protected = tuple(_ends(model, config, others.get("tokenizer")))
    settings = XTCSettings(xtc_probability, xtc_threshold, protected=frozenset(xtc_protected))
    dice = None if xtc_seed is None else torch.Generator().manual_seed(xtc_seed)
    before = [
        make(stack[name])
        for name, (make, off) in _WARPERS.items()
        if stack[name] is not None and stack[name] != off
    ]
    given = others.pop("logits_processor", None) or []
    processors = LogitsProcessorList([*given, *before, XTCLogitsProcessor(settings, dice)])
    return model.generate(
        *arguments,
        **others,
        logits_processor=processors,
        do_sample=True,
        **{name: off for name, (_, off) in _WARPERS.items()},
    )


_WARPERS: dict[str, tuple[Any, float | int | None]] = {
    "temperature": (TemperatureLogitsWarper, 1.0),
    "top_k": (TopKLogitsWarper, 0),
    "top_p": (TopPLogitsWarper, 1.0),
    "min_p": (MinPLogitsWarper, None),
}
"""What acts in front of XTC, in transformers' own order, and the value at which it is off."""


def _ends(model: Any, config: Any, tokenizer: Any) -> Sequence[int]:
    if tokenizer is not None:
        return tuple(protected_tokens(tokenizer, model))
    ends = config.eos_token_id
    return () if ends is None else (ends,) if isinstance(ends, int) else tuple(ends)

"""vLLM with the plug-in of this project: a request, whose `vllm_xargs` are for the plug-in.

Names, defaults and bounds in `plugins.vllm.parameters`; those of vLLM itself in
vllm/sampling_params.py, read in November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from xtc_viz.engines.forms.base import RHO, TAU, Field, Form, Raw, Syntax

_ARGUMENTS = ("vllm_xargs", "extra_args")
_PREFIX = "xtc_"


def _flat(raw: Raw) -> Raw:
    """Lay the plug-in's arguments beside the others; XTC is off where there are none, and outside
    of `vllm_xargs` they are no names there."""
    inner: Raw = {}
    for name in _ARGUMENTS:
        if isinstance(raw.get(name), Mapping):
            inner |= {str(key): value for key, value in raw[name].items()}
    if not any(name.startswith(_PREFIX) for name in inner):
        inner["xtc_probability"] = 0.0
    others = {
        f"{name} outside {_ARGUMENTS[0]}" if name.startswith(_PREFIX) else name: value
        for name, value in raw.items()
        if name not in _ARGUMENTS
    }
    return others | inner


def _nested(raw: Raw) -> Raw:
    inner = {name: value for name, value in raw.items() if name.startswith(_PREFIX)}
    return {name: value for name, value in raw.items() if name not in inner} | {
        _ARGUMENTS[0]: inner
    }


FORMS = (
    Form(
        name="vLLM request",
        label="vLLM with our plug-in: request (JSON)",
        engine="vLLM",
        syntax=Syntax.JSON,
        file="vllm-request.json",
        fields=(
            Field("temperature", "temperature", 1.0),
            Field("repetition_penalty", "repetition_penalty", 1.0, high=2.0),
            Field("presence_penalty", "presence_penalty", 0.0),
            Field("frequency_penalty", "frequency_penalty", 0.0),
            Field("xtc_probability", RHO, 0.5),
            Field("xtc_threshold", TAU, 0.1),
            Field("xtc_top_k", "top_k", 0),
            Field("xtc_top_p", "top_p", 1.0),
            Field("xtc_min_p", "min_p", 0.0),
        ),
        others={
            "logit_bias": None, "allowed_token_ids": None, "bad_words": None, "top_k": (-1, 0),
            "top_p": 1, "min_p": 0, "ignore_eos": False, "xtc_protect_ends": 1,
        },
        left=frozenset({
            "prompt", "messages", "model", "max_tokens", "min_tokens", "seed", "stop", "n",
            "stop_token_ids", "stream", "logprobs", "prompt_logprobs", "xtc_seed", *_ARGUMENTS,
        }),
        protected="xtc_protected",
        most_protected=256,
        unpack=_flat,
        pack=_nested,
        about=(
            "The server must have been started with the plug-in (docs/plugins.md). It protects "
            "the ends of a text by itself.",
        ),
        place=80,
    ),
)  # fmt: skip

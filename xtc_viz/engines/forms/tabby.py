"""TabbyAPI: a request, and a file of sampler overrides.

Names, aliases, defaults and bounds in common/sampling.py, the form of an override in
sampler_overrides/sample_preset.yml, read in November 2026. The order is fixed, but for
`temperature_last`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xtc_viz.engines.forms.base import RHO, TAU, Ends, Field, Form, Raw, Syntax

_OVERRIDE = "override"


def _overridden(raw: Raw) -> Raw:
    """Take the values of overrides, and leave those that say none."""
    flat = {
        name: value.get(_OVERRIDE) if isinstance(value, Mapping) and _OVERRIDE in value else value
        for name, value in raw.items()
    }
    return {name: value for name, value in flat.items() if value is not None}


def _overrides(raw: Raw) -> Raw:
    return {name: {_OVERRIDE: value, "force": False} for name, value in raw.items()}


_REQUEST = Form(
    name="TabbyAPI request",
    label="TabbyAPI: request (JSON)",
    engine="TabbyAPI",
    syntax=Syntax.JSON,
    file="tabby-request.json",
    fields=(
        Field("temperature", "temperature", 1.0, low=0.0, high=10.0),
        Field("temp_exponent", "dynatemp_exponent", 1.0, also=("dynatemp_exponent",)),
        Field("top_k", "top_k", 0, special=((0.0, 0.0), (-1.0, 0.0))),
        Field("top_p", "top_p", 1.0),
        Field("min_p", "min_p", 0.0),
        Field("typical", "typical_p", 1.0, also=("typical_p",)),
        Field("xtc_probability", RHO, 0.0),
        Field("xtc_threshold", TAU, 0.1),
        Field("frequency_penalty", "frequency_penalty", 0.0, low=0.0),
        Field("presence_penalty", "presence_penalty", 0.0, low=0.0),
        Field("repetition_penalty", "repetition_penalty", 1.0, also=("rep_pen",)),
        Field(
            "penalty_range", "penalty_window", -1, special=((-1.0, 0.0),),
            also=("repetition_range", "repetition_penalty_range", "rep_pen_range"),
        ),
        Field("dry_multiplier", "dry_multiplier", 0.0),
        Field("dry_base", "dry_base", 1.75),
        Field("dry_allowed_length", "dry_allowed_length", 2),
        Field("dry_range", "dry_window", 0, also=("dry_penalty_last_n",)),
    ),
    ends=Ends("min_temp", "max_temp", 1.0, also=("dynatemp_low", "dynatemp_high")),
    temperature_last="temperature_last",
    behind_last=("xtc",),
    others={
        "tfs": 1, "top_a": 0, "skew": 0, "smoothing_factor": 0, "mirostat": False,
        "mirostat_mode": 0, "mirostat_tau": None, "mirostat_eta": None, "repetition_decay": 0,
        "cfg_scale": 1, "guidance_scale": 1, "negative_prompt": None, "logit_bias": None,
        "banned_strings": [], "banned_tokens": [], "custom_token_bans": [], "allowed_tokens": [],
        "ban_eos_token": False, "json_schema": None, "regex_pattern": None,
        "grammar_string": None, "token_healing": False, "adaptive_target": 1,
        "adaptive_decay": None,
    },
    left=frozenset({
        "prompt", "messages", "model", "max_tokens", "min_tokens", "min_length", "stream", "stop",
        "seed", "generate_window", "add_bos_token", "skip_special_tokens", "speculative_ngram",
        "logprobs", "n",
    }),
    breakers=["\n", ":", '"', "*"],
    place=40,
)  # fmt: skip

FORMS = (
    _REQUEST,
    replace(
        _REQUEST,
        name="TabbyAPI overrides",
        label="TabbyAPI: sampler overrides (YAML)",
        syntax=Syntax.YAML,
        file="xtc.yml",
        unpack=_overridden,
        pack=_overrides,
        about=("Overrides stand in sampler_overrides; a request that says otherwise goes first.",),
        place=41,
    ),
)

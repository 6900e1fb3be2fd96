"""text-generation-webui: a request to its API, and a preset as its page saves it.

Names in modules/api/typing.py, defaults and what a preset leaves out in modules/presets.py, the
words of an order in modules/sampler_hijack.py, read in November 2026. Its epsilon and eta cutoff
are counted in ten-thousandths, and DRY looks as far back as the repetition penalty.
"""

from __future__ import annotations

from dataclasses import replace

from xtc_viz.engines.forms.base import RHO, TAU, Ends, Field, Form, OrderField, Syntax

PRIORITY = OrderField(
    "sampler_priority",
    {
        "repetition_penalty": ("repetition_penalty",),
        "presence_penalty": ("presence_penalty",),
        "frequency_penalty": ("frequency_penalty",),
        "dry": ("dry",),
        "temperature": ("temperature",),
        "dynamic_temperature": ("temperature",),
        "quadratic_sampling": (),
        "top_n_sigma": ("top_n_sigma",),
        "top_k": ("top_k",),
        "top_p": ("top_p",),
        "typical_p": ("typical_p",),
        "epsilon_cutoff": ("epsilon_cutoff",),
        "eta_cutoff": ("eta_cutoff",),
        "tfs": (),
        "top_a": (),
        "min_p": ("min_p",),
        "mirostat": (),
        "xtc": ("xtc",),
        "encoder_repetition_penalty": (),
        "no_repeat_ngram": (),
    },
)
OTHERS = {
    "tfs": 1, "top_a": 0, "smoothing_factor": 0, "smoothing_curve": None, "mirostat_mode": 0,
    "mirostat_tau": None, "mirostat_eta": None, "penalty_alpha": 0, "guidance_scale": 1,
    "negative_prompt": "", "encoder_repetition_penalty": 1, "no_repeat_ngram_size": 0,
    "adaptive_target": 0, "adaptive_decay": None,
    "dry_sequence_breakers": ('"\\n", ":", "\\"", "*"', '["\\n", ":", "\\"", "*"]'),
}  # fmt: skip
ENDS = Ends("dynatemp_low", "dynatemp_high", 1.0, "dynamic_temperature")

_FIELDS = (
    Field("temperature", "temperature", 1.0),
    Field("dynatemp_exponent", "dynatemp_exponent", 1.0),
    Field("min_p", "min_p", 0.0),
    Field("top_p", "top_p", 1.0),
    Field("top_k", "top_k", 0),
    Field("typical_p", "typical_p", 1.0),
    Field("xtc_threshold", TAU, 0.1),
    Field("xtc_probability", RHO, 0.0),
    Field("epsilon_cutoff", "epsilon_cutoff", 0.0, digits=4),
    Field("eta_cutoff", "eta_cutoff", 0.0, digits=4),
    Field("top_n_sigma", "top_n_sigma", 0.0),
    Field("dry_multiplier", "dry_multiplier", 0.0),
    Field("dry_allowed_length", "dry_allowed_length", 2),
    Field("dry_base", "dry_base", 1.75),
    Field("repetition_penalty", "repetition_penalty", 1.0),
    Field("frequency_penalty", "frequency_penalty", 0.0),
    Field("presence_penalty", "presence_penalty", 0.0),
    Field("repetition_penalty_range", "penalty_window", 1024),
)

_PRESET = Form(
    name="text-generation-webui preset",
    label="text-generation-webui: preset (YAML)",
    engine="text-generation-webui",
    syntax=Syntax.YAML,
    file="xtc.yaml",
    fields=_FIELDS,
    orders=(replace(PRIORITY, separator="\n"),),
    ends=ENDS,
    temperature_last="temperature_last",
    do_sample="do_sample",
    others=OTHERS,
    one_window=True,
    about=("Presets stand in user_data/presets. What one leaves out has its default there.",),
    place=31,
)

FORMS = (
    replace(
        _PRESET,
        name="text-generation-webui request",
        label="text-generation-webui: request (JSON)",
        syntax=Syntax.JSON,
        file="textgen-request.json",
        orders=(PRIORITY,),
        others=OTHERS | {
            "custom_token_bans": "", "ban_eos_token": False, "grammar_string": "",
            "logit_bias": None, "preset": None,
        },
        left=frozenset({
            "prompt", "messages", "model", "max_tokens", "max_new_tokens", "seed", "stop", "stream",
            "n", "echo", "mode", "character", "truncation_length", "add_bos_token", "user",
            "skip_special_tokens", "auto_max_new_tokens", "logprobs", "prompt_lookup_num_tokens",
            "max_tokens_second", "instruction_template", "enable_thinking", "reasoning_effort",
        }),
        about=(),
        place=30,
    ),
    _PRESET,
)  # fmt: skip

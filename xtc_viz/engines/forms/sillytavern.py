"""SillyTavern: a preset of text completion.

Names in default/content/presets/textgen and public/scripts/textgen-settings.js, read in November
2026. SillyTavern draws nothing itself: a preset goes to whatever program stands behind it, and
holds an order for each of four.
"""

from __future__ import annotations

from dataclasses import replace

from xtc_viz.engines.forms import aphrodite, koboldcpp, llamacpp, textgen
from xtc_viz.engines.forms.base import RHO, TAU, Ends, Field, Form, Syntax

_LEFT = {
    "seed", "streaming", "streaming_url", "preset", "type", "n", "custom_model", "genamt",
    "max_length", "bypass_status_check", "openrouter_allow_fallbacks", "generic_model",
    "extensions", "include_reasoning", "add_bos_token", "skip_special_tokens",
    "spaces_between_special_tokens", "speculative_ngram", "max_tokens_second", "min_length",
    "send_banned_tokens", "num_beams", "length_penalty", "early_stopping",
}  # fmt: skip

FORMS = (
    Form(
        name="SillyTavern preset",
        label="SillyTavern: preset (JSON)",
        engine="",
        syntax=Syntax.JSON,
        file="xtc.json",
        fields=(
            Field("temp", "temperature", 1.0),
            Field("top_p", "top_p", 1.0),
            Field("top_k", "top_k", 0, special=((0.0, 0.0), (-1.0, 0.0))),
            Field("epsilon_cutoff", "epsilon_cutoff", 0.0, digits=4),
            Field("eta_cutoff", "eta_cutoff", 0.0, digits=4),
            Field("typical_p", "typical_p", 1.0),
            Field("min_p", "min_p", 0.0),
            Field("rep_pen", "repetition_penalty", 1.0),
            Field("rep_pen_range", "penalty_window", 0),
            Field("freq_pen", "frequency_penalty", 0.0),
            Field("presence_pen", "presence_penalty", 0.0),
            Field("dynatemp_exponent", "dynatemp_exponent", 1.0),
            Field("dry_allowed_length", "dry_allowed_length", 2),
            Field("dry_multiplier", "dry_multiplier", 0.0),
            Field("dry_base", "dry_base", 1.75),
            Field("dry_penalty_last_n", "dry_window", 0),
            Field("xtc_threshold", TAU, 0.1),
            Field("xtc_probability", RHO, 0.0),
            Field("nsigma", "top_n_sigma", 0.0),
        ),
        orders=(
            textgen.PRIORITY,
            replace(llamacpp.SAMPLERS, also={**llamacpp.SAMPLERS.also, "tfs_z": "infill"}),
            replace(aphrodite.PRIORITY, name="samplers_priorities"),
            koboldcpp.SAMPLER_ORDER,
        ),
        ends=Ends("min_temp", "max_temp", 1.0, "dynatemp"),
        temperature_last="temperature_last",
        do_sample="do_sample",
        others={
            "top_a": 0, "tfs": 1, "rep_pen_decay": 0, "rep_pen_slope": None, "rep_pen_size": 0,
            "no_repeat_ngram_size": 0, "penalty_alpha": 0, "encoder_rep_pen": 1, "skew": 0,
            "smoothing_factor": 0, "smoothing_curve": None, "mirostat_mode": 0,
            "mirostat_tau": None, "mirostat_eta": None, "guidance_scale": 1,
            "negative_prompt": "", "grammar_string": "", "json_schema": None,
            "json_schema_allow_empty": None, "banned_tokens": "", "global_banned_tokens": "",
            "ban_eos_token": False, "ignore_eos_token": False, "logit_bias": [], "min_keep": 0,
            "adaptive_target": (0, -0.01, -1), "adaptive_decay": None,
            "dry_sequence_breakers": '["\\n", ":", "\\"", "*"]',
        },
        left=frozenset(_LEFT),
        complete=True,
        about=(
            "SillyTavern only passes settings on: which rule acts, and in which order, is decided "
            "by the program behind it.",
        ),
        place=60,
    ),
)  # fmt: skip

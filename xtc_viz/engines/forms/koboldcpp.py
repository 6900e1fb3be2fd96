"""koboldcpp: a request to its own API (`/api/v1/generate`).

Names and defaults in koboldcpp.py (`generate`), the numbers of an order in
gpttype_adapter.cpp (`SampleLogits`), read in November 2026. DRY and top-nσ have no number there,
nor has XTC, which always comes last.
"""

from __future__ import annotations

from xtc_viz.engines.forms.base import RHO, TAU, Field, Form, OrderField, Syntax

SAMPLER_ORDER = OrderField(
    "sampler_order",
    {
        6: ("repetition_penalty", "presence_penalty"),
        0: ("top_k",),
        1: (),  # top-a
        3: (),  # tail-free
        4: ("typical_p",),
        2: ("top_p", "min_p"),
        5: ("temperature",),
    },
)

FORMS = (
    Form(
        name="koboldcpp request",
        label="koboldcpp: request (JSON)",
        engine="koboldcpp",
        syntax=Syntax.JSON,
        file="koboldcpp-request.json",
        fields=(
            Field("temperature", "temperature", 0.75),
            Field("dynatemp_range", "dynatemp_range", 0.0),
            Field("dynatemp_exponent", "dynatemp_exponent", 1.0),
            Field("nsigma", "top_n_sigma", 0.0),
            Field("top_k", "top_k", 100, special=((0.0, 0.0), (-1.0, 0.0))),
            Field("top_p", "top_p", 0.92),
            Field("min_p", "min_p", 0.0),
            Field("typical", "typical_p", 1.0),
            Field("xtc_probability", RHO, 0.0),
            Field("xtc_threshold", TAU, 0.2),
            Field("rep_pen", "repetition_penalty", 1.0),
            Field("presence_penalty", "presence_penalty", 0.0),
            Field("rep_pen_range", "penalty_window", 320),
            Field("dry_multiplier", "dry_multiplier", 0.0),
            Field("dry_base", "dry_base", 1.75),
            Field("dry_allowed_length", "dry_allowed_length", 2),
            Field("dry_penalty_last_n", "dry_window", 320),
        ),
        orders=(SAMPLER_ORDER,),
        others={
            "top_a": 0, "tfs": 1, "mirostat": 0, "mirostat_tau": None, "mirostat_eta": None,
            "smoothing_factor": 0, "smoothing_curve": None, "rep_pen_slope": 1,
            "adaptive_target": -1, "adaptive_decay": None, "logit_bias": {}, "grammar": "",
            "guidance_scale": 1, "negative_prompt": "", "banned_tokens": [], "banned_strings": [],
            "custom_token_bans": "", "ban_eos_token": False, "bypass_eos": False,
        },
        left=frozenset({
            "prompt", "memory", "max_length", "max_context_length", "n", "quiet", "sampler_seed",
            "stop_sequence", "trim_stop", "genkey", "render_special", "use_default_badwordsids",
            "grammar_retain_state", "images", "logprobs",
        }),
        breakers=["\n", ":", '"', "*"],
        place=20,
    ),
)  # fmt: skip

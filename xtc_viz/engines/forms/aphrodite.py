"""aphrodite: a request.

Names, defaults and bounds in `SamplingParams` and `SamplerID` of aphrodite's sampling_params.py,
read in November 2026. An order has to name every sampler; the epsilon and eta cutoff are counted
in ten-thousandths.
"""

from __future__ import annotations

from xtc_viz.engines.forms.base import RHO, TAU, Ends, Field, Form, OrderField, Raw, Syntax

PRIORITY = OrderField(
    "sampler_priority",
    {
        "dry": ("dry",),
        "penalties": ("repetition_penalty", "presence_penalty", "frequency_penalty"),
        "no_repeat_ngram": (),
        "temperature": ("temperature",),
        "top_nsigma": ("top_n_sigma",),
        "top_p_top_k": ("top_k", "top_p"),
        "top_a": (),
        "min_p": ("min_p",),
        "tfs": (),
        "eta_cutoff": ("eta_cutoff",),
        "epsilon_cutoff": ("epsilon_cutoff",),
        "typical_p": ("typical_p",),
        "quadratic": (),
        "xtc": ("xtc",),
    },
)
_NUMBERS = {
    7: "dry", 6: "penalties", 8: "no_repeat_ngram", 5: "temperature", 9: "top_nsigma",
    0: "top_p_top_k", 1: "top_a", 2: "min_p", 3: "tfs", 10: "eta_cutoff", 11: "epsilon_cutoff",
    4: "typical_p", 12: "quadratic", 13: "xtc",
}  # fmt: skip


def _named(raw: Raw) -> Raw:
    """Write an order by names where it stands by numbers."""
    order = raw.get(PRIORITY.name)
    if not isinstance(order, list):
        return raw
    words = [_NUMBERS.get(one, one) if isinstance(one, int) else str(one).lower() for one in order]
    return {**raw, PRIORITY.name: words}  # fmt: skip


FORMS = (
    Form(
        name="aphrodite request",
        label="aphrodite: request (JSON)",
        engine="aphrodite",
        syntax=Syntax.JSON,
        file="aphrodite-request.json",
        fields=(
            Field("temperature", "temperature", 1.0),
            Field("dynatemp_exponent", "dynatemp_exponent", 1.0),
            Field("nsigma", "top_n_sigma", 0.0),
            Field("top_k", "top_k", -1, special=((-1.0, 0.0),)),
            Field("top_p", "top_p", 1.0),
            Field("min_p", "min_p", 0.0),
            Field("typical_p", "typical_p", 1.0),
            Field("epsilon_cutoff", "epsilon_cutoff", 0.0, digits=4, high=1000.0),
            Field("eta_cutoff", "eta_cutoff", 0.0, digits=4),
            Field("xtc_probability", RHO, 0.0),
            Field("xtc_threshold", TAU, 0.1),
            Field("repetition_penalty", "repetition_penalty", 1.0, low=1.0),
            Field("frequency_penalty", "frequency_penalty", 0.0),
            Field("presence_penalty", "presence_penalty", 0.0),
            Field("dry_multiplier", "dry_multiplier", 0.0),
            Field("dry_base", "dry_base", 1.75),
            Field("dry_allowed_length", "dry_allowed_length", 2),
            Field("dry_range", "dry_window", 0),
        ),
        orders=(PRIORITY,),
        ends=Ends("dynatemp_min", "dynatemp_max", 0.0),
        temperature_last="temperature_last",
        others={
            "top_a": 0, "tfs": 1, "smoothing_factor": 0, "smoothing_curve": None, "skew": 0,
            "no_repeat_ngram_size": 0, "mirostat_mode": 0, "mirostat_tau": None,
            "mirostat_eta": None, "custom_token_bans": None, "token_ban_ranges": None,
            "logit_bias": None, "allowed_token_ids": None, "dry_sequence_breaker_ids": [],
            "dry_max_ngram": None, "dry_max_occurrences": None, "dry_early_exit_match_len": None,
            "use_beam_search": False, "length_penalty": None, "early_stopping": None,
            "ignore_eos": False, "guided_decoding": None,
        },
        left=frozenset({
            "prompt", "messages", "model", "n", "best_of", "max_tokens", "min_tokens", "seed",
            "stop", "stop_token_ids", "stream", "logprobs", "prompt_logprobs", "detokenize",
            "skip_special_tokens", "spaces_between_special_tokens", "truncate_prompt_tokens",
            "include_stop_str_in_output",
        }),
        unpack=_named,
        place=50,
    ),
)  # fmt: skip

"""llama.cpp: flags of `llama-server` and `llama-cli`, and what a request to the server holds.

Names in common/arg.cpp and tools/server/server-task.cpp, the words of an order in
common/sampling.cpp, defaults in `common_params_sampling` (common/common.h), read in November 2026.
"""

from __future__ import annotations

from dataclasses import replace

from xtc_viz.engines.forms.base import RHO, TAU, Field, Form, OrderField, Syntax

PENALTIES = ("repetition_penalty", "frequency_penalty", "presence_penalty")
SAMPLERS = OrderField(
    "samplers",
    {
        "penalties": PENALTIES,
        "dry": ("dry",),
        "top_n_sigma": ("top_n_sigma",),
        "top_k": ("top_k",),
        "typ_p": ("typical_p",),
        "top_p": ("top_p",),
        "min_p": ("min_p",),
        "xtc": ("xtc",),
        "temperature": ("temperature",),
        "infill": (),
        "adaptive_p": (),
    },
    also={
        "top-k": "top_k", "top-p": "top_p", "nucleus": "top_p", "top-n-sigma": "top_n_sigma",
        "typical-p": "typ_p", "typical": "typ_p", "typ-p": "typ_p", "typ": "typ_p",
        "typical_p": "typ_p", "min-p": "min_p", "temp": "temperature",
    },
    whole=False,
)  # fmt: skip
_OFF = ((0.0, 0.0), (-1.0, 0.0))
_SIGMA = ((-1.0, 0.0),)
_ALL = ((65536.0, 0.0), (-1.0, 0.0))
"""Every token of the context. Requests to newer servers take no -1, and a window costs memory."""

_FIELDS = (
    Field("temperature", "temperature", 0.8),
    Field("dynatemp_range", "dynatemp_range", 0.0),
    Field("dynatemp_exponent", "dynatemp_exponent", 1.0),
    Field("top_n_sigma", "top_n_sigma", -1.0, special=_SIGMA),
    Field("top_k", "top_k", 40, special=_OFF),
    Field("typical_p", "typical_p", 1.0),
    Field("top_p", "top_p", 0.95),
    Field("min_p", "min_p", 0.05),
    Field("xtc_probability", RHO, 0.0),
    Field("xtc_threshold", TAU, 0.1),
    Field("repeat_penalty", "repetition_penalty", 1.0),
    Field("frequency_penalty", "frequency_penalty", 0.0),
    Field("presence_penalty", "presence_penalty", 0.0),
    Field("repeat_last_n", "penalty_window", 64, special=_ALL, off_at=0),
    Field("dry_multiplier", "dry_multiplier", 0.0),
    Field("dry_base", "dry_base", 1.75),
    Field("dry_allowed_length", "dry_allowed_length", 2),
    Field("dry_penalty_last_n", "dry_window", 64, special=_ALL, off_at=0),
)
_FLAGS = {
    "temperature": ("--temp", "--temperature"),
    "dynatemp_exponent": ("--dynatemp-exp",),
    "top_n_sigma": ("--top-nsigma", "--top-n-sigma"),
    "typical_p": ("--typical", "--typical-p"),
}


def _flag(name: str) -> tuple[str, ...]:
    return _FLAGS.get(name, ("--" + name.replace("_", "-"),))


FORMS = (
    Form(
        name="llama.cpp flags",
        label="llama.cpp: flags",
        engine="llama.cpp",
        syntax=Syntax.FLAGS,
        file="llama-flags.txt",
        fields=tuple(
            replace(one, name=_flag(one.name)[0], also=_flag(one.name)[1:]) for one in _FIELDS
        ),
        orders=(replace(SAMPLERS, name="--samplers", separator=";"),),
        others={
            "--mirostat": 0, "--mirostat-lr": None, "--mirostat-ent": None,
            "--adaptive-target": -1, "--adaptive-decay": None,
        },
        left=frozenset({
            "-m", "--model", "-hf", "--hf-repo", "-c", "--ctx-size", "-ngl", "--gpu-layers",
            "--n-gpu-layers", "--host", "--port", "-p", "--prompt", "-n", "--predict",
            "--n-predict", "-s", "--seed", "-t", "--threads", "-b", "-ub", "-np", "--parallel",
            "-fa", "--flash-attn", "--jinja", "-cnv", "-f", "--file", "--alias",
        }),
        place=10,
    ),
    Form(
        name="llama.cpp request",
        label="llama.cpp: request (JSON)",
        engine="llama.cpp",
        syntax=Syntax.JSON,
        file="llama-request.json",
        fields=_FIELDS,
        orders=(SAMPLERS,),
        others={
            "mirostat": 0, "mirostat_tau": None, "mirostat_eta": None, "min_keep": 0,
            "dry_sequence_breakers": ["\n", ":", '"', "*"], "logit_bias": [], "grammar": "",
            "ignore_eos": False, "adaptive_target": -1, "adaptive_decay": None,
            "grammar_lazy": None, "grammar_triggers": None, "preserved_tokens": None, "lora": [],
            "backend_sampling": None,
        },
        left=frozenset({
            "prompt", "messages", "model", "n_predict", "max_tokens", "seed", "stream", "stop",
            "n_keep", "n_discard", "n_probs", "cache_prompt", "timings_per_token",
            "post_sampling_probs", "return_tokens", "id_slot", "chat_format", "reasoning_format",
            "reasoning_in_content", "thinking_forced_open", "generation_prompt",
        }),
        place=11,
    ),
)  # fmt: skip

"""mlx-lm: a call in Python, and a request to its server.

Names and defaults in mlx_lm/sample_utils.py and mlx_lm/server.py, read in November 2026. Without a
temperature it takes the most probable token; a request without a τ has one of 0, at which XTC
leaves only the least probable token.
"""

from __future__ import annotations

from dataclasses import replace

from xtc_viz.engines.forms.base import RHO, TAU, Field, Form, Raw, Syntax, arguments

_FIELDS = (
    Field("temp", "temperature", 0.0),
    Field("top_p", "top_p", 0.0, special=((0.0, 1.0),)),
    Field("min_p", "min_p", 0.0),
    Field("top_k", "top_k", 0),
    Field("xtc_probability", RHO, 0.0),
    Field("xtc_threshold", TAU, 0.1, high=0.5),
    Field("repetition_penalty", "repetition_penalty", 0.0, special=((0.0, 1.0),)),
    Field("presence_penalty", "presence_penalty", 0.0),
    Field("frequency_penalty", "frequency_penalty", 0.0),
    Field(
        "repetition_context_size", "penalty_window", 20,
        also=("presence_context_size", "frequency_context_size"),
    ),
)  # fmt: skip
_SIZES = ("presence_context_size", "frequency_context_size")


def _every_size(raw: Raw) -> Raw:
    """Give each penalty the window that they share here."""
    size = raw.get("repetition_context_size")
    return raw if size is None else {**raw, **dict.fromkeys(_SIZES, size)}


def _code(raw: Raw) -> str:
    penalties = {name: value for name, value in raw.items() if "penalty" in name or "size" in name}
    sampler = {name: value for name, value in raw.items() if name not in penalties}
    functions = ["make_logits_processors", "make_sampler"] if penalties else ["make_sampler"]
    lines = [f"from mlx_lm.sample_utils import {', '.join(functions)}", ""]
    lines += [f"sampler = make_sampler({arguments(sampler)})"]
    if penalties:
        lines += [f"logits_processors = make_logits_processors({arguments(penalties)})"]
    return "\n".join(lines) + "\n"


_CALL = Form(
    name="mlx-lm call",
    label="mlx-lm: Python",
    engine="mlx-lm",
    syntax=Syntax.PYTHON,
    file="sampler.py",
    fields=_FIELDS,
    others={"min_tokens_to_keep": 1, "logit_bias": None},
    protected="xtc_special_tokens",
    calls={
        "make_sampler": ("temp", "top_p", "min_p", "min_tokens_to_keep", "top_k"),
        "make_logits_processors": (
            "logit_bias", "repetition_penalty", "repetition_context_size",
        ),
    },
    code=_code,
    pack=_every_size,
    about=("Hand both on: generate(…, sampler=sampler, logits_processors=logits_processors).",),
    place=70,
)  # fmt: skip

FORMS = (
    _CALL,
    replace(
        _CALL,
        name="mlx-lm request",
        label="mlx-lm: request to its server (JSON)",
        syntax=Syntax.JSON,
        file="mlx-request.json",
        fields=(
            Field("temperature", "temperature", 0.0),
            Field("top_p", "top_p", 1.0, special=((1.0, 1.0), (0.0, 1.0))),
            *_FIELDS[2:5],
            Field("xtc_threshold", TAU, 0.0, high=0.5),
            *_FIELDS[6:],
        ),
        others={"logit_bias": None},
        left=frozenset({
            "prompt", "messages", "model", "max_tokens", "max_completion_tokens", "stream", "stop",
            "seed", "logprobs", "top_logprobs", "adapters", "draft_model", "num_draft_tokens",
            "stream_options", "chat_template_kwargs",
        }),
        protected="",
        calls={},
        code=None,
        about=("The server protects the ends of a text and the newline by itself.",),
        place=71,
    ),
)  # fmt: skip

"""transformers: a call of `generate` with this project's `custom_generate`.

Names in `plugins.transformers.custom_generate` and in transformers' `GenerationConfig`. Typical-p
and the epsilon and eta cutoffs are transformers' own and act behind XTC.
"""

from __future__ import annotations

from xtc_viz.engines.forms.base import RHO, TAU, Field, Form, Raw, Syntax, arguments

FOLDER = "xtc_viz/plugins/transformers"


def _code(raw: Raw) -> str:
    where = {"custom_generate": FOLDER, "trust_remote_code": True}
    return f"output = model.generate({arguments(where | raw, first='**inputs')})\n"


FORMS = (
    Form(
        name="transformers call",
        label="transformers: Python",
        engine="",
        syntax=Syntax.PYTHON,
        file="generate.py",
        fields=(
            Field("xtc_probability", RHO, 0.5, also=("rho",)),
            Field("xtc_threshold", TAU, 0.1, also=("tau",)),
            Field("temperature", "temperature", 1.0, low=0.01),
            Field("top_k", "top_k", 50),
            Field("top_p", "top_p", 1.0),
            Field("min_p", "min_p", 0.0),
            Field("repetition_penalty", "repetition_penalty", 1.0),
        ),
        do_sample="do_sample",
        others={
            "typical_p": 1, "epsilon_cutoff": 0, "eta_cutoff": 0, "num_beams": 1,
            "no_repeat_ngram_size": 0, "encoder_repetition_penalty": 1, "guidance_scale": None,
            "penalty_alpha": None,
        },
        left=frozenset({
            "custom_generate", "trust_remote_code", "tokenizer", "max_new_tokens", "max_length",
            "min_new_tokens", "xtc_seed", "streamer", "logits_processor", "generation_config",
            "eos_token_id", "pad_token_id", "strategy", "input_ids", "attention_mask",
        }),
        protected="xtc_protected",
        code=_code,
        calls={"generate": (), "XTCSettings": ("rho", "tau", "strategy", "xtc_protected")},
        about=(
            f"`{FOLDER}` is a folder of this project; `xtc_viz` must be installed "
            "(docs/plugins.md).",
        ),
        place=90,
    ),
)  # fmt: skip

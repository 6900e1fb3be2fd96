"""vLLM, which has no XTC, with the plug-in of this project."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Dialect, Zero

ENGINE = Engine(
    dialect=Dialect("vLLM", zero=Zero.SKIPPED),
    source=Source("xtc_viz", "xtc_viz/plugins/vllm/ondevice.py", "1", date(2026, 11, 22)),
    order=(
        "repetition_penalty", "frequency_penalty", "presence_penalty", "temperature",
        "top_k", "top_p", "min_p", "xtc",
    ),
    free_order=False,
    rho=0.0,
    tau=0.1,
    protects=(
        "The tokens that end the request's text, unless `xtc_protect_ends` is 0, and those in "
        "`xtc_protected`."
    ),
    refuses="τ outside (0, 1), ρ outside [0, 1], and XTC with temperature 0.",
    seed=(
        "`xtc_seed` gives the coins of the page: the same seed, the same coins. The draw is "
        "vLLM's."
    ),
    remarks=(
        (
            "vLLM's own top-k and top-p act behind XTC; `xtc_top_k`, `xtc_top_p` and `xtc_min_p` "
            "in front of it."
        ),
    ),
    place=9,
)  # fmt: skip

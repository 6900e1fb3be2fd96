"""ExLlamaV3, its own stack of samplers."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Coin, Dialect, Ties, Veto

ENGINE = Engine(
    dialect=Dialect(
        "exllamav3", ties=Ties.ANY, veto=Veto.OUTSIDE, inert_above=0.5, coin=Coin.MIXTURE
    ),
    source=Source(
        "turboderp-org/exllamav3", "exllamav3/generator/sampler/custom.py", "1.6.5",
        date(2026, 11, 22),
    ),
    order=(
        "repetition_penalty", "presence_penalty", "frequency_penalty", "dry", "temperature",
        "min_p", "top_k", "top_p", "xtc",
    ),
    free_order=True,
    rho=0.0,
    tau=0.1,
    protects=(
        "Every token that holds a newline, and all special tokens, where the sampler is given "
        "a tokenizer; otherwise what one lists."
    ),
    refuses="τ or ρ outside [0, 1] (an assertion).",
    seed="There is no coin: the seed decides the draw alone.",
    remarks=(
        "XTC has no defaults of its own: one puts it into the stack with both numbers.",
        "With `SS_Argmax` behind XTC the same token of the mixture is taken at every call.",
    ),
    place=5,
)  # fmt: skip

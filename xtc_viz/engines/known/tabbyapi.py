"""TabbyAPI, on ExLlamaV3, in its own order."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Coin, Dialect, Ties, Veto, Zero

ENGINE = Engine(
    dialect=Dialect(
        "TabbyAPI", ties=Ties.ANY, veto=Veto.OUTSIDE, inert_above=0.5, coin=Coin.MIXTURE,
        zero=Zero.SKIPPED,
    ),
    source=Source(
        "theroyallab/tabbyAPI", "backends/exllamav3/sampler.py", "August 2026",
        date(2026, 11, 22),
    ),
    order=(
        "repetition_penalty", "presence_penalty", "frequency_penalty", "dry", "temperature",
        "top_k", "top_p", "min_p", "xtc",
    ),
    free_order=False,
    rho=0.0,
    tau=0.1,
    protects="Every token that holds a newline, and all special tokens.",
    refuses="Nothing of its own.",
    seed="There is no coin: the seed decides the draw alone.",
    remarks=(
        (
            "`temperature_last` moves temperature behind the truncation, but still in front of "
            "XTC."
        ),
    ),
    place=6,
)  # fmt: skip

"""ExLlamaV2, as written: its loop looks at the next candidate, not at the present one."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Coin, Dialect, Ties, Veto, Zero

ENGINE = Engine(
    dialect=Dialect(
        "exllamav2", ties=Ties.LOWEST_ID, veto=Veto.OUTSIDE, coin=Coin.MIXTURE, zero=Zero.SKIPPED
    ),
    source=Source(
        "turboderp-org/exllamav2", "exllamav2/exllamav2_ext/cpp/sampling.cpp", "0.3.2",
        date(2026, 11, 22),
    ),
    order=(
        "repetition_penalty", "frequency_penalty", "presence_penalty", "dry", "temperature",
        "top_k", "top_p", "min_p", "typical_p", "xtc",
    ),
    free_order=False,
    rho=0.0,
    tau=0.1,
    protects=(
        "Every token that holds a newline, and all special tokens (`xtc_ignore_tokens` "
        "replaces the list)."
    ),
    refuses="Nothing.",
    seed="There is no coin: the seed decides the draw alone.",
    place=4,
)  # fmt: skip

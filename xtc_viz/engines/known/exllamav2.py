"""ExLlamaV2, as written, with the defect of its loop (`sampling.dialect.Removes`)."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Coin, Dialect, Removes, Ties, Veto, Zero

ENGINE = Engine(
    dialect=Dialect(
        "exllamav2", ties=Ties.ANY, veto=Veto.OUTSIDE, coin=Coin.MIXTURE, zero=Zero.SKIPPED,
        removes=Removes.BEFORE_BY_ID,
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
    remarks=(
        "A defect: of two or more tokens that clear τ none is removed for that; each token loses "
        "whose next id clears τ, likely or not. So top choices mostly stay.",
        "Behind top-k or top-p, which are on by default (50 and 0.8), candidates are sorted, and "
        "without protected tokens the outcome is the paper's.",
        "Behind min-p alone its candidates stand in another order still; here they stand by id.",
        "By the same defect its weights do not add up to 1: what is missing goes to the last "
        "candidate, what is too much is lost to the last ones.",
    ),
    place=4,
)  # fmt: skip

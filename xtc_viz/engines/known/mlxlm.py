"""mlx-lm."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Coin, Comparison, Dialect, Ties, Veto, Zero

ENGINE = Engine(
    dialect=Dialect(
        "mlx-lm", Comparison.ABOVE, Ties.ALL, Veto.EXEMPT, coin=Coin.BATCH, zero=Zero.SKIPPED
    ),
    source=Source("ml-explore/mlx-lm", "mlx_lm/sample_utils.py", "0.32.2", date(2026, 11, 22)),
    order=(
        "repetition_penalty", "presence_penalty", "frequency_penalty", "top_p", "min_p",
        "xtc", "top_k", "temperature",
    ),
    free_order=False,
    rho=0.0,
    tau=0.1,
    protects=(
        "What the caller lists: the command line and the server list newline and the end of a "
        "text."
    ),
    refuses="τ outside [0, 0.5] and ρ outside [0, 1].",
    seed="One coin for the whole batch, from the same generator as the draw.",
    remarks=(
        "With τ = 0, the default until June 2026, it leaves only the least probable token of all.",
    ),
    place=7,
)  # fmt: skip

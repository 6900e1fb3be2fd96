"""mlx-lm."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Coin, Comparison, Dialect, Ties, Veto, Zero

ENGINE = Engine(
    dialect=Dialect(
        "mlx-lm", Comparison.ABOVE, Ties.ALL, Veto.EXEMPT, coin=Coin.BATCH, zero=Zero.SKIPPED
    ),
    source=Source("ml-explore/mlx-lm", "mlx_lm/sample_utils.py", "0.29", date(2026, 11, 21)),
    order=("repetition_penalty", "top_p", "min_p", "xtc", "top_k", "temperature"),
    free_order=False,
    rho=0.0,
    tau=0.0,
    seed="One coin for the whole batch, from the same generator as the draw.",
    place=6,
)

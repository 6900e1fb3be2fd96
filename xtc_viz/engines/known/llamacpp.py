"""llama.cpp."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Dialect, Ties, Veto

ENGINE = Engine(
    dialect=Dialect("llama.cpp", ties=Ties.HIGHEST_ID, veto=Veto.NONE, inert_above=0.5),
    source=Source("ggml-org/llama.cpp", "src/llama-sampler.cpp", "b7100", date(2026, 11, 21)),
    order=(
        "repetition_penalty", "frequency_penalty", "presence_penalty", "dry", "top_n_sigma",
        "top_k", "typical_p", "top_p", "min_p", "xtc", "temperature",
    ),
    free_order=True,
    rho=0.0,
    tau=0.1,
    seed=(
        "XTC and the draw each have a generator of their own, begun with the same seed, so that "
        "later coins are made of the same numbers as earlier draws."
    ),
    place=1,
)  # fmt: skip

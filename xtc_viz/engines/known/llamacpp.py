"""llama.cpp."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Dialect, Ties, Veto

ENGINE = Engine(
    dialect=Dialect("llama.cpp", ties=Ties.ANY, veto=Veto.NONE, inert_above=0.5),
    source=Source(
        "ggml-org/llama.cpp", "src/llama-sampler.cpp", "6f7f63ee4dff",
        date(2026, 11, 22),
    ),
    order=(
        "repetition_penalty", "frequency_penalty", "presence_penalty", "dry", "top_n_sigma",
        "top_k", "typical_p", "top_p", "min_p", "xtc", "temperature",
    ),
    free_order=True,
    rho=0.0,
    tau=0.1,
    protects="Nothing: it may remove the end of a text, and the reply goes on.",
    refuses="Nothing: above τ = 0.5 it is off without a word.",
    seed=(
        "XTC and the draw each have a generator of their own, begun with the same seed, so "
        "that later coins are made of the same numbers as earlier draws."
    ),
    remarks=(
        "The coin is tossed wherever two tokens are left, also where none is to be removed.",
        "With min_keep above 1 it does nothing where fewer tokens than that would be left.",
    ),
    min_keep=True,
    place=2,
)  # fmt: skip

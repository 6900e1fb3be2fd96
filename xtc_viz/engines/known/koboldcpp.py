"""koboldcpp."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Dialect, Ties, Veto, Zero

ENGINE = Engine(
    dialect=Dialect(
        "koboldcpp", ties=Ties.ANY, veto=Veto.NONE, inert_above=0.5, zero=Zero.SKIPPED
    ),
    source=Source("LostRuins/koboldcpp", "gpttype_adapter.cpp", "autumn 2026", date(2026, 11, 22)),
    order=(
        "dry", "repetition_penalty", "presence_penalty", "top_k", "typical_p", "top_p",
        "min_p", "temperature", "top_n_sigma", "xtc",
    ),
    free_order=True,
    rho=0.0,
    tau=0.2,
    protects="Nothing: it may remove the end of a text, and the reply goes on.",
    refuses="Nothing: above τ = 0.5 it is off without a word.",
    seed=(
        "Coin and draw come from one generator, one after the other: a coin more changes all "
        "later draws."
    ),
    remarks=(
        "XTC is always last, whatever order the others are given.",
        (
            "A removed token loses 999 of its logit: where nothing else is left, it can still be "
            "drawn."
        ),
        "With mirostat XTC does not act.",
    ),
    place=3,
)  # fmt: skip

"""The paper's rule, which all others are held against."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import PAPER

ENGINE = Engine(
    dialect=PAPER,
    source=Source("the paper", "Section 3, Algorithm 1", "first version", date(2026, 10, 1)),
    order=(
        "repetition_penalty", "presence_penalty", "frequency_penalty", "dry", "temperature",
        "top_n_sigma", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff",
        "eta_cutoff", "xtc",
    ),
    free_order=True,
    rho=0.5,
    tau=0.1,
    protects="The end of a text and newlines; the list may be changed.",
    refuses="τ outside (0, 1) and ρ outside [0, 1].",
    seed=(
        "One coin a row and step, from numbers of its own, so that the draw never depends on "
        "it."
    ),
    place=0,
)  # fmt: skip

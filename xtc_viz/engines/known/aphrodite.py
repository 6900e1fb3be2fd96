"""Aphrodite."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Dialect, Ties, Veto

ENGINE = Engine(
    dialect=Dialect("aphrodite", ties=Ties.ANY, veto=Veto.NONE),
    source=Source(
        "aphrodite-engine/aphrodite-engine", "aphrodite/v1/sample/ops/xtc.py", "0.24.1",
        date(2026, 11, 22),
    ),
    order=(
        "dry", "repetition_penalty", "frequency_penalty", "presence_penalty", "temperature",
        "top_n_sigma", "min_p", "eta_cutoff", "epsilon_cutoff", "typical_p", "xtc", "top_k",
        "top_p",
    ),
    free_order=False,
    rho=0.0,
    tau=0.1,
    protects="Nothing: it may remove the end of a text, and the reply goes on.",
    refuses="τ below 0 and ρ outside [0, 1].",
    seed=(
        "One coin a row, from torch's global generator: the seed of a request does not reach "
        "it."
    ),
    remarks=(
        "`temperature_last` moves temperature behind XTC, which then acts on unscaled "
        "probabilities.",
        "At temperature 0 XTC still acts. Beside a request with another temperature it then sees "
        "probabilities divided by almost nothing, and hardly ever finds two tokens.",
        "With mirostat XTC does not act.",
    ),
    place=8,
)  # fmt: skip

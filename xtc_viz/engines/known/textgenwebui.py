"""text-generation-webui, with its Transformers loader."""

from __future__ import annotations

from datetime import date

from xtc_viz.engines.base import Engine, Source
from xtc_viz.sampling.dialect import Coin, Dialect, Ties, Veto

ENGINE = Engine(
    dialect=Dialect(
        "text-generation-webui", ties=Ties.ANY, veto=Veto.STEP, coin=Coin.BATCH
    ),
    source=Source(
        "oobabooga/text-generation-webui", "modules/sampler_hijack.py", "c93f88712395",
        date(2026, 11, 22),
    ),
    order=(
        "repetition_penalty", "presence_penalty", "frequency_penalty", "dry", "temperature",
        "top_n_sigma", "top_k", "top_p", "typical_p", "epsilon_cutoff", "eta_cutoff",
        "min_p", "xtc",
    ),
    free_order=True,
    rho=0.0,
    tau=0.1,
    protects="The last token of an encoded newline, and the end of a text. The list is fixed.",
    refuses="Temperature 0: greedy decoding is `do_sample` off, where XTC still acts.",
    seed=(
        "The coin comes from Python's global generator, which the seed does not reach: the "
        "same seed does not give the same text."
    ),
    remarks=(
        "In a batch, one row whose protected token would be removed leaves all rows alone.",
        (
            "“Temperature last” moves temperature behind XTC, which then acts on unscaled "
            "probabilities."
        ),
        "With another loader (llama.cpp, ExLlama) the rule is that loader's.",
    ),
    place=1,
)  # fmt: skip

"""Every numeric setting, by its name. Each stands once: here, or with its stage of the stack."""

from __future__ import annotations

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages import STAGES

OF_A_RUN = (
    Knob(
        "rho", "ρ probability", 0.5, 0.0, 1.0, 0.01,
        "How often XTC acts when it could. 0 switches it off, 1 acts at every chance.",
        hint="how often it acts",
    ),
    Knob(
        "tau", "τ floor", 0.1, 0.0, 1.0, 0.005,
        "A token is eligible when its probability is at least τ. Above 0.5 XTC can never act.",
        low_open=True, high_open=True, soft_low=0.005, soft_high=0.6,
        hint="what counts as plausible",
    ),
    Knob(
        "max_new_tokens", "Length", 160, 1, 4096, 1,
        "How many tokens each lane writes at most.", integer=True, soft_high=1000,
        hint="tokens for each lane",
    ),
    Knob(
        "seed", "Seed", 7, 0, 2**63 - 1, 1,
        "Fixes all random numbers: the same seed and settings give the same text.",
        integer=True, soft_high=9999,
    ),
    Knob(
        "top_candidates", "Candidates", 100, 100, 1000, 1,
        "How many of the most probable tokens are recorded at every step.", integer=True,
    ),
)  # fmt: skip
"""What is no stage's: XTC's own, those of a run."""

OF_A_FIGURE = (
    Knob(
        "figure_width", "Figure width", 720, 320, 1600, 10,
        "How wide a saved figure is, in pixels of which 96 are an inch.", integer=True,
    ),
)  # fmt: skip
"""What a view is saved as."""

OF_A_SPREAD = (
    Knob(
        "seeds", "Seeds", 16, 4, 64, 1,
        "How many seeds a spread writes: the one of the composer and those that follow it.",
        integer=True,
    ),
)  # fmt: skip
"""The same request many times, each with another seed."""

KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (*OF_A_RUN, *OF_A_FIGURE, *OF_A_SPREAD, *(k for s in STAGES for k in s.knobs))
}

"""Lanes by name: the paper's strengths of XTC and the samplers that it is compared with."""

from __future__ import annotations

import json

from xtc_viz.assets import asset
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings


def _xtc(rho: float, tau: float = 0.1, **stack: float) -> SamplerSettings:
    return SamplerSettings(xtc=XTCSettings(rho=rho, tau=tau), **stack)


BASELINE = LaneSettings("Baseline")
STRENGTHS = (
    LaneSettings("Light", _xtc(0.25)),
    LaneSettings("Medium", _xtc(0.5)),
    LaneSettings("Strong", _xtc(1.0)),
    LaneSettings(".75 / .05", _xtc(0.75, 0.05)),
)
COMPARATORS = (
    LaneSettings("T 1.3", SamplerSettings(temperature=1.3)),
    LaneSettings("Top-p .95", SamplerSettings(top_p=0.95)),
    LaneSettings("Typical .95", SamplerSettings(typical_p=0.95)),
    LaneSettings("Min-p .10", SamplerSettings(min_p=0.1)),
    LaneSettings("Eta .0003", SamplerSettings(eta_cutoff=3e-4)),
    LaneSettings("Repetition 1.05", SamplerSettings(repetition_penalty=1.05)),
    LaneSettings("Min-p + XTC", _xtc(0.5, min_p=0.1)),
    LaneSettings("T 1.3 + XTC", _xtc(0.5, temperature=1.3)),
)
DEFAULT_LANES = (BASELINE, LaneSettings("XTC", _xtc(0.5)))


def examples() -> list[dict[str, str]]:
    """Return prompts to start from, each with its `genre` and `text`."""
    text = asset("prompts.json").read_text(encoding="utf-8")
    prompts: list[dict[str, str]] = json.loads(text)
    return prompts

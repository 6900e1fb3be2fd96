"""Lanes by name: the paper's strengths of XTC and the samplers that it is compared with.

They stand on a base that all lanes of a run share: what cuts off the words that no one would write,
before XTC acts. XTC removes what is likely and hands its share to all that is left, the implausible
too, so its author advises a min-p with it.
"""

from __future__ import annotations

import json
from typing import Any

from xtc_viz.assets import asset
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings

PLAIN = SamplerSettings()
BASE = SamplerSettings(min_p=0.05)
BASES = (BASE, SamplerSettings(min_p=0.02), SamplerSettings(top_p=0.95), PLAIN)
"""What all lanes may stand on; the first is what they do unless one says otherwise."""


def _on_base(rho: float = 0.0, tau: float = 0.1, **stack: float) -> SamplerSettings:
    """Return a stack on the base, or on the cutoff that it names."""
    return SamplerSettings(**{"min_p": BASE.min_p, **stack}, xtc=XTCSettings(rho=rho, tau=tau))


BASELINE = LaneSettings("Baseline", BASE)
STRENGTHS = (
    LaneSettings("Light", _on_base(0.25)),
    LaneSettings("Medium", _on_base(0.5)),
    LaneSettings("Strong", _on_base(1.0)),
    LaneSettings(".75 / .05", _on_base(0.75, 0.05)),
)
COMPARATORS = (
    LaneSettings("Plain sampling", PLAIN),
    LaneSettings("T 1.3", _on_base(temperature=1.3)),
    LaneSettings("Top-p .95", SamplerSettings(top_p=0.95)),
    LaneSettings("Typical .95", SamplerSettings(typical_p=0.95)),
    LaneSettings("Min-p .10", SamplerSettings(min_p=0.1)),
    LaneSettings("Eta .0003", SamplerSettings(eta_cutoff=3e-4)),
    LaneSettings("Repetition 1.05", _on_base(repetition_penalty=1.05)),
    LaneSettings("Plain + XTC", _on_base(0.5, min_p=0.0)),
    LaneSettings("Min-p + XTC", _on_base(0.5, min_p=0.1)),
    LaneSettings("T 1.3 + XTC", _on_base(0.5, temperature=1.3)),
)
"""Those that cut words off in a way of their own have that in place of the base."""
DEFAULT_LANES = (BASELINE, LaneSettings("XTC", _on_base(0.5)))


def case() -> dict[str, Any]:
    """Return what the samplers do to variety and to the words drawn, as `training.case` measured
    it on the embedded model."""
    measured: dict[str, Any] = json.loads(asset("case.json").read_text(encoding="utf-8"))
    return measured


def examples() -> list[dict[str, str]]:
    """Return prompts to start from, each with its `genre` and `text`."""
    text = asset("prompts.json").read_text(encoding="utf-8")
    prompts: list[dict[str, str]] = json.loads(text)
    return prompts

"""A small experiment, and waiting for what a laboratory does."""

from __future__ import annotations

import time
from collections.abc import Callable

from xtc_viz.lab.experiment import Experiment
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.ui.lab.choice import Choice

EXPERIMENT = Experiment(
    "mine",
    "story",
    (LaneSettings("baseline"), LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(0.5, 0.1)))),
    "Does it help?",
    samples=2,
    length=24,
    prompts=8,
)
TOTAL = 2 * 2 * 8
CHOICE = Choice(EXPERIMENT)


def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something is so."""
    latest = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < latest, "it did not come to that"
        time.sleep(0.01)

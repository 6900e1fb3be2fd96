"""Controls ⇄ settings: what the page builds its controls from, and what it sends back.

Everything the page knows about a setting (label, bounds, step, help) comes from `settings`; what
it sends back is checked there too, and an error names the field, and the lane where it has one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from xtc_viz.errors import SettingsError
from xtc_viz.knob import Knob
from xtc_viz.knobs import KNOBS
from xtc_viz.models.base import LanguageModel
from xtc_viz.runs import presets
from xtc_viz.runs.protected import Protection, parse_protection
from xtc_viz.runs.protection import Newlines
from xtc_viz.sampling.stages import STAGES
from xtc_viz.sampling.stages.base import Penalty, Truncation
from xtc_viz.settings import (
    TEMPERATURE,
    XTC,
    LaneSettings,
    RunSettings,
    SamplerSettings,
    Strategy,
    with_protected,
)
from xtc_viz.ui.limits import NO_LIMITS, Limits

MAX_NAME = 200  # characters of a lane's name
MAX_STOPS = 20  # texts at which a lane ends
MAX_STOP = 200  # characters of one
STACK = tuple(f.name for f in fields(SamplerSettings) if f.name in KNOBS)
STRATEGY_LABELS = {
    Strategy.KEEP_LEAST: "Keep the least likely (the rule)",
    Strategy.KEEP_SECOND: "Keep the second",
    Strategy.KEEP_RANDOM: "Keep one at random",
    Strategy.DROP_TOP: "Drop only the top",
}
GROUPS = {
    "Temperature": tuple(stage for stage in STAGES if stage.name == TEMPERATURE),
    "Truncation": tuple(stage for stage in STAGES if isinstance(stage, Truncation)),
    "Penalties": tuple(stage for stage in STAGES if isinstance(stage, Penalty)),
}
"""The stages as the page shows their knobs."""
NEWLINE_LABELS = {
    Newlines.ALL: "all that hold one",
    Newlines.TOKEN: "only the plain one",
    Newlines.NONE: "no",
}


def knob_spec(knob: Knob) -> dict[str, Any]:
    """Return what a control needs: words, slider ends, step, default."""
    low, high = knob.slider
    return {
        "name": knob.name,
        "label": knob.label,
        "help": knob.help,
        "hint": knob.hint,
        "interval": knob.interval,
        "min": knob.low,
        "max": knob.high if math.isfinite(knob.high) else None,
        "open": [knob.low_open, knob.high_open],
        "default": knob.default,
        "low": low,
        "high": high if math.isfinite(high) else None,
        "step": knob.step,
        "integer": knob.integer,
    }


def specification(limits: Limits = NO_LIMITS) -> dict[str, Any]:
    """Return everything that the page's controls are generated from, as JSON values."""
    knobs = KNOBS | {"max_new_tokens": limits.length}
    length = int(limits.length.default)
    return {
        "knobs": {name: knob_spec(knob) for name, knob in knobs.items()},
        "stack": STACK,
        "strategies": [[str(value), label] for value, label in STRATEGY_LABELS.items()],
        "newlines": [[str(value), label] for value, label in NEWLINE_LABELS.items()],
        "order": [*([stage.name, stage.label] for stage in STAGES), [XTC, "XTC"]],
        "groups": [
            [label, [knob.name for stage in stages for knob in stage.knobs]]
            for label, stages in GROUPS.items()
        ],
        "maxLanes": limits.lanes,
        "maxTokens": limits.max_tokens,
        "strengths": [lane.to_dict() for lane in presets.STRENGTHS],
        "comparators": [lane.to_dict() for lane in presets.COMPARATORS],
        "baseline": presets.BASELINE.to_dict(),
        "settings": RunSettings(lanes=presets.DEFAULT_LANES, max_new_tokens=length).to_dict(),
        "examples": presets.examples(),
    }


class LaneError(SettingsError):
    """A setting of one lane; `lane` is its index."""

    def __init__(self, lane: int, error: SettingsError) -> None:
        super().__init__(error.parameter, error.bounds, error.value)
        self.lane = lane


@dataclass(frozen=True, slots=True)
class Request:
    """One press of Generate, checked. `number` tells the page which press an answer belongs to."""

    number: int
    prompt: str
    settings: RunSettings
    protection: Protection = field(default_factory=Protection)
    system: str = ""
    chat: bool = False
    thinking: bool = True

    def encode(self, model: LanguageModel) -> list[int]:
        """Return the prompt's token ids for this model, with its chat template when asked."""
        if self.chat and model.info.has_chat_template:
            return model.encode_chat(self.prompt, self.system, thinking=self.thinking)
        return model.encode(self.prompt)

    def guarded(self, model: LanguageModel) -> RunSettings:
        """Return the settings with the protected tokens of this model in every lane."""
        ids = self.protection.ids(model)
        lanes = tuple(with_protected(lane, ids) for lane in self.settings.lanes)
        return replace(self.settings, lanes=lanes)


def parse(data: object, limits: Limits = NO_LIMITS) -> Request:
    """Check what the page sent. Raises `SettingsError`, for a lane's setting `LaneError`."""
    if not isinstance(data, Mapping):
        raise SettingsError("request", "an object with named values", data)
    number = data.get("req", 0)
    raw = data.get("settings", {})
    if not isinstance(raw, Mapping):
        raise SettingsError("settings", "an object with named values", raw)
    lanes = raw.get("lanes", [])
    if not isinstance(lanes, (list, tuple)):
        raise SettingsError("lanes", "a list of lanes", lanes)
    limits.check_lanes(len(lanes))
    length = limits.length.check(raw.get("max_new_tokens", limits.length.default))
    checked = {"lanes": [_lane(i, v) for i, v in enumerate(lanes)], "max_new_tokens": length}
    settings = RunSettings.from_dict({**raw, **checked})
    _check_stops(settings.stop)
    prompt = limits.check_text("prompt", data.get("prompt", ""))
    if not prompt.strip():
        raise SettingsError("prompt", "a text to go on from", prompt)
    return Request(
        number=number if isinstance(number, int) else 0,
        prompt=prompt,
        settings=settings,
        protection=parse_protection(data.get("protect", {})),
        system=limits.check_text("system", data.get("system", "")),
        chat=data.get("chat") is True,
        thinking=data.get("thinking", True) is not False,
    )


def whole(name: str, value: object) -> int:
    """Return a number that a page sent, or raise."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SettingsError(name, "an integer >= 0", value)
    return value


def _lane(index: int, value: object) -> LaneSettings:
    try:
        lane = LaneSettings.from_dict(value)
        if len(lane.name) > MAX_NAME:
            bounds = f"a text of at most {MAX_NAME} characters"
            raise SettingsError("name", bounds, f"{len(lane.name):,} characters")
        return lane
    except SettingsError as error:
        raise LaneError(index, error) from None


def _check_stops(stops: Sequence[str]) -> None:
    """Each of them is looked for at every step."""
    longest = max(map(len, stops), default=0)
    if len(stops) > MAX_STOPS or longest > MAX_STOP:
        bounds = f"at most {MAX_STOPS} texts of at most {MAX_STOP} characters"
        raise SettingsError("stop", bounds, f"{len(stops):,} texts of up to {longest:,}")

"""Controls ⇄ settings: what the page builds its controls from, and what it sends back.

Everything the page knows about a setting (label, bounds, step, help) comes from `settings`; what
it sends back is a request (`runs.request`), which is held to the limits of this server here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from xtc_viz.errors import LaneError, SettingsError, Words
from xtc_viz.knob import Knob
from xtc_viz.knobs import KNOBS
from xtc_viz.models.base import LanguageModel
from xtc_viz.runs import presets
from xtc_viz.runs.protection import Newlines, Protection, protected_ids, text_tokens
from xtc_viz.runs.request import Request
from xtc_viz.sampling.stages import STAGES
from xtc_viz.sampling.stages.base import Penalty, Truncation
from xtc_viz.settings import TEMPERATURE, XTC, RunSettings, SamplerSettings, Strategy
from xtc_viz.ui import dialects, elsewhere
from xtc_viz.ui.limits import NO_LIMITS, Limits

MOST = 2**31 - 1  # of what is counted: lanes, steps, tokens
MAX_NAME = 200  # characters of a lane's name
MAX_STOPS = 20  # texts at which a lane ends; each of them is looked for at every step
MAX_STOP = 200  # characters of one
NAMED = 12  # protected tokens of one kind or text that are shown
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
CUTOFFS = tuple(knob.name for stage in GROUPS["Truncation"] for knob in stage.knobs)
"""What a base of all lanes says (`presets.BASES`)."""
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
        "switches": {stage.name: list(stage.switched_by) for stage in STAGES},
        "groups": [
            [label, [knob.name for stage in stages for knob in stage.knobs]]
            for label, stages in GROUPS.items()
        ],
        "engines": dialects.specification(),
        "bases": [{name: getattr(base, name) for name in CUTOFFS} for base in presets.BASES],
        "maxLanes": limits.lanes,
        "maxTokens": limits.max_tokens,
        "strengths": [lane.to_dict() for lane in presets.STRENGTHS],
        "comparators": [lane.to_dict() for lane in presets.COMPARATORS],
        "baseline": presets.BASELINE.to_dict(),
        "settings": {
            "server_draws": False,
            **RunSettings(lanes=presets.DEFAULT_LANES, max_new_tokens=length).to_dict(),
        },
        "examples": presets.examples(),
        "case": presets.case(),
        "forms": elsewhere.choices(),
        "lab": False,
    }


def parse(data: object, limits: Limits = NO_LIMITS) -> Request:
    """Return the request that a page sent, within the limits of this server.

    Raises:
        SettingsError: naming the field.
        LaneError: the same for a setting of a lane.
    """
    request = Request.parse(limits.check_request(data))
    for index, lane in enumerate(request.settings.lanes):
        if len(lane.name) > MAX_NAME:
            bounds = f"a text of at most {MAX_NAME} characters"
            error = SettingsError("name", bounds, Words(f"{len(lane.name):,} characters"))
            raise LaneError(index, error)
    stops = request.settings.stop
    longest = max(map(len, stops), default=0)
    if len(stops) > MAX_STOPS or longest > MAX_STOP:
        bounds = f"at most {MAX_STOPS} texts of at most {MAX_STOP} characters"
        raise SettingsError("stop", bounds, Words(f"{len(stops):,} texts of up to {longest:,}"))
    return request


def whole(name: str, value: object) -> int:
    """Return a number that a page sent, or raise."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise SettingsError(name, "an integer >= 0", value)
    return value


def named(ids: Sequence[int], model: LanguageModel) -> dict[str, Any]:
    """Return the texts of at most `NAMED` tokens, and how many more there are."""
    return {"tokens": [model.token_text(i) for i in ids[:NAMED]], "more": len(ids[NAMED:])}


def protected_tokens(protection: Protection, model: LanguageModel) -> dict[str, Any]:
    """Return what the page shows of a choice: the tokens of the two kinds, each text as the tokens
    that it becomes on this model, of all these at most `NAMED`, and how many ids are protected."""
    ends = sorted(model.info.eos_ids) if protection.eos else []
    breaks = sorted(protected_ids(model, protection.newline, eos=False))
    return {
        "model": model.info.name,
        "kinds": named([*ends, *breaks], model),
        "texts": [named(text_tokens(model, text), model) for text in protection.texts],
        "eos": len(ends),
        "newline": len(breaks),
        "count": len(protection.ids(model)),
    }

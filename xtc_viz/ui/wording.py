"""Errors in the words of the page, which knows a setting by its label and not by its name."""

from __future__ import annotations

from typing import Any

from xtc_viz.errors import (
    LaneError,
    PromptError,
    SettingsError,
    UnknownRunError,
    Words,
    XTCVizError,
    shortened,
    shown,
)
from xtc_viz.knobs import KNOBS
from xtc_viz.ui.gate.token import StaleTokenError

LABELS = {name: knob.label for name, knob in KNOBS.items()} | {
    "prompt": "The prompt",
    "system": "The system message",
    "stop": "Stop at",
    "name": "The name of a lane",
    "text": "The typed text",
}
NO_PROMPT = "Type a beginning first."
WENT_WRONG = "Something went wrong on the server; its log says what."


def problem(error: XTCVizError) -> dict[str, Any]:
    """Return an error as the page shows it: the words, the field that it belongs to, the lane, and
    whether the run that was asked about is gone."""
    answer: dict[str, Any] = {"message": in_words(error)}
    if isinstance(error, SettingsError):
        answer["field"] = error.parameter
    if isinstance(error, PromptError):
        answer["field"] = "prompt"
    if isinstance(error, LaneError):
        answer["lane"] = error.lane
    if isinstance(error, StaleTokenError):
        answer["stale"] = True
    if isinstance(error, UnknownRunError):
        answer["gone"] = True
    return answer


def in_words(error: XTCVizError) -> str:
    """Return the message for the page: `τ floor must be in (0, 1), but is 3`."""
    label = LABELS.get(error.parameter) if isinstance(error, SettingsError) else None
    if label is None or not isinstance(error, SettingsError):
        return str(error)
    value = error.value
    if error.parameter == "prompt" and isinstance(value, str) and not value.strip():
        return NO_PROMPT
    return f"{label} must be {error.bounds}, but is {_shown(value)}"


def _shown(value: object) -> str:
    if not isinstance(value, str) or isinstance(value, Words):
        return shown(value)
    return f"“{shortened(value.strip())}”" if value.strip() else "empty"

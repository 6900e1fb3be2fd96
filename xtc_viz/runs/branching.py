"""Branches: a lane continued from any step with a token, or with a text, that a person chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from xtc_viz.errors import SettingsError, Words
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.trace import Branch, FinishReason, LaneTrace, Trace
from xtc_viz.runs.protection import text_tokens

MOST_FORCED = 512
"""The most tokens that a branch may be told to begin with; each takes a step of the model."""


def branch(trace: Trace, lane: int, position: int) -> LaneTrace:
    """Return the beginning of a branch: a lane's steps before `position`, under a new name.

    Decode on with its tokens as the lane's prefix and what was chosen as `forced`
    (`decode_lanes`). The position behind a lane's last token is one too, unless the text ended
    there.

    Raises:
        SettingsError: no such lane or position.
    """
    if not 0 <= lane < len(trace.lanes):
        raise SettingsError("lane", f"in [0, {len(trace.lanes)})", lane)
    parent = trace.lanes[lane]
    last = len(parent.steps) - (parent.finish is FinishReason.EOS)
    if not 0 <= position <= last:
        raise SettingsError("position", f"in [0, {last}]", position)
    return LaneTrace(
        settings=replace(parent.settings, name=_name(parent.settings.name, trace.lanes)),
        steps=tuple(parent.steps[:position]),
        branch=Branch(lane, position),
    )


def text_at(model: LanguageModel, trace: Trace, lane: int, position: int, text: str) -> list[int]:
    """Return the tokens that a text becomes at a position of a lane; a space before a word counts.

    Raises:
        SettingsError: it becomes no token, or other text than it was.
    """
    tokens = text_tokens(model, text)
    if not tokens:
        raise SettingsError("text", "a text that becomes at least one token", text)
    before = [*trace.prompt_ids, *(step.token for step in trace.lanes[lane].steps[:position])]
    detokenizer = model.detokenizer(before)
    written = "".join(map(detokenizer.push, tokens)) + detokenizer.flush()
    half = model.detokenizer(before).flush()  # of a character that then stays incomplete
    if written != half + text:
        raise SettingsError("text", f"a text that {model.info.name} writes as it stands", text)
    return tokens


def check_tokens(tokens: Sequence[int], model: LanguageModel, room: int) -> None:
    """Raise `SettingsError` unless these are tokens of the model, at least one of them and at most
    `MOST_FORCED`, for which there is `room` in the lane."""
    most = min(MOST_FORCED, room)
    if not 1 <= len(tokens) <= most:
        here = " at this place" if room < MOST_FORCED else ""
        raise SettingsError("text", f"1 to {most} tokens{here}", Words(f"{len(tokens)} tokens"))
    size = model.info.vocab_size
    for token in tokens:
        if not 0 <= token < size:
            raise SettingsError("token", f"in [0, {size})", token)


def _name(parent: str, lanes: Sequence[LaneTrace]) -> str:
    """A name for the branch that no lane has yet."""
    names = {lane.settings.name for lane in lanes}
    base = parent.split(" ↳")[0]
    return next(name for n in count(1) if (name := f"{base} ↳{n}") not in names)

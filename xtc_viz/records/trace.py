"""A run as plain values: what was decided at every step of every lane.

Everything a view needs is here or follows from here (`sampling.stages`, `sampling.whatif`); nothing
here needs the model. The file format is in `tracefile`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.records.step import Step
from xtc_viz.settings import LaneSettings, RunSettings


class FinishReason(StrEnum):
    """Why a lane ended: at an end of text, at a stop text, with all the tokens that it was to have,
    or because the model's context was full, so that nothing can follow."""

    EOS = "eos"
    STOP = "stop"
    LENGTH = "length"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a lane came from: its first `position` steps are those of lane `lane`, and at the
    next one a person chose the token."""

    lane: int
    position: int


@dataclass(frozen=True, slots=True)
class LaneTrace:
    """One lane of a run, its steps as a tuple or packed (`steps.Steps`).

    `finish` is None while the lane is being written or when it was stopped. `unknown` holds the
    columns of a newer file that this version does not know, one entry a step, to be written back.
    """

    settings: LaneSettings
    steps: Sequence[Step] = ()
    finish: FinishReason | None = None
    branch: Branch | None = None
    unknown: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        return "".join(step.text for step in self.steps)


@dataclass(frozen=True, slots=True)
class Trace:
    """A run: model, prompt, settings, and its lanes of steps.

    `vocabulary` holds the text of every token id that occurs anywhere in the trace, the prompt's
    own included. `seconds` is the time the decoding took.
    """

    model: ModelInfo
    prompt: str
    prompt_ids: tuple[int, ...]
    settings: RunSettings
    lanes: tuple[LaneTrace, ...]
    vocabulary: dict[int, str] = field(repr=False)
    system: str = ""
    chat: bool = False
    seconds: float = 0.0

    @property
    def unknown_columns(self) -> tuple[str, ...]:
        """The names of what a newer program recorded of the steps, and this one cannot show."""
        return tuple(dict.fromkeys(name for lane in self.lanes for name in lane.unknown))


def token_ids(steps: Iterable[Step]) -> set[int]:
    """Return every token id that these steps name: what a trace's vocabulary has to hold."""
    ids: set[int] = set()
    for step in steps:
        ids.update(step.ids, step.cut_ids)
    return ids

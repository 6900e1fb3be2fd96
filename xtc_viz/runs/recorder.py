"""The recorder: a run as it grows step by step, with those who want to be told of every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from xtc_viz.models.base import LanguageModel
from xtc_viz.records.packed import Steps
from xtc_viz.records.size import size_of
from xtc_viz.records.step import Step
from xtc_viz.records.trace import Branch, FinishReason, LaneTrace, Trace, token_ids
from xtc_viz.runs.protection import worth_naming
from xtc_viz.settings import LaneSettings, RunSettings

if TYPE_CHECKING:
    from xtc_viz.decode import Column

TokenText = Callable[[int], str]
"""A token id to that token's own text."""


class Observer(Protocol):
    """Is told of every step of one lane, in their order."""

    def add(self, step: Step, sign: str = "") -> None:
        """Take a step in; `sign` is its token's own text, which says more than `step.text` where
        the token adds none."""


@dataclass(slots=True)
class LaneRecord:
    """One lane as it grows.

    `begin` counts the steps that were there before this decode; `seconds` had passed in it at the
    last step.
    """

    settings: LaneSettings
    steps: Steps
    finish: FinishReason | None = None
    branch: Branch | None = None
    begin: int = 0
    seconds: float = 0.0
    observers: list[Observer] = field(default_factory=list)

    @property
    def rate(self) -> float | None:
        """The tokens a second of this decode, from its begin to the lane's last step."""
        written = len(self.steps) - self.begin
        return written / self.seconds if self.seconds and written else None


def blank_trace(
    model: LanguageModel,
    prompt: str,
    prompt_ids: Sequence[int],
    settings: RunSettings,
    *,
    system: str = "",
    chat: bool = False,
) -> Trace:
    """Return a run in which nothing is written yet.

    Its vocabulary names the prompt's tokens, and those protected ones that could not be told
    from the model's own kinds later on.
    """
    protected = frozenset[int]().union(*(lane.sampler.xtc.protected for lane in settings.lanes))
    named = (*prompt_ids, *worth_naming(protected, model.info))
    return Trace(
        model=model.info,
        prompt=prompt,
        prompt_ids=tuple(prompt_ids),
        settings=settings,
        lanes=tuple(LaneTrace(lane) for lane in settings.lanes),
        vocabulary={token: model.token_text(token) for token in named},
        system=system,
        chat=chat,
    )


class Recorder:
    """A run while it is being written, or after.

    One thread adds to it, others may read: lanes only grow, and a step is counted by a lane's
    observers, and its tokens are named, before it is seen in the lane. It keeps the texts of all
    its tokens, and no model.
    """

    def __init__(self, begin: Trace, lanes: Sequence[int] | None = None) -> None:
        """Go on from a trace, which keeps what it holds: steps, ends and seconds.

        `lanes` says to which of its lanes the steps of a column belong; None means all of them.
        """
        self.begin = begin
        self._growing = range(len(begin.lanes)) if lanes is None else tuple(lanes)
        self.lanes = tuple(
            LaneRecord(
                lane.settings,
                _own(lane.steps, grows=number in self._growing),
                lane.finish,
                lane.branch,
                begin=len(lane.steps),
            )
            for number, lane in enumerate(begin.lanes)
        )
        self.texts = dict(begin.vocabulary)
        self.seconds = begin.seconds
        self._measured: tuple[tuple[int, ...], int] = (), 0

    @classmethod
    def of(cls, trace: Trace) -> Recorder:
        """Return the record of a run that was written in one go and does not grow."""
        recorder = cls(trace, ())
        for lane in recorder.lanes:
            lane.begin, lane.seconds = 0, trace.seconds
        return recorder

    def observe(self, lane: int, observer: Observer) -> None:
        """Let an observer know of every step of a lane, of those that are there at once.

        To be called by the thread that adds.
        """
        record = self.lanes[lane]
        for step in record.steps:
            observer.add(step, self.text(step.token))
        record.observers.append(observer)

    def add(self, column: Column, token_text: TokenText) -> None:
        """Append a column's steps to their lanes."""
        for number, step, finish in zip(self._growing, column.steps, column.finishes, strict=True):
            if step:
                self._append(self.lanes[number], step, token_text)
                self.lanes[number].seconds = column.seconds
                self.lanes[number].finish = finish
        self.seconds = self.begin.seconds + column.seconds

    def trace(self) -> Trace:
        """Return what is there now, which then never changes. Its steps are views: none is copied.

        The vocabulary names the tokens of the prompt and of all steps, those that truncation cut
        as well, and protected tokens as in `blank_trace`.
        """
        # The lanes first: what they hold is named by now.
        lanes = tuple(
            replace(
                before,
                settings=lane.settings,
                steps=lane.steps.frozen(),
                finish=lane.finish,
                # Columns that nobody here can go on with end with the first new step.
                unknown=before.unknown if len(lane.steps) == len(before.steps) else {},
            )
            for lane, before in zip(self.lanes, self.begin.lanes, strict=True)
        )
        return replace(self.begin, lanes=lanes, vocabulary=dict(self.texts), seconds=self.seconds)

    def text(self, token: int) -> str:
        """Return a token's own text, or a sign for one that does not occur in this run."""
        return self.texts.get(token, f"<{token}>")

    @property
    def nbytes(self) -> int:
        """The memory that this run takes, in bytes, with what its observers hold."""
        now = (len(self.texts), *(len(lane.steps) for lane in self.lanes))
        if self._measured[0] != now:
            self._measured = now, size_of(vars(self))
        return self._measured[1]

    def _append(self, lane: LaneRecord, step: Step, token_text: TokenText) -> None:
        for token in token_ids((step,)):
            if token not in self.texts:
                self.texts[token] = token_text(token)
        for observer in lane.observers:
            observer.add(step, self.texts[step.token])
        lane.steps.append(step)


def _own(steps: Sequence[Step], *, grows: bool) -> Steps:
    """Return steps to append to; those of a lane that does not grow may be shared."""
    return steps if isinstance(steps, Steps) and not grows else Steps(steps)

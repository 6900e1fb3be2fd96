"""A run on show: it grows while it is decoded, and tells the page what is new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xtc_viz.decode import Column
from xtc_viz.errors import SettingsError
from xtc_viz.records.packed import Steps
from xtc_viz.records.trace import Branch, FinishReason, LaneTrace, ModelInfo, Step, Trace
from xtc_viz.runs.protected import Protection, described
from xtc_viz.runs.reasoning import begins_in_thought, ends_thought
from xtc_viz.runs.stats import LaneStats
from xtc_viz.settings import LaneSettings, RunSettings, XTCSettings
from xtc_viz.ui import payload, whatif

PROMPT_END = 32  # tokens that may hold a mark of a thought, spelled letter by letter

TokenText = Callable[[int], str]
TEXT_BYTES = 160  # of a token's text and its place in a dictionary


@dataclass(slots=True)
class LaneLog:
    """One lane as it grows.

    `begin` counts the steps that were there before this run's decode; `seconds` had passed in it
    at the last step.
    """

    settings: LaneSettings
    steps: Steps = field(default_factory=Steps)
    stats: LaneStats = field(default_factory=LaneStats)
    finish: FinishReason | None = None
    branch: Branch | None = None
    begin: int = 0
    seconds: float = 0.0

    def add(self, step: Step, token_text: TokenText, seconds: float = 0.0) -> None:
        # The statistics first: who sees a step in the list also sees it counted.
        self.stats.add(step, token_text(step.token))
        self.steps.append(step)
        self.seconds = seconds

    def rate(self) -> dict[str, float]:
        """Return the tokens a second of this decode, from its begin to the lane's last step."""
        written = len(self.steps) - self.begin
        return {"rate": round(written / self.seconds, 1)} if self.seconds and written else {}

    @classmethod
    def of(cls, lane: LaneTrace, token_text: TokenText, *, thinking: bool = False) -> LaneLog:
        log = cls(
            lane.settings,
            stats=LaneStats(thinking=thinking),
            finish=lane.finish,
            branch=lane.branch,
            begin=len(lane.steps),
        )
        for step in lane.steps:
            log.add(step, token_text)
        return log


class Run:
    """A run as the page sees it: the head, the lanes so far, and how it stands.

    Written by the thread that decodes, read by those that answer the page: lanes only grow. It
    holds the texts of all its tokens, and so needs no model to be looked at.
    """

    def __init__(
        self,
        *,
        model: ModelInfo,
        prompt: str,
        prompt_ids: Sequence[int],
        settings: RunSettings,
        lanes: Iterable[LaneTrace] = (),
        texts: dict[int, str] | None = None,
        system: str = "",
        chat: bool = False,
        seconds: float = 0.0,
    ) -> None:
        """`lanes` are what was written before, in `seconds`, where a run goes on or branches."""
        self.model = model
        self.prompt = prompt
        self.prompt_ids = tuple(prompt_ids)
        self.settings = settings
        self.system = system
        self.chat = chat
        self.texts = dict(texts or {})
        # Some chat templates open the thought that the lanes then write.
        self._end = "".join(self.texts.get(token, "") for token in self.prompt_ids[-PROMPT_END:])
        thinking = begins_in_thought(self._end)
        given = tuple(lanes) or tuple(LaneTrace(lane) for lane in settings.lanes)
        self.lanes = [LaneLog.of(lane, self.text, thinking=thinking) for lane in given]
        self.state = "starting"
        self.seconds = self._before = seconds

    @classmethod
    def of(cls, trace: Trace, state: str) -> Run:
        """Return a run that shows a trace."""
        run = cls(
            model=trace.model,
            prompt=trace.prompt,
            prompt_ids=trace.prompt_ids,
            settings=trace.settings,
            lanes=trace.lanes,
            texts=trace.vocabulary,
            system=trace.system,
            chat=trace.chat,
            seconds=trace.seconds,
        )
        for lane in run.lanes:
            lane.begin, lane.seconds = 0, trace.seconds
        run.state = state
        return run

    def trace(self) -> Trace:
        """Return what is there now as a trace; its steps are views."""
        return Trace(
            model=self.model,
            prompt=self.prompt,
            prompt_ids=self.prompt_ids,
            settings=replace(self.settings, lanes=tuple(log.settings for log in self.lanes)),
            lanes=tuple(
                LaneTrace(log.settings, log.steps.frozen(), log.finish, log.branch)
                for log in self.lanes
            ),
            vocabulary=dict(self.texts),
            system=self.system,
            chat=self.chat,
            seconds=self.seconds,
        )

    @property
    def nbytes(self) -> int:
        """About the memory that this run takes, in bytes."""
        steps = sum(lane.steps.nbytes for lane in self.lanes)
        return steps + TEXT_BYTES * len(self.texts) + 8 * len(self.prompt_ids) + len(self.prompt)

    @property
    def lengths(self) -> list[int]:
        return [len(lane.steps) for lane in self.lanes]

    def name(self, tokens: Iterable[int], token_text: TokenText) -> None:
        """Learn the texts of tokens that did not occur before."""
        for token in tokens:
            if token not in self.texts:
                self.texts[token] = token_text(token)

    def add(self, column: Column, lanes: Sequence[int], token_text: TokenText) -> None:
        """Append a column, whose steps belong to these lanes."""
        for lane, step, finish in zip(lanes, column.steps, column.finishes, strict=True):
            if step:
                self.name((*step.ids, *step.cut_ids), token_text)
                self.lanes[lane].add(step, self.text, column.seconds)
                self.lanes[lane].finish = finish
        self.seconds = self._before + column.seconds

    def head(self) -> dict[str, Any]:
        """Return what does not change while the run goes on."""
        return {
            "prompt": self.prompt,
            "pieces": [self.text(token) for token in self.prompt_ids],
            "system": self.system,
            "chat": self.chat,
            "seed": self.settings.seed,
            "length": self.settings.max_new_tokens,
            "shared": self.settings.shared_randomness,
            "stop": list(self.settings.stop),
            "thinking": not ends_thought(self._end),
            "protect": self.protection().to_dict(),
            "model": payload.model_line(self.model),
            "lanes": [
                {
                    "name": lane.settings.name,
                    "sampler": lane.settings.sampler.to_dict(),
                    "branch": [lane.branch.lane, lane.branch.position] if lane.branch else None,
                }
                for lane in self.lanes
            ],
        }

    def protection(self) -> Protection:
        """Return the choice of protected tokens behind the ids, which all lanes share."""
        ids = self.lanes[0].settings.sampler.xtc.protected
        return described(ids, self.model, self.texts)

    def text(self, token: int) -> str:
        return self.texts.get(token, f"<{token}>")

    def message(self, at: Sequence[int]) -> dict[str, Any]:
        """Return all that a page which has `at[lane]` steps of each lane does not have yet."""
        news = [lane.steps[have:] for lane, have in zip(self.lanes, at, strict=True)]
        return {
            "state": self.state,
            "at": list(at),
            "add": [[payload.chip(step, self.text) for step in steps] for steps in news],
            "stats": [lane.stats.values() | lane.rate() for lane in self.lanes],
            "finish": [lane.finish for lane in self.lanes],
            "seconds": round(self.seconds, 3),
        }

    def whole(self, run_id: str, at: Sequence[int] = ()) -> dict[str, Any]:
        """Return a message that can be understood without any before it."""
        start = at if len(at) == len(self.lanes) else [0] * len(self.lanes)
        return {"run": run_id, "head": self.head(), **self.message(start)}

    def block(
        self, lane: int, index: int, candidates: int, xtc: XTCSettings | None = None
    ) -> dict[str, Any]:
        """Return 64 steps of a lane for the inspector; with `xtc`, as it would have decided."""
        log = self.lanes[lane]
        first = payload.BLOCK * index
        steps, settings = log.steps[first : first + payload.BLOCK], log.settings
        if xtc:
            before = (*self.prompt_ids, *(step.token for step in log.steps[:first]))
            top = self.settings.top_candidates
            steps = whatif.steps_under(steps, log.settings, xtc, top, before)
            settings = whatif.with_xtc(settings, xtc)
        eos = frozenset(self.model.eos_ids)
        return payload.block(settings, steps, first, candidates, self.text, eos)

    def stages(self, lane: int, i: int, candidates: int) -> dict[str, Any]:
        """Return one step stage by stage. Raises `SettingsError` for a step that is not there."""
        log = self.lanes[lane]
        if not 0 <= i < len(log.steps):
            raise SettingsError("i", f"in [0, {len(log.steps)})", i)
        before = (*self.prompt_ids, *(step.token for step in log.steps[:i]))
        return payload.stage_view(log.steps[i], log.settings.sampler, before, candidates, self.text)

"""Runs on show: a bounded store in this process, and what the page is told about them.

A run's id cannot be guessed and is all that one needs to look at it; nobody is asked who they are.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xtc_viz.decode import Column
from xtc_viz.errors import XTCVizError
from xtc_viz.settings import LaneSettings, RunSettings
from xtc_viz.trace import Branch, FinishReason, ModelInfo, Step, Trace
from xtc_viz.ui import payload
from xtc_viz.ui.stats import LaneStats

MAX_STEPS = 60_000  # about 60 MB of steps with 100 candidates each
MAX_RUNS = 500
MAX_CANDIDATES = 100


class UnknownRunError(XTCVizError, KeyError):
    """A run that this server does not keep (any more)."""

    def __str__(self) -> str:
        return "This run is no longer kept on the server. Generate it again to look at its steps."


@dataclass(slots=True)
class LaneLog:
    """One lane as it grows."""

    settings: LaneSettings
    steps: list[Step] = field(default_factory=list)
    stats: LaneStats = field(default_factory=LaneStats)
    finish: FinishReason | None = None
    branch: Branch | None = None

    def add(self, step: Step) -> None:
        # The statistics first: who sees a step in the list also sees it counted.
        self.stats.add(step)
        self.steps.append(step)


class Run:
    """A run as the page sees it: the head, the lanes so far, and how it stands.

    Written by the thread that decodes, read by those that answer the page: lists only grow.
    """

    def __init__(
        self,
        *,
        model: ModelInfo,
        prompt: str,
        settings: RunSettings,
        token_text: Callable[[int], str],
        trace: Callable[[], Trace],
        prompt_ids: Sequence[int] = (),
        system: str = "",
        chat: bool = False,
    ) -> None:
        self.model = model
        self.prompt = prompt
        self.prompt_ids = tuple(prompt_ids)
        self.settings = settings
        self.system = system
        self.chat = chat
        self.token_text = token_text
        self.trace = trace
        self.lanes = [LaneLog(lane) for lane in settings.lanes]
        self.state = "starting"
        self.seconds = 0.0

    @classmethod
    def of(cls, trace: Trace, state: str) -> Run:
        """Return a run that shows a finished trace."""
        texts = trace.vocabulary
        run = cls(
            model=trace.model,
            prompt=trace.prompt,
            prompt_ids=trace.prompt_ids,
            settings=trace.settings,
            system=trace.system,
            chat=trace.chat,
            token_text=lambda token: texts.get(token, f"<{token}>"),
            trace=lambda: trace,
        )
        for log, lane in zip(run.lanes, trace.lanes, strict=True):
            log.settings, log.finish, log.branch = lane.settings, lane.finish, lane.branch
            for step in lane.steps:
                log.add(step)
        run.state, run.seconds = state, trace.seconds
        return run

    @property
    def size(self) -> int:
        return sum(len(lane.steps) for lane in self.lanes)

    def add(self, column: Column) -> None:
        for lane, step, finish in zip(self.lanes, column.steps, column.finishes, strict=True):
            if step:
                lane.add(step)
                lane.finish = finish
        self.seconds = column.seconds

    def head(self) -> dict[str, Any]:
        """Return what does not change while the run goes on."""
        return {
            "prompt": self.prompt,
            "pieces": [self.token_text(token) for token in self.prompt_ids],
            "system": self.system,
            "chat": self.chat,
            "seed": self.settings.seed,
            "length": self.settings.max_new_tokens,
            "shared": self.settings.shared_randomness,
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

    def message(self, at: Sequence[int]) -> dict[str, Any]:
        """Return all that a page which has `at[lane]` steps of each lane does not have yet."""
        news = [lane.steps[have:] for lane, have in zip(self.lanes, at, strict=True)]
        return {
            "state": self.state,
            "at": list(at),
            "add": [[payload.chip(step, self.token_text) for step in steps] for steps in news],
            "stats": [lane.stats.values() | self._rate(lane) for lane in self.lanes],
            "finish": [lane.finish for lane in self.lanes],
            "seconds": round(self.seconds, 3),
        }

    def whole(self, run_id: str, at: Sequence[int] = ()) -> dict[str, Any]:
        """Return a message that can be understood without any before it."""
        start = at if len(at) == len(self.lanes) else [0] * len(self.lanes)
        return {"run": run_id, "head": self.head(), **self.message(start)}

    def block(self, lane: int, index: int, candidates: int) -> dict[str, Any]:
        """Return 64 steps of a lane for the inspector."""
        log = self.lanes[lane]
        eos = frozenset(self.model.eos_ids)
        return payload.block(log.settings, log.steps, index, candidates, self.token_text, eos)

    def _rate(self, lane: LaneLog) -> dict[str, float]:
        return {"rate": round(len(lane.steps) / self.seconds, 1)} if self.seconds else {}


class RunStore:
    """The latest runs by id. The oldest are dropped when their steps become too many.

    Safe to use from many threads. Kept runs (`keep=True`) are never dropped and do not count.
    """

    def __init__(self, max_steps: int = MAX_STEPS, max_runs: int = MAX_RUNS) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._kept: dict[str, Run] = {}
        self._lock = threading.Lock()
        self._max_steps = max_steps
        self._max_runs = max_runs

    @staticmethod
    def reserve() -> str:
        """Return a fresh id for a run to come."""
        return secrets.token_urlsafe(16)

    def add(self, run: Run, run_id: str | None = None, *, keep: bool = False) -> str:
        """Take a run in and return its id."""
        key = run_id or self.reserve()
        with self._lock:
            if keep:
                self._kept[key] = run
            else:
                self._runs[key] = run
                self._shrink(key)
        return key

    def get(self, run_id: object) -> Run:
        """Return a run. Raises `UnknownRunError`."""
        with self._lock:
            if isinstance(run_id, str):
                if run_id in self._kept:
                    return self._kept[run_id]
                if run_id in self._runs:
                    self._runs.move_to_end(run_id)
                    self._shrink(run_id)
                    return self._runs[run_id]
        raise UnknownRunError

    def __len__(self) -> int:
        return len(self._runs) + len(self._kept)

    def _shrink(self, newest: str) -> None:
        total = sum(run.size for run in self._runs.values())
        for key in list(self._runs):
            if key == newest or (total <= self._max_steps and len(self._runs) <= self._max_runs):
                return
            total -= self._runs.pop(key).size

"""A run on show: the messages, blocks and stages that the page draws it from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xtc_viz.errors import SettingsError, Words
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.records.step import Step
from xtc_viz.records.trace import Trace
from xtc_viz.runs.chain import chains_of
from xtc_viz.runs.explained import rolls
from xtc_viz.runs.protection import Protection, described
from xtc_viz.runs.reasoning import begins_in_thought, ends_thought, prompt_end
from xtc_viz.runs.recorder import LaneRecord, Recorder
from xtc_viz.runs.stats import LaneStats
from xtc_viz.settings import RunSettings, SamplerSettings, XTCSettings
from xtc_viz.ui import engineview, payload, whatif


class Run:
    """A run as the page sees it: the record of it, its numbers lane by lane, and how it stands.

    It may be looked at while another thread writes the record.
    """

    def __init__(self, recorder: Recorder, state: str) -> None:
        """To be made by the thread that writes."""
        self.recorder = recorder
        self.state = state
        # Some chat templates open the thought that the lanes then write.
        self._prompt_end = prompt_end(recorder.begin)
        thinking = begins_in_thought(self._prompt_end)
        self.stats = tuple(LaneStats(thinking=thinking) for _ in recorder.lanes)
        for lane, stats in enumerate(self.stats):
            recorder.observe(lane, stats)

    @classmethod
    def of(cls, trace: Trace, state: str) -> Run:
        """Return a run that shows a trace."""
        return cls(Recorder.of(trace), state)

    @property
    def model(self) -> ModelInfo:
        return self.recorder.begin.model

    @property
    def settings(self) -> RunSettings:
        return self.recorder.begin.settings

    @property
    def lanes(self) -> tuple[LaneRecord, ...]:
        return self.recorder.lanes

    @property
    def nbytes(self) -> int:
        """The memory that this run takes, in bytes."""
        return self.recorder.nbytes

    @property
    def lengths(self) -> list[int]:
        return [len(lane.steps) for lane in self.lanes]

    def trace(self) -> Trace:
        """Return what is there now as a trace; its steps are views."""
        return self.recorder.trace()

    def head(self) -> dict[str, Any]:
        """Return what does not change while the run goes on."""
        begin, settings = self.recorder.begin, self.settings
        return {
            "prompt": begin.prompt,
            "pieces": [self.recorder.text(token) for token in begin.prompt_ids],
            "system": begin.system,
            "chat": begin.chat,
            "seed": settings.seed,
            "length": settings.max_new_tokens,
            "shared": settings.shared_randomness,
            "server": settings.server_draws,
            "stop": list(settings.stop),
            "thinking": not ends_thought(self._prompt_end),
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
        return described(ids, self.model, self.recorder.texts)

    def message(self, at: Sequence[int]) -> dict[str, Any]:
        """Return all that a page which has `at[lane]` steps of each lane does not have yet."""
        news = [lane.steps[have:] for lane, have in zip(self.lanes, at, strict=True)]
        text = self.recorder.text
        return {
            "state": self.state,
            "at": list(at),
            "add": [[payload.chip(step, text) for step in steps] for steps in news],
            "stats": [
                stats.values() | _rate(lane)
                for lane, stats in zip(self.lanes, self.stats, strict=True)
            ],
            "finish": [lane.finish for lane in self.lanes],
            "seconds": round(self.recorder.seconds, 3),
        }

    def whole(self, run_id: str, at: Sequence[int] = ()) -> dict[str, Any]:
        """Return a message that can be understood without any before it."""
        start = at if len(at) == len(self.lanes) else [0] * len(self.lanes)
        return {"run": run_id, "head": self.head(), **self.message(start)}

    def block(
        self, lane: int, index: int, candidates: int, xtc: XTCSettings | None = None
    ) -> dict[str, Any]:
        """Return 64 steps of a lane for the inspector; with `xtc`, as it would have decided."""
        record = self.lanes[lane]
        first = payload.BLOCK * index
        steps, settings = record.steps[first : first + payload.BLOCK], record.settings
        if xtc:
            top = self.settings.top_candidates
            steps = whatif.steps_under(steps, settings, xtc, top, self._context(lane, first))
            settings = whatif.with_xtc(settings, xtc)
        eos = frozenset(self.model.eos_ids)
        return payload.block(settings, steps, first, candidates, self.recorder.text, eos)

    def stages(self, lane: int, i: int, candidates: int) -> dict[str, Any]:
        """Return one step stage by stage. Raises `SettingsError` for a step that is not there."""
        record = self._step_of(lane, i)
        step, sampler, context = record.steps[i], record.settings.sampler, self._context(lane, i)
        return payload.stage_view(step, sampler, context, candidates, self.recorder.text)

    def engines(self, lane: int, i: int, xtc: XTCSettings | None = None) -> dict[str, Any]:
        """Return what each engine leaves of a step. Raises `SettingsError` where it is not there.

        With `xtc` it is held against what these settings leave.
        """
        return engineview.of_step(*self._asked(lane, i, xtc), self.recorder.text)

    def engine_stages(
        self, lane: int, i: int, engine: object, xtc: XTCSettings | None = None
    ) -> dict[str, Any]:
        """Return one step stage by stage in an engine's own order. Raises `SettingsError`."""
        return engineview.stages_of_step(*self._asked(lane, i, xtc), engine, self.recorder.text)

    def _asked(
        self, lane: int, i: int, xtc: XTCSettings | None
    ) -> tuple[Step, SamplerSettings, tuple[int, ...], int]:
        record = self._step_of(lane, i)
        settings = whatif.with_xtc(record.settings, xtc) if xtc else record.settings
        top = self.settings.top_candidates
        return record.steps[i], settings.sampler, self._context(lane, i), top

    def _step_of(self, lane: int, i: int) -> LaneRecord:
        record = self.lanes[lane]
        if not 0 <= i < len(record.steps):
            raise SettingsError("i", f"in [0, {len(record.steps)})", i)
        return record

    def dice(self, lane: int) -> dict[str, Any]:
        """Return the numbers that the server drew a lane with. Raises `SettingsError` for a run
        that no server drew."""
        if not self.settings.server_draws:
            raise SettingsError("run", "one that its server drew", Words("drawn here"))
        chain, steps = chains_of(self.settings)[lane], list(self.lanes[lane].steps)
        text = self.recorder.text
        numbered = zip(steps, rolls(steps, chain), strict=True)
        return {"rho": chain.xtc.rho, "rows": [payload.dice_row(*pair, text) for pair in numbered]}

    def _context(self, lane: int, i: int) -> tuple[int, ...]:
        """Return the tokens before a step, the prompt's included."""
        written = (step.token for step in self.lanes[lane].steps[:i])
        return (*self.recorder.begin.prompt_ids, *written)


def _rate(lane: LaneRecord) -> dict[str, float]:
    rate = lane.rate
    return {} if rate is None else {"rate": round(rate, 1)}

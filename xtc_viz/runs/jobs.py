"""What a press of a button asks the decoder for: a fresh run, more of one, or a branch of one."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from xtc_viz.decode import Column, decode_lanes, lane_source
from xtc_viz.errors import SettingsError
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.trace import FinishReason, ModelInfo, Trace
from xtc_viz.runs.branching import branch as grow
from xtc_viz.runs.protected import worth_naming
from xtc_viz.runs.worker import Decode
from xtc_viz.settings import RunSettings
from xtc_viz.ui import controls
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore


@dataclass(frozen=True, slots=True)
class Job:
    """A run to fill, and the lanes of it that are to be decoded with what they hold already."""

    run: Run
    lanes: tuple[int, ...]
    settings: RunSettings

    def columns(
        self, model: LanguageModel, decode: Decode = decode_lanes
    ) -> Generator[Column, None, None]:
        """Decode. Closing this generator closes the decode."""
        prefixes = [[step.token for step in self.run.lanes[k].steps] for k in self.lanes]
        sources = [lane_source(self.settings, self._root(k)) for k in self.lanes]
        columns = decode(
            model, self.run.prompt_ids, self.settings, prefixes=prefixes, sources=sources
        )
        with closing(columns):
            yield from columns

    def _root(self, lane: int) -> int:
        """The lane that a branch grew from in the end: a branch goes on with its dice."""
        while branch := self.run.lanes[lane].branch:
            lane = branch.lane
        return lane


def prepare(
    data: Mapping[str, Any],
    store: RunStore,
    model: LanguageModel,
    limits: Limits = NO_LIMITS,
) -> Job:
    """Return the job that the page asked for. Raises what is wrong with it."""
    kind = data.get("kind", "run")
    if kind == "run":
        return fresh(controls.parse(data, limits), model)
    if kind not in ("continue", "branch"):
        raise SettingsError("kind", "run, continue or branch", kind)
    former = store.get(data.get("run")).trace()
    if weights(former.model) != weights(model.info):
        raise SettingsError("run", f"one of the model {model.info.name}", former.model.name)
    _check_prompt(former, limits)
    if kind == "continue":
        limits.check_lanes(len(former.lanes))
        more = limits.length.check(data.get("more"))
        return resume(former, int(more), model, limits)
    limits.check_lanes(len(former.lanes) + 1)
    lane, i, token = (controls.whole(name, data.get(name)) for name in ("lane", "i", "token"))
    return fork(former, lane, i, token, model, limits)


def _check_prompt(former: Trace, limits: Limits) -> None:
    """A run from a file may hold what nobody could have typed here."""
    # A token has at least one byte, a character at most four.
    characters = max(len(former.prompt), len(former.prompt_ids) // 4)
    if characters > limits.prompt:
        bounds = f"a text of at most {limits.prompt:,} characters"
        raise SettingsError("prompt", bounds, f"{characters:,} characters")


def weights(info: ModelInfo) -> tuple[object, ...]:
    """What makes two models the same for a text that goes on; device and dtype may differ."""
    return info.name, info.revision, info.parameters, info.vocab_size


def fresh(request: controls.Request, model: LanguageModel) -> Job:
    """A run from the prompt on."""
    settings = request.guarded(model)
    prompt_ids = request.encode(model)
    guarded = worth_naming(settings.lanes[0].sampler.xtc.protected, model.info)
    run = Run(
        model=model.info,
        prompt=request.prompt,
        prompt_ids=prompt_ids,
        settings=settings,
        texts={token: model.token_text(token) for token in (*prompt_ids, *guarded)},
        system=request.system,
        chat=request.chat,
    )
    return Job(run, tuple(range(len(settings.lanes))), settings)


def resume(former: Trace, more: int, model: LanguageModel, limits: Limits = NO_LIMITS) -> Job:
    """The same run with more tokens in every lane that has not come to its end or its limit."""
    ended = (FinishReason.EOS, FinishReason.STOP)
    going = [k for k, lane in enumerate(former.lanes) if lane.finish not in ended]
    if not going:
        raise SettingsError("lanes", "not all at their end to go on", "ended")
    left = {k: limits.left(len(former.lanes[k].steps)) for k in going}
    lanes = tuple(k for k in going if left[k])
    if not lanes:
        longest = max(len(lane.steps) for lane in former.lanes)
        raise SettingsError("lanes", f"below {limits.max_tokens} tokens to go on", longest)
    length = int(min(more, *(left[k] for k in lanes)))
    return _job(former, former.lanes, lanes, length, model)


def fork(
    former: Trace,
    lane: int,
    position: int,
    token: int,
    model: LanguageModel,
    limits: Limits = NO_LIMITS,
) -> Job:
    """The same run with one lane more: a branch that took another token at `position`."""
    twig = grow(model, former, lane, position, token)
    written = len(twig.steps)
    if limits.left(written - 1) < 1:
        raise SettingsError("i", f"below {limits.max_tokens} on this server", position)
    length = int(min(max(1, former.settings.max_new_tokens - written), limits.left(written)))
    lanes = (*former.lanes, twig)
    if not length:
        lanes = (*former.lanes, replace(twig, finish=twig.finish or FinishReason.LENGTH))
    new = () if twig.finish or not length else (len(former.lanes),)
    return _job(former, lanes, new, max(1, length), model)


def _job(
    former: Trace, lanes: Sequence[Any], new: tuple[int, ...], length: int, model: LanguageModel
) -> Job:
    every = replace(former.settings, lanes=tuple(lane.settings for lane in lanes))
    run = Run(
        model=former.model,
        prompt=former.prompt,
        prompt_ids=former.prompt_ids,
        settings=every,
        lanes=lanes,
        texts=former.vocabulary,
        system=former.system,
        chat=former.chat,
        seconds=former.seconds,
    )
    for lane in run.lanes:
        run.name((step.token for step in lane.steps), model.token_text)
    for k in new:
        run.lanes[k].finish = None
    chosen = tuple(lanes[k].settings for k in new) or every.lanes[:1]
    return Job(run, new, replace(every, lanes=chosen, max_new_tokens=length))

"""What is to be decoded: a fresh run, more of one, a branch of one, or an edited one."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from xtc_viz.decode import Column, decode_lanes
from xtc_viz.errors import SettingsError, Words
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.records.trace import FinishReason, LaneTrace, Trace
from xtc_viz.runs.branching import branch, check_tokens, text_at
from xtc_viz.runs.editing import check_change, shortened, standing
from xtc_viz.runs.recorder import blank_trace
from xtc_viz.runs.request import Request
from xtc_viz.runs.served import drawn_lanes
from xtc_viz.runs.worker import Decode
from xtc_viz.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Job:
    """A run so far, and those of its lanes that are to be decoded, with what they hold already.

    `settings` are the decoder's: the growing lanes alone, and how many tokens are new. The first of
    these are `forced`, for each of the growing lanes.
    """

    begin: Trace
    lanes: tuple[int, ...]
    settings: RunSettings
    forced: tuple[tuple[int, ...], ...] = ()

    def columns(
        self, model: LanguageModel, decode: Decode = decode_lanes
    ) -> Generator[Column, None, None]:
        """Decode; without a lane to grow there are no columns.

        Closing this generator closes the decode. Raises `SettingsError` for another model than the
        one that wrote the run.
        """
        if not self.lanes:
            return
        check_writer(self.begin, model)
        if self.settings.server_draws:
            with closing(drawn_lanes(model, self.begin.prompt_ids, self.settings)) as columns:
                yield from columns
            return
        prefixes = [[step.token for step in self.begin.lanes[k].steps] for k in self.lanes]
        sources = [self.settings.source(self._root(k)) for k in self.lanes]
        columns = decode(
            model,
            self.begin.prompt_ids,
            self.settings,
            prefixes=prefixes,
            sources=sources,
            forced=self.forced,
        )
        with closing(columns):
            yield from columns

    def _root(self, lane: int) -> int:
        """The lane that a branch grew from in the end: a branch goes on with its dice."""
        while parent := self.begin.lanes[lane].branch:
            lane = parent.lane
        return lane


def weights(info: ModelInfo) -> tuple[object, ...]:
    """What makes two models the same for a text that goes on; device and dtype may differ."""
    return info.name, info.revision, info.parameters, info.vocab_size


def check_writer(trace: Trace, model: LanguageModel) -> None:
    """Raise `SettingsError` if another model wrote the run than the one that is to go on."""
    if weights(trace.model) != weights(model.info):
        raise SettingsError("run", f"one of the model {model.info.name}", trace.model.name)


def fresh(request: Request, model: LanguageModel) -> Job:
    """Return a run from the prompt on."""
    settings = request.guarded(model)
    begin = blank_trace(
        model,
        request.prompt,
        request.encode(model),
        settings,
        system=request.system,
        chat=request.chat,
    )
    return Job(begin, tuple(range(len(settings.lanes))), settings)


def resume(former: Trace, more: int, longest: int | None = None, lane: int | None = None) -> Job:
    """Return the same run with `more` tokens in every lane that has not come to its end, or in
    one `lane` alone.

    A lane has at most `longest` tokens, and all lanes get as many more as the longest of them may.

    Raises:
        SettingsError: there is no such lane, or no lane can go on.
    """
    if lane is not None and not 0 <= lane < len(former.lanes):
        raise SettingsError("lane", f"in [0, {len(former.lanes)})", lane)
    wanted = range(len(former.lanes)) if lane is None else (lane,)
    ended = (FinishReason.EOS, FinishReason.STOP, FinishReason.CONTEXT)
    going = [k for k in wanted if former.lanes[k].finish not in ended]
    if not going:
        raise SettingsError("lanes", "not all at their end to go on", Words("ended"))
    room = {k: _room(len(former.lanes[k].steps), longest) for k in going}
    lanes = tuple(k for k in going if room[k])
    if not lanes:
        written = max(len(former.lanes[k].steps) for k in going)
        raise SettingsError("lanes", f"below {longest} tokens to go on", written)
    length = int(min(more, *(room[k] for k in lanes)))
    return _job(former, former.lanes, lanes, length)


def fork(
    former: Trace,
    lane: int,
    position: int,
    tokens: int | str | Sequence[int],
    model: LanguageModel,
    longest: int | None = None,
) -> Job:
    """Return the same run with one lane more: a branch that has other `tokens` from `position` on.

    These are a token id, several, or a text (`branching.text_at`). The branch takes them one after
    another, becomes as long as the run was asked to be, and has at most `longest` tokens.

    Raises:
        SettingsError: there is no such place, or they cannot stand there (`check_tokens`).
    """
    twig = branch(former, lane, position)
    if isinstance(tokens, str):
        tokens = text_at(model, former, lane, position, tokens)
    forced = (tokens,) if isinstance(tokens, int) else tuple(tokens)
    context = model.info.context_length - len(former.prompt_ids)
    room = int(min(_room(position, longest), context - position))
    if room < 1:
        raise SettingsError("position", f"below {position + room} to have room", position)
    check_tokens(forced, model, room)
    length = min(max(len(forced), former.settings.max_new_tokens - position), room)
    lanes = (*former.lanes, twig)
    return replace(_job(former, lanes, (len(former.lanes),), length), forced=(forced,))


def rewrite(
    former: Trace,
    lane: int,
    text: str,
    more: int,
    model: LanguageModel,
    longest: int | None = None,
) -> Job:
    """Return the same run with `text` in one of its lanes, as somebody edited it, and up to `more`
    tokens after that.

    What stands of the lane stays as it was written (`editing.standing`); it takes the tokens of the
    rest one after another, and has at most `longest` tokens.

    Raises:
        SettingsError: there is no such lane, or its text was not changed, or cannot stand there.
    """
    if not 0 <= lane < len(former.lanes):
        raise SettingsError("lane", f"in [0, {len(former.lanes)})", lane)
    count, rest = standing(former.lanes[lane].steps, text)
    check_change(rest)
    tokens = tuple(text_at(model, former, lane, count, rest))
    context = model.info.context_length - len(former.prompt_ids)
    room = int(min(_room(count, longest), context - count))
    check_tokens(tokens, model, room)
    length = min(len(tokens) + more, room)
    job = _job(former, shortened(former.lanes, lane, count), (lane,), length)
    return replace(job, forced=(tokens,))


def _room(tokens: int, longest: int | None) -> float:
    """How many tokens a lane that has so many may still get."""
    return math.inf if longest is None else max(0, longest - tokens)


def _job(former: Trace, lanes: Sequence[LaneTrace], growing: tuple[int, ...], length: int) -> Job:
    """Return the job that writes up to `length` tokens in each of the lanes that grow."""
    if former.settings.server_draws:
        bounds = "one that was drawn here: nobody can take up a server's dice in the middle"
        raise SettingsError("run", bounds, Words("drawn by its server"))
    every = replace(former.settings, lanes=tuple(lane.settings for lane in lanes))
    begin = replace(
        former,
        settings=every,
        lanes=tuple(
            replace(lane, finish=None) if k in growing else lane for k, lane in enumerate(lanes)
        ),
    )
    chosen = tuple(lanes[k].settings for k in growing) or every.lanes[:1]
    return Job(begin, growing, replace(every, lanes=chosen, max_new_tokens=length))

"""The decoder: prefill once, one forward a step for all rows, a generator of what they drew.

Rows are what is decoded together: each has its own prompt, settings, random numbers and end, and
none can tell who is beside it.

On a GPU a step makes the host wait once, for one copy of all rows' logits. What follows is done on
the CPU, the same to the last bit whatever device the forward ran on: two rows at V = 151,936 take
0.8 to 1.2 ms there, and 0.3 ms for the noise, which is made while the forward runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch

from xtc_viz.errors import DistributionError, PromptError, SettingsError, XTCVizError
from xtc_viz.knobs import KNOBS
from xtc_viz.models.base import CostsByRow, Generation, LanguageModel, Logits, RowLogits
from xtc_viz.models.prompts import check_prompts
from xtc_viz.records.step import Step
from xtc_viz.records.trace import FinishReason
from xtc_viz.rowtext import RowText
from xtc_viz.sampling.distribution import PartialLogits
from xtc_viz.sampling.randomness import Noise, SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.settings import SamplerSettings

Draws = Callable[[SharedRandomness, int], tuple[float, Noise]]
"""A source and a step to that step's coin and noise."""

_FEW = 4
"""So many rows cost what one does (`layers.linear`): a batch of these is not made smaller."""


@dataclass(frozen=True, slots=True)
class Row:
    """One text to write.

    It goes on after `prompt_ids` and the tokens that the row has `written` already (where it
    continues a lane or branches from one), and its random numbers, which are those of `source`
    (`randomness`), go on where they were. Its first new tokens are those of `forced`, each a step
    like any other but for the draw, whose random numbers go unused. It ends at an end-of-sequence
    token, after `max_new_tokens` new ones, when its new text contains one of `stop`, or where the
    model's context does. `top_candidates` tokens are recorded at every step. Errors call it by its
    `name`.
    """

    prompt_ids: Sequence[int]
    sampler: SamplerSettings
    seed: int = int(KNOBS["seed"].default)
    source: int = 0
    max_new_tokens: int = int(KNOBS["max_new_tokens"].default)
    stop: tuple[str, ...] = ()
    written: Sequence[int] = ()
    forced: Sequence[int] = ()
    top_candidates: int = int(KNOBS["top_candidates"].default)
    name: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name in KNOBS:
                value = KNOBS[field.name].check(getattr(self, field.name))
                object.__setattr__(self, field.name, value)
        for name in ("prompt_ids", "stop", "written", "forced"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


class RowStep(NamedTuple):
    """One step of one row, whose number says where it stood in `rows`, from 0.

    `finish` says why the row ended with this very step. A row that cannot start, or whose logits
    are no distribution, ends with an `error` in place of a step.
    """

    row: int
    step: Step | None
    finish: FinishReason | None = None
    error: XTCVizError | None = None


class Round(NamedTuple):
    """What one forward gave: a prefill the first step of new rows, any other that of all rows.

    `seconds` have passed since the decode began.
    """

    steps: tuple[RowStep, ...]
    seconds: float


def decode_rows(
    model: LanguageModel, rows: Iterable[Row], *, at_once: int = 16
) -> Generator[Round, None, None]:
    """Decode rows, up to `at_once` side by side, one round a forward.

    A row that has ended makes room for the next one at once; only then is that one taken from
    `rows`, which may be any iterable. Where the model's generations take no rows while they run
    (`Generation.accepts_rows`), a batch is decoded to its end before the next one starts.

    A row draws the tokens that it draws alone. What differs is the arithmetic of the forward
    itself, in which a batch may round differently than a single row (about 1e-6 in float32): only
    a tie that close can fall differently.

    A row that cannot start (its prompt is empty, or too long for the context) or whose logits are
    no distribution ends with an error in its `RowStep`; the others go on. Errors of the forward
    itself, such as memory that runs out, are raised, and end all rows.

    Closing the generator at any round frees the model's cache.
    """
    if at_once < 1:
        raise SettingsError("at_once", "at least 1", at_once)
    begin = perf_counter()
    waiting = enumerate(rows)
    # Made once a step for all rows that share them.
    vocab_size = model.info.vocab_size
    draws = lru_cache(at_once)(
        lambda source, step: (source.coin(step), source.noise(step, vocab_size))
    )

    def a_round(steps: Iterable[RowStep]) -> Round:
        return Round(tuple(steps), perf_counter() - begin)

    generation: Generation | None = None
    places: list[_Writer] = []
    try:
        while True:
            free = [place for place, writer in enumerate(places) if writer.ended]
            going = len(places) - len(free)
            fresh: list[_Writer] = []
            if not going or (generation and generation.accepts_rows):
                fresh, refused = _next_writers(model, waiting, at_once - going)
                if refused:
                    yield a_round(refused)
            if not going and not fresh:
                return
            if generation is None or not going:
                if generation:
                    generation.close()
                places = fresh
                generation = model.start([writer.prompt for writer in fresh])
                logits: Logits = generation.logits
            else:
                if generation.accepts_rows and free:
                    free, places = _shrink(generation, places, free, len(fresh))
                if fresh:
                    taken = free[: len(fresh)]
                    logits = generation.replace(taken, [writer.prompt for writer in fresh])
                    for place, writer in zip(taken, fresh, strict=True):
                        places[place] = writer
            if fresh:
                yield a_round(_write(fresh, logits, draws))
                if any(writer.ended for writer in fresh):
                    continue
            # A row that has ended rides along on its last token; nobody looks at its logits.
            logits = generation.advance([writer.last_token for writer in places])
            yield a_round(_write(places, logits, draws))
    finally:
        if generation:
            generation.close()


def _next_writers(
    model: LanguageModel, waiting: Iterator[tuple[int, Row]], count: int
) -> tuple[list[_Writer], list[RowStep]]:
    """Take `count` rows that can start, or all there are, and the errors of those that cannot."""
    writers: list[_Writer] = []
    refused = []
    while len(writers) < count and (entry := next(waiting, None)):
        number, row = entry
        try:
            writers.append(_Writer(model, row, number))
        except PromptError as error:
            refused.append(RowStep(number, None, error=error))
    return writers, refused


def _shrink(
    generation: Generation, places: list[_Writer], free: list[int], wanted: int
) -> tuple[list[int], list[_Writer]]:
    """Give up places that nobody waits for, once they are many; return what is free, and all."""
    idle = free[wanted:]
    costly = isinstance(generation, CostsByRow)
    if not idle or (not costly and (len(places) <= _FEW or 4 * len(idle) < len(places))):
        return free, places
    kept = [place for place in range(len(places)) if place not in idle]
    generation.keep(kept)
    return [kept.index(place) for place in free[:wanted]], [places[place] for place in kept]


def _write(writers: Sequence[_Writer], logits: Logits, draws: Draws) -> list[RowStep]:
    """Let each writer that goes on take its step; the logits' rows are theirs, in this order."""
    for writer in writers:
        # While a GPU is still busy with the logits.
        writer.prepare(draws)
    rows = zip(writers, _on_host(logits), strict=True)
    return [writer.step(row, draws) for writer, row in rows if not writer.ended]


def _on_host(logits: Logits) -> Logits:
    """Return the logits of all rows in float32 on the CPU; what is no tensor is there already."""
    if not isinstance(logits, torch.Tensor):
        return logits
    if logits.device.type != "cuda":
        return logits.to(device="cpu", dtype=torch.float32)
    # Pinned memory, which torch keeps for the next step: several times faster than any other.
    host = torch.empty(logits.shape, dtype=torch.float32, pin_memory=True)
    return host.copy_(logits.float())


class _Writer:
    """One row while it is being decoded."""

    def __init__(self, model: LanguageModel, row: Row, number: int) -> None:
        """Raises `PromptError`, which names the row, where the model cannot take its prompt."""
        self._number = number
        self._name = row.name or f"row {number}"
        self.prompt = [*row.prompt_ids, *row.written]
        try:
            check_prompts([self.prompt], model.info)
        except PromptError as error:
            raise PromptError(f"{self._name}: {error}") from error
        self._stack = SamplerStack(row.sampler, row.top_candidates)
        self._randomness = SharedRandomness(row.seed, row.source)
        self._forced = iter(row.forced)
        self._text = RowText(model, self.prompt, row.max_new_tokens, row.stop)
        self._context = np.empty(len(self.prompt) + self._text.room, np.int64)
        self._context[: len(self.prompt)] = self.prompt
        self._length = len(self.prompt)
        self._position = len(row.written)
        self.last_token = self.prompt[-1]
        self.ended = False

    def prepare(self, draws: Draws) -> None:
        """Make the random numbers of the next step, which do not depend on its logits."""
        if not self.ended:
            draws(self._randomness, self._position)

    def step(self, logits: RowLogits, draws: Draws) -> RowStep:
        """Draw the next token from this row's logits, (V,) in float32, or from what is known."""
        coin, noise = draws(self._randomness, self._position)
        try:
            context, forced = self._context[: self._length], next(self._forced, None)
            step = self._stack.run(torch.from_numpy(context), logits, coin, noise, forced)
            while isinstance(logits, PartialLogits) and logits.wider:
                if not self._stack.wants_more(step):
                    break
                logits = logits.wider()
                step = self._stack.run(torch.from_numpy(context), logits, coin, noise, forced)
        except DistributionError as error:
            self.ended = True
            named = DistributionError(f"{self._name}, step {self._position}: {error}")
            named.__cause__ = error
            return RowStep(self._number, None, error=named)
        self.last_token = step.token
        self._context[self._length] = step.token
        self._length += 1
        self._position += 1
        text, finish = self._text.add(step.token)
        self.ended = finish is not None
        return RowStep(self._number, replace(step, text=text), finish)

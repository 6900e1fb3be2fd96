"""The decoder: prefill once, one forward a step for all lanes, a generator of columns.

On a GPU a step makes the host wait once, for one copy of all lanes' logits. What follows is done on
the CPU, the same to the last bit whatever device the forward ran on: two lanes at V = 151,936 take
0.8 to 1.2 ms there, and 0.3 ms for the noise, which is made while the forward runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import lru_cache
from time import perf_counter
from typing import NamedTuple

import torch

from xtc_viz.errors import DistributionError, SettingsError
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.trace import FinishReason, Step
from xtc_viz.sampling.randomness import Noise, SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.settings import MAX_LANES, LaneSettings, RunSettings

Draws = Callable[[SharedRandomness, int], tuple[float, Noise]]
"""A source and a step to that step's coin and noise."""


class Column(NamedTuple):
    """One step of all lanes.

    `position` counts the columns of this decode from 0. `steps` holds one step a lane, None for a
    lane that had ended before; `finishes` says why a lane ended with this very step. `seconds`
    have passed since the decode began, prefill included.
    """

    position: int
    steps: tuple[Step | None, ...]
    finishes: tuple[FinishReason | None, ...]
    seconds: float


def decode_lanes(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    settings: RunSettings,
    *,
    prefixes: Sequence[Sequence[int]] = (),
    sources: Sequence[int] = (),
) -> Generator[Column, None, None]:
    """Decode all lanes of a run side by side, one column a step.

    `prefixes` holds for each lane the tokens that it has already written, to continue a lane or
    to branch from one; its random numbers go on where they were. `sources` says whose numbers each
    lane draws (`randomness`), where that is not what `shared_randomness` says. `max_new_tokens`
    counts new tokens only; a lane also ends where the model's context does.

    Closing the generator at any step frees the model's cache. Each lane looks at its own row of
    logits and at random numbers that depend on the seed and its position alone, never on the
    other lanes. What is left is the arithmetic of the forward itself, in which a batch may round
    differently than a single row (about 1e-6 in float32): only a tie that close can fall
    differently.

    Raises:
        PromptError: the prompt is empty or leaves no room in the context.
        DistributionError: the model gave logits that are no distribution.
    """
    count = len(settings.lanes)
    for name, given in (("prefixes", prefixes), ("sources", sources)):
        if given and len(given) != count:
            raise SettingsError(name, f"one a lane ({count})", len(given))
    begin = perf_counter()
    written = prefixes or [()] * count
    sources = sources or [lane_source(settings, number) for number in range(count)]
    prompts = [[*prompt_ids, *prefix] for prefix in written]
    generation = model.start(prompts)
    try:
        lanes = [
            _Lane(model, lane, settings, source, prompt, len(prefix))
            for lane, source, prompt, prefix in zip(
                settings.lanes, sources, prompts, written, strict=True
            )
        ]
        vocab_size = generation.logits.shape[-1]
        # Made once a step for all lanes that share them.
        draws = lru_cache(MAX_LANES)(
            lambda source, step: (source.coin(step), source.noise(step, vocab_size))
        )
        position = 0
        while True:
            for lane in lanes:
                # While a GPU is still busy with the logits.
                lane.prepare(draws)
            logits = _on_host(generation.logits)
            steps = tuple(
                None if lane.finish else lane.step(row, draws)
                for lane, row in zip(lanes, logits, strict=True)
            )
            finishes = tuple(
                lane.finish if step else None for lane, step in zip(lanes, steps, strict=True)
            )
            yield Column(position, steps, finishes, perf_counter() - begin)
            if all(lane.finish for lane in lanes):
                return
            # A lane that has ended rides along on its last token; nobody looks at its row.
            generation.advance([lane.last_token for lane in lanes])
            position += 1
    finally:
        generation.close()


def _on_host(logits: torch.Tensor) -> torch.Tensor:
    """Return the logits (lanes, V) in float32 on the CPU."""
    if logits.device.type != "cuda":
        return logits.to(device="cpu", dtype=torch.float32)
    # Pinned memory, which torch keeps for the next step: several times faster than any other.
    host = torch.empty(logits.shape, dtype=torch.float32, pin_memory=True)
    return host.copy_(logits.float())


def lane_source(settings: RunSettings, lane: int) -> int:
    """Return the source of random numbers of a run's lane (`randomness`)."""
    return 0 if settings.shared_randomness else 1 + lane


class _Lane:
    """One lane while it is being decoded."""

    def __init__(
        self,
        model: LanguageModel,
        settings: LaneSettings,
        run: RunSettings,
        source: int,
        prompt: Sequence[int],
        written: int,
    ) -> None:
        self._name = settings.name
        self._stack = SamplerStack(settings.sampler, run.top_candidates)
        self._randomness = SharedRandomness(run.seed, source)
        self._eos = frozenset(model.info.eos_ids)
        self._stop = run.stop
        self._detokenizer = model.detokenizer(prompt)
        room = min(run.max_new_tokens, model.info.context_length - len(prompt))
        self._context = torch.empty(len(prompt) + room, dtype=torch.int64)
        self._context[: len(prompt)] = torch.tensor(prompt)
        self._length = len(prompt)
        self._position = written
        self._text = ""
        self.finish: FinishReason | None = None

    @property
    def last_token(self) -> int:
        return int(self._context[self._length - 1])

    def prepare(self, draws: Draws) -> None:
        """Make the random numbers of the next step, which do not depend on its logits."""
        if not self.finish:
            draws(self._randomness, self._position)

    def step(self, logits: torch.Tensor, draws: Draws) -> Step:
        """Draw this lane's next token from its row of logits, (V,) float32."""
        coin, noise = draws(self._randomness, self._position)
        try:
            step = self._stack.run(self._context[: self._length], logits, coin, noise)
        except DistributionError as error:
            raise DistributionError(
                f"lane {self._name!r}, step {self._position}: {error}"
            ) from error
        self._context[self._length] = step.token
        self._length += 1
        self._position += 1
        text = self._detokenizer.push(step.token)
        self.finish = self._finished(step.token, text)
        if self.finish:
            text += self._detokenizer.flush()
        self._text += text
        return replace(step, text=text)

    def _finished(self, token: int, text: str) -> FinishReason | None:
        if token in self._eos:
            return FinishReason.EOS
        # A stop string ends in the new text, so only that much of the old text is looked at.
        if any(stop in self._text[1 - len(stop) :] + text for stop in self._stop if text):
            return FinishReason.STOP
        if self._length == len(self._context):
            return FinishReason.LENGTH
        return None

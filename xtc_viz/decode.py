"""The lanes of a run, decoded side by side: rows that begin together."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import NamedTuple

from xtc_viz.errors import SettingsError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.prompts import check_prompts
from xtc_viz.records.step import Step
from xtc_viz.records.trace import FinishReason
from xtc_viz.rows import Row, decode_rows
from xtc_viz.settings import RunSettings


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
    forced: Sequence[Sequence[int]] = (),
) -> Generator[Column, None, None]:
    """Decode all lanes of a run side by side, one column a step.

    `prefixes` holds for each lane the tokens that it has already written, to continue a lane or
    to branch from one; its random numbers go on where they were. `sources` says whose numbers each
    lane draws (`randomness`), where that is not what `shared_randomness` says. `max_new_tokens`
    counts new tokens only; a lane also ends where the model's context does. `forced` holds for each
    lane the tokens that it takes first, instead of what the dice draw; they are new ones.

    Each lane is a row of `decode_rows` and sees nothing of the others; all start together. Closing
    the generator at any step frees the model's cache.

    Raises:
        PromptError: the prompt is empty or leaves no room in the context.
        DistributionError: the model gave logits that are no distribution.
    """
    count = len(settings.lanes)
    rows = lane_rows(prompt_ids, settings, prefixes=prefixes, sources=sources, forced=forced)
    check_prompts([[*row.prompt_ids, *row.written] for row in rows], model.info)
    with closing(decode_rows(model, rows, at_once=count)) as rounds:
        for position, (entries, seconds) in enumerate(rounds):
            steps: list[Step | None] = [None] * count
            finishes: list[FinishReason | None] = [None] * count
            for lane, step, finish, error in entries:
                if error:
                    raise error
                steps[lane], finishes[lane] = step, finish
            yield Column(position, tuple(steps), tuple(finishes), seconds)


def lane_rows(
    prompt_ids: Sequence[int],
    settings: RunSettings,
    *,
    prefixes: Sequence[Sequence[int]] = (),
    sources: Sequence[int] = (),
    forced: Sequence[Sequence[int]] = (),
) -> list[Row]:
    """Return the lanes of a run as rows, in their order; see `decode_lanes`."""
    count = len(settings.lanes)
    for name, given in (("prefixes", prefixes), ("sources", sources), ("forced", forced)):
        if given and len(given) != count:
            raise SettingsError(name, f"one a lane ({count})", len(given))
    prefixes = prefixes or [()] * count
    sources = sources or [settings.source(number) for number in range(count)]
    forced = forced or [()] * count
    return [
        Row(
            prompt_ids=prompt_ids,
            sampler=lane.sampler,
            seed=settings.seed,
            source=source,
            max_new_tokens=settings.max_new_tokens,
            stop=settings.stop,
            written=prefix,
            forced=tokens,
            top_candidates=settings.top_candidates,
            name=f"lane {lane.name!r}",
        )
        for lane, source, prefix, tokens in zip(
            settings.lanes, sources, prefixes, forced, strict=True
        )
    ]

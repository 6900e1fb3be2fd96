"""One run with many seeds, decoded together: for each seed the run that it gives by itself."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from xtc_viz.decode import Column, lane_rows
from xtc_viz.knobs import KNOBS
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.prompts import check_prompts
from xtc_viz.records.step import Step
from xtc_viz.records.trace import FinishReason
from xtc_viz.rows import RowStep, decode_rows
from xtc_viz.runs.jobs import Job
from xtc_viz.runs.recorder import Recorder
from xtc_viz.runs.worker import DecodeRows

AT_ONCE = 16
"""Rows side by side. More gain next to nothing on a CPU, and would take more of a GPU's memory."""

_LAST = int(KNOBS["seed"].high)


class Progress(NamedTuple):
    """One round: `tokens` are there by now in all texts, and all lanes of the runs in `finished`
    have come to their end with it."""

    tokens: int
    finished: tuple[Recorder, ...]


def seeds_from(first: int, count: int) -> tuple[int, ...]:
    """Return `count` seeds, `first` and those that follow; 0 follows the last one there is."""
    return tuple((first + i) % (_LAST + 1) for i in range(count))


@dataclass(slots=True)
class _Growing:
    """The run of one seed while it is written: `going` lanes have not ended; it began when so many
    seconds of the decode had passed."""

    recorder: Recorder
    going: int
    begun: float | None = None
    steps: list[Step | None] = field(default_factory=list)
    finishes: list[FinishReason | None] = field(default_factory=list)

    def take(self, lane: int, entry: RowStep) -> None:
        """Note a step of this round."""
        if not self.steps:
            count = len(self.recorder.lanes)
            self.steps, self.finishes = [None] * count, [None] * count
        self.steps[lane], self.finishes[lane] = entry.step, entry.finish

    def column(self, seconds: float) -> Column:
        """Return what was noted in this round; it is forgotten here."""
        position = max(len(lane.steps) for lane in self.recorder.lanes)
        column = Column(position, tuple(self.steps), tuple(self.finishes), seconds)
        self.steps, self.finishes = [], []
        return column


def write(
    job: Job,
    seeds: Sequence[int],
    model: LanguageModel,
    decode: DecodeRows = decode_rows,
    at_once: int = AT_ONCE,
) -> Generator[Progress, None, None]:
    """Decode a fresh run (`jobs.fresh`) with each of these seeds, one round of rows at a time.

    The rows stand in the order of the seeds, the lanes of a seed beside each other, so a seed is
    there as a whole early on. Each run is the one that its seed gives by itself, but for ties that
    the arithmetic of a larger batch decides otherwise (`rows.decode_rows`).

    Closing this generator ends the decode.

    Raises:
        PromptError: the prompt is empty or leaves no room in the context.
        DistributionError: the model gave logits that are no distribution.
    """
    begin, lanes = job.begin, len(job.settings.lanes)
    check_prompts([begin.prompt_ids], model.info)
    runs, rows = [], []
    for seed in seeds:
        settings = replace(job.settings, seed=seed)
        runs.append(_Growing(Recorder(replace(begin, settings=settings)), going=lanes))
        rows += lane_rows(begin.prompt_ids, settings)
    token_text = cache(model.token_text)  # the runs name mostly the same tokens
    tokens, before = 0, 0.0
    with closing(decode(model, rows, at_once=at_once)) as rounds:
        for entries, seconds in rounds:
            touched: dict[int, _Growing] = {}
            for entry in entries:
                if entry.error:
                    raise entry.error
                place, lane = divmod(entry.row, lanes)
                run = touched[place] = runs[place]
                run.take(lane, entry)
                run.going -= entry.finish is not None
            for run in touched.values():
                if run.begun is None:
                    run.begun = before
                run.recorder.add(run.column(seconds - run.begun), token_text)
            tokens, before = tokens + len(entries), seconds
            yield Progress(tokens, tuple(r.recorder for r in touched.values() if not r.going))

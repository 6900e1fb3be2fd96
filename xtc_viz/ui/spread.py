"""One press of "16 seeds", from the request to the last seed, as messages to the page.

Each seed that is there is a run of the store like any other, so that it opens in the inspector step
by step, exactly as it was written.
"""

from __future__ import annotations

import math
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from xtc_viz.errors import SettingsError
from xtc_viz.knobs import KNOBS
from xtc_viz.lab.spread import QUANTITIES, SeedText, Summary, measured, summary, taus
from xtc_viz.lab.spreadwords import sentences
from xtc_viz.lab.statistics import Interval
from xtc_viz.models.base import LanguageModel
from xtc_viz.runs.jobs import Job, fresh
from xtc_viz.runs.recorder import Recorder
from xtc_viz.runs.request import Request
from xtc_viz.runs.seeds import seeds_from, write
from xtc_viz.ui import controls, payload
from xtc_viz.ui.audience import Audience
from xtc_viz.ui.run import Run
from xtc_viz.ui.service import Service, Waiting, in_thread, in_turn, waits_for

INTERVAL = 0.15  # seconds between two messages of which no seed is news
DIGITS = 5

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and the seeds that it is to be written with."""

    request: Request
    seeds: tuple[int, ...]


def parse(service: Service, data: Mapping[str, Any]) -> Asked:
    """Return what the page asks for, within the limits of this server.

    Raises:
        SettingsError: naming the field; `seeds` where all texts together would be too long.
    """
    request = controls.parse(data, service.limits)
    settings = request.settings
    if settings.server_draws:
        raise SettingsError("server_draws", "false for many seeds, which are drawn here", True)
    seeds = data.get("seeds", KNOBS["seeds"].default)
    count = service.limits.check_spread(seeds, len(settings.lanes), settings.max_new_tokens)
    return Asked(request, seeds_from(settings.seed, count))


async def messages(
    service: Service,
    data: Mapping[str, Any],
    visitor: str,
    stop: threading.Event,
    audience: Audience | None,
) -> AsyncGenerator[Message, None]:
    """Write a spread in its turn and yield messages, all but the name of the request in them.

    The first of them with a `head` says what is written; `rows` are the seeds that are there since
    the message before; the last one has the `summary`, and what it `said` in words.

    Raises:
        XTCVizError: what is wrong with the request, or a full queue.
    """
    asked = await in_thread(parse, service, data)
    yield {"state": "starting"}
    spread = _Spread(service, asked, visitor)
    async with aclosing(in_turn(service, spread.work, visitor, stop, audience)) as every:
        async for event in every:
            if isinstance(event, Waiting):
                yield {"state": "waiting", "place": event.place, "note": waits_for(event.state)}
            else:
                yield {"state": "running", **event}
    yield await in_thread(spread.end)


@dataclass(slots=True)
class _Spread:
    """A spread while it is written."""

    service: Service
    asked: Asked
    visitor: str
    texts: list[SeedText] = field(default_factory=list)

    def work(
        self, model: LanguageModel, over: Callable[[], bool]
    ) -> Generator[Message, None, None]:
        """Yield what is new, until all seeds are there or nobody wants more."""
        job = fresh(self.asked.request, model)
        yield {"head": _head(job, self.asked, model), "tokens": 0}
        due = 0.0
        with closing(write(job, self.asked.seeds, model, self.service.rows)) as rounds:
            for tokens, finished in rounds:
                if finished or perf_counter() >= due:
                    yield {"tokens": tokens, "rows": [self._row(each) for each in finished]}
                    due = perf_counter() + INTERVAL
                if over():
                    return

    def _row(self, recorder: Recorder) -> Message:
        run = Run(recorder, "done")
        name = self.service.store.add(run, owner=self.visitor)
        texts = measured(run.trace())
        self.texts += texts
        return {
            "seed": run.settings.seed,
            "run": name,
            "lanes": [
                {
                    "text": text.text,
                    "finish": text.finish,
                    "values": [_rounded(text.values[one.name]) for one in QUANTITIES],
                }
                for text in texts
            ],
        }

    def end(self) -> Message:
        """Return the last message."""
        lanes, seeds = self.asked.request.settings.lanes, self.asked.seeds
        found = summary(self.texts, lanes, seeds[0])
        whole = found.seeds == len(seeds)
        if not found.seeds:
            return {"state": "stopped"}
        return {
            "state": "done" if whole else "stopped",
            "summary": _summary(found) if whole else None,
            "said": sentences(found, lanes, len(seeds)),
        }


def _head(job: Job, asked: Asked, model: LanguageModel) -> Message:
    lanes = asked.request.settings.lanes
    return {
        "prompt": asked.request.prompt,
        "seeds": asked.seeds,
        "length": job.settings.max_new_tokens,
        "model": payload.model_line(model.info),
        "lanes": [
            {"name": lane.name, "sampler": lane.sampler.to_dict(), "tau": tau}
            for lane, tau in zip(lanes, taus(lanes), strict=True)
        ],
        "quantities": [
            {"name": one.name, "label": one.label, "meaning": one.meaning, "unit": one.unit}
            for one in QUANTITIES
        ],
    }


def _summary(found: Summary) -> Message:
    """Return means and differences by lane, [mean, low, high] for each quantity; null where there
    is none."""

    def listed(by_name: Mapping[str, Interval]) -> list[list[float | None] | None]:
        intervals = [by_name.get(one.name) for one in QUANTITIES]
        return [
            [_rounded(each.mean), _rounded(each.low), _rounded(each.high)] if each else None
            for each in intervals
        ]

    return {
        "reference": found.reference,
        "means": [listed(lane) for lane in found.means],
        "differences": [listed(lane) if lane else None for lane in found.differences],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else payload.rounded(value, DIGITS)

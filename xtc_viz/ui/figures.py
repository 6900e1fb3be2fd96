"""A view of a run as an interactive file: what the page may ask for, and the file that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import plotly.graph_objects as go

from xtc_viz.errors import SettingsError, Words
from xtc_viz.figures.engines import Strip, engines_figure
from xtc_viz.figures.export import html
from xtc_viz.figures.intensity import intensity_figure
from xtc_viz.figures.labels import token
from xtc_viz.figures.pair import Side, pair_figure
from xtc_viz.figures.stages import stages_figure
from xtc_viz.figures.step import Kind, step_figure
from xtc_viz.figures.text import text_figure
from xtc_viz.figures.timeline import timeline_figure
from xtc_viz.knobs import KNOBS
from xtc_viz.records.trace import Trace
from xtc_viz.settings import XTCSettings
from xtc_viz.texts import valid
from xtc_viz.ui import engineview, whatif
from xtc_viz.ui.controls import whole
from xtc_viz.ui.dialects import LABELS
from xtc_viz.ui.run import Run

OF_A_STEP = ("bars", "pair", "stages", "engines")
VIEWS = (*OF_A_STEP, "map", "timeline", "text")
PARTS, WHICH = ("rule", "chain"), ("own", "fired")  # what is compared of engines, at which coin
MAX_CANDIDATES = 100
MAX_STEPS = 30_000  # of all lanes together: beyond, a browser draws for many seconds
MAX_CAPTION, MAX_LINES = 2_000, 20  # characters of a line, and lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A figure as the page asks for it: which view of which lane, at position `i`, beside lane
    `mate`; with so many candidates, on a logarithmic scale if `log`; `width` in pixels.

    Of engines `part` compares the rule alone or the chain, `which` the coin as it fell or as if
    the step fired. `name` is the file's without its ending, `caption` the lines under the figure.
    """

    view: str
    lane: int
    i: int
    mate: int
    candidates: int
    log: bool
    part: str
    which: str
    width: int
    name: str
    caption: tuple[str, ...]

    @classmethod
    def parse(cls, data: object, run: Run) -> Self:
        """Check what a page sent against the run. Raises `SettingsError`, naming the field."""
        names = [f.name for f in fields(cls)]
        if not isinstance(data, Mapping) or set(data) != set(names):
            raise SettingsError("figure", f"an object with {', '.join(names)}", data)
        view, log, name, lines = (data[each] for each in ("view", "log", "name", "caption"))
        if view not in VIEWS:
            raise SettingsError("view", f"one of {', '.join(VIEWS)}", view)
        if not isinstance(log, bool):
            raise SettingsError("log", "true or false", log)
        for field, values in (("part", PARTS), ("which", WHICH)):
            if data[field] not in values:
                raise SettingsError(field, f"one of {', '.join(values)}", data[field])
        if not isinstance(name, str) or len(name) > MAX_CAPTION:
            raise SettingsError("name", f"a text of at most {MAX_CAPTION:,} characters", name)
        if (
            not isinstance(lines, list)
            or len(lines) > MAX_LINES
            or not all(isinstance(line, str) and len(line) <= MAX_CAPTION for line in lines)
        ):
            bounds = f"at most {MAX_LINES} texts of at most {MAX_CAPTION:,} characters"
            raise SettingsError("caption", bounds, lines)
        for field, text in (("view", view), ("name", name), *(("caption", line) for line in lines)):
            valid(field, text)
        numbers = {each: whole(each, data[each]) for each in ("lane", "i", "mate", "candidates")}
        wanted = cls(
            view=view,
            log=log,
            part=data["part"],
            which=data["which"],
            name=name,
            caption=tuple(lines),
            width=int(KNOBS["figure_width"].check(data["width"])),
            **numbers | {"candidates": min(numbers["candidates"], MAX_CANDIDATES)},
        )
        wanted._check(run)
        return wanted

    def _check(self, run: Run) -> None:
        lanes = {"lane": self.lane} | ({"mate": self.mate} if self.view == "pair" else {})
        for field, lane in lanes.items():
            if lane >= len(run.lanes):
                raise SettingsError(field, f"below {len(run.lanes)}", lane)
            if self.view in OF_A_STEP and self.i >= run.lengths[lane]:
                raise SettingsError("i", f"below {run.lengths[lane]}", self.i)
        steps = sum(run.lengths) if self.view == "timeline" else run.lengths[self.lane]
        if self.view not in OF_A_STEP and steps > MAX_STEPS:
            raise SettingsError("figure", f"of at most {MAX_STEPS:,} tokens", Words(f"{steps:,}"))


def interactive(run: Run, wanted: Wanted, others: Mapping[int, XTCSettings]) -> str:
    """Return the figure as an HTML file of its own; `others` are a what-if's settings by lane."""
    trace = whatif.imagined(run.trace(), others)
    figure = _figure(run, trace, wanted, set(others))
    return html(figure, wanted.caption, name=wanted.name, width=wanted.width)


def _figure(run: Run, trace: Trace, wanted: Wanted, imagined: set[int]) -> go.Figure:
    lane, i = trace.lanes[wanted.lane], wanted.i
    sampler, texts = lane.settings.sampler, trace.vocabulary
    more: dict[str, Any] = {"candidates": wanted.candidates}
    if wanted.view == "bars":
        return step_figure(lane.steps[i], sampler, texts, log=wanted.log, **more)
    if wanted.view == "pair":
        places = sorted((wanted.lane, wanted.mate))
        sides = [
            Side(own.settings.name, own.steps[i], own.settings.sampler)
            for own in (trace.lanes[k] for k in places)
        ]
        return pair_figure(sides, texts, own=places.index(wanted.lane), **more)
    if wanted.view == "stages":
        context = (*trace.prompt_ids, *(step.token for step in lane.steps[:i]))
        return stages_figure(lane.steps[i], sampler, context, texts, **more)
    if wanted.view == "engines":
        return _engines(trace, wanted)
    if wanted.view == "map":
        thought, top = run.stats[wanted.lane].thought, trace.settings.top_candidates
        grid = whatif.strength_grid(run.trace().lanes[wanted.lane], sampler.xtc, top, thought)
        return intensity_figure(grid, sampler.xtc)
    if wanted.view == "timeline":
        return timeline_figure(trace, imagined=imagined)
    away = wanted.lane in imagined
    return text_figure(trace.prompt, lane, texts, imagined=away, pixels=wanted.width)


def _engines(trace: Trace, wanted: Wanted) -> go.Figure:
    lane, i = trace.lanes[wanted.lane], wanted.i
    sampler, top = lane.settings.sampler, trace.settings.top_candidates
    context = (*trace.prompt_ids, *(step.token for step in lane.steps[:i]))
    view = engineview.of_step(
        lane.steps[i], sampler, context, top, lambda v: trace.vocabulary.get(v, f"<{v}>")
    )
    found = view[wanted.part][wanted.which]
    groups = found["groups"]
    others = any(part["rest"] > 0.0 for part in (found, *groups))
    kept = slice(None if others else len(found["ids"]))
    before = (*found["probs"], found["rest"])[kept]
    strips = [
        Strip(
            ", ".join(LABELS.get(engine, engine) for engine in group["engines"]),
            before,
            (*group["probs"], group["rest"])[kept],
            (*(_kind(v, group) for v in found["ids"]), "rest")[kept],
        )
        for group in groups
    ]
    labels = [*(token(view["texts"][v]) for v in found["ids"]), "others"]
    return engines_figure(strips, labels[kept])


def _kind(v: int, group: Mapping[str, Any]) -> Kind:
    """What an engine makes of a token, as the page has it (`engines/strips.js`)."""
    if v in group["removed"]:
        return "removed"
    if v not in group["eligible"]:
        return "tail"
    return "kept" if group["effect"] in ("fired", "mixed") else "eligible"

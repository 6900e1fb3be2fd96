"""What the page may ask of the server beside a run: each answer is JSON text.

Gradio hands a server function one argument, so the page sends a list. A question that cannot be
answered is answered by `{"error": {"message": …}}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import gradio as gr

from xtc_viz.errors import SettingsError, XTCVizError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.host import ModelHost
from xtc_viz.records import tracefile
from xtc_viz.runs.jobs import weights
from xtc_viz.runs.protected import Resolved, along, as_tokens, parse_protection
from xtc_viz.settings import XTCSettings
from xtc_viz.ui import controls, exports, payload, whatif
from xtc_viz.ui.access import May, from_elsewhere
from xtc_viz.ui.controls import whole
from xtc_viz.ui.models import model_questions
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.stream import Stops, problem

MAX_CANDIDATES = 100
MAX_TRACE = 50_000_000

Question = Callable[..., str]


def answer(
    function: Callable[..., object], elsewhere: Callable[..., object] | None = None
) -> Question:
    """Turn a function of several arguments into a question of the page.

    `elsewhere` answers in its place those who may not sit at this machine.
    """

    # Gradio hands the request to an argument of this type.
    def asked(arguments: list[Any], request: gr.Request | None = None) -> str:
        far = request is not None and from_elsewhere(request.headers)
        chosen = elsewhere if elsewhere and far else function
        try:
            return payload.encode(chosen(*arguments))
        except XTCVizError as error:
            return payload.encode({"error": problem(error)})
        except TypeError as error:
            return payload.encode({"error": {"message": f"{function.__name__}: {error}"}})

    # Not `functools.wraps`: gradio looks through it and counts the wrong arguments.
    asked.__name__, asked.__doc__ = function.__name__, function.__doc__
    return asked


def questions(
    host: ModelHost, store: RunStore, stops: Stops, may: May = May.FIXED
) -> list[Question]:
    """Return the functions that the page may call, by their names."""

    def block(run: object, lane: object, index: object, candidates: object, xtc: object) -> object:
        """64 steps of a lane for the inspector, under other XTC settings if `xtc` is given."""
        found, number = _lane(store, run, lane)
        wanted = min(whole("candidates", candidates), MAX_CANDIDATES)
        other = _xtc(found, number, xtc, host).xtc if xtc else None
        return found.block(number, whole("index", index), wanted, other)

    def open(run: object, at: object) -> object:
        """All of a run that the page does not have; `at` counts the steps it has by lane."""
        have = [whole("at", n) for n in at] if isinstance(at, list) else []
        return store.get(run).whole(str(run), have)

    def stop(run: object) -> object:
        """Stop a run at its next step; whether it was going."""
        return stops.stop(run)

    def stages(run: object, lane: object, i: object, candidates: object) -> object:
        """One step stage by stage."""
        found, number = _lane(store, run, lane)
        wanted = min(whole("candidates", candidates), MAX_CANDIDATES)
        return found.stages(number, whole("i", i), wanted)

    def what_if(run: object, lane: object, xtc: object) -> object:
        """Where XTC would act along a lane's text under other settings."""
        found, number = _lane(store, run, lane)
        trace, other = found.trace(), _xtc(found, number, xtc, host)
        thought, top = found.lanes[number].stats.thought, trace.settings.top_candidates
        sums = whatif.what_if(trace.lanes[number], other.xtc, top, thought)
        return {**sums, "guarded": other.guarded, "unsure": other.unsure}

    def tokens(protect: object) -> object:
        """What a choice of protected tokens means on the model in memory; null without one."""
        chosen, model = parse_protection(protect), host.resident
        return as_tokens(chosen, model) if model else None

    def strength(run: object, lane: object, xtc: object) -> object:
        """The map of ρ × τ for a lane's text."""
        found, number = _lane(store, run, lane)
        trace, other = found.trace(), _xtc(found, number, xtc, host)
        thought, top = found.lanes[number].stats.thought, trace.settings.top_candidates
        return whatif.strength_map(trace.lanes[number], other.xtc, top, thought)

    def export(run: object, kind: object) -> object:
        """A run to keep: `trace`, `table` or `replay`, as text."""
        found = store.get(run)
        if kind == "trace":
            return tracefile.dumps(found.trace())
        if kind == "table":
            return exports.table(found.trace())
        if kind == "replay":
            return exports.replay(found, controls.specification(), datetime.now(UTC).date())
        raise SettingsError("kind", "trace, table or replay", kind)

    def load(text: object) -> object:
        """Show a trace file; the answer is a whole message."""
        if not isinstance(text, str) or len(text) > MAX_TRACE:
            raise SettingsError("trace", f"a text of at most {MAX_TRACE:,} characters", "another")
        run = Run.of(tracefile.loads(text), "loaded")
        return run.whole(store.add(run))

    every = (block, open, stop, stages, what_if, tokens, strength, export, load)
    return [*(answer(function) for function in every), *_about_models(host, may)]


def _about_models(host: ModelHost, may: May) -> list[Question]:
    if may is not May.OWN:
        return [answer(function) for function in model_questions(host, may)]
    here, elsewhere = (model_questions(host, each) for each in (May.ALL, May.FIXED))
    return [answer(*pair) for pair in zip(here, elsewhere, strict=True)]


def _lane(store: RunStore, run: object, lane: object) -> tuple[Run, int]:
    found, number = store.get(run), whole("lane", lane)
    if number >= len(found.lanes):
        raise SettingsError("lane", f"below {len(found.lanes)}", number)
    return found, number


class Other(NamedTuple):
    """XTC settings to imagine. `guarded` says that other tokens are protected than were, `unsure`
    are the texts that could not be looked up."""

    xtc: XTCSettings
    guarded: bool
    unsure: tuple[str, ...]


def _xtc(run: Run, lane: int, values: object, host: ModelHost) -> Other:
    """The lane's own XTC settings with what the page changed; protected tokens stay, unless a
    choice of them (`protect`) is among the values."""
    own = run.lanes[lane].settings.sampler.xtc
    if not isinstance(values, Mapping):
        raise SettingsError("xtc", "an object with named values", values)
    given = dict(values)
    chosen = given.pop("protect", None)
    writer = _writer(run, host)
    meant = Resolved(own.protected)
    if chosen is not None:
        meant = along(parse_protection(chosen), run.model, dict(run.texts), writer)
    # Without the model only what was recorded is known, and only that can matter.
    differ = meant.ids ^ own.protected
    guarded = bool(differ if writer else differ & run.texts.keys())
    xtc = XTCSettings.from_dict({**given, "protected": meant.ids})
    return Other(xtc, guarded, meant.unsure)


def _writer(run: Run, host: ModelHost) -> LanguageModel | None:
    """The model that wrote the run, if it is the one in memory."""
    model = host.resident
    return model if model and weights(model.info) == weights(run.model) else None

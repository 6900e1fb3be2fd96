"""What the page may ask of the server beside a run: each answer is JSON text.

Gradio hands a server function one argument, so the page sends a list. A question that cannot be
answered is answered by `{"error": {"message": …}}`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import gradio as gr

from xtc_viz.errors import SettingsError, Words, XTCVizError
from xtc_viz.errors import shown as quoted
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.host import ModelHost
from xtc_viz.runs.jobs import fork, weights
from xtc_viz.runs.protection import Protection, Resolved, along
from xtc_viz.settings import XTCSettings
from xtc_viz.ui import controls, elsewhere, engineview, figures, heavy, payload, whatif
from xtc_viz.ui.access import May, from_elsewhere
from xtc_viz.ui.controls import whole
from xtc_viz.ui.heavy import VISITOR
from xtc_viz.ui.models import model_questions
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.servers import Servers
from xtc_viz.ui.service import Service, in_thread
from xtc_viz.ui.visitors import visitor_of
from xtc_viz.ui.wording import WENT_WRONG, problem

MAX_CANDIDATES = 100

Question = Callable[..., Awaitable[str]]
log = logging.getLogger(__name__)


def answer(
    function: Callable[..., object],
    elsewhere: Callable[..., object] | None = None,
    *,
    at_once: bool = False,
) -> Question:
    """Turn a function of several arguments into a question of the page, answered in a thread.

    `elsewhere` answers in its place those who may not sit at this machine. What is answered
    `at_once` takes no thread, and so waits for no other question; it must cost next to nothing.
    """

    name = function.__name__
    signature = inspect.signature(function)

    # Gradio hands the request to an argument of this type.
    async def question(arguments: list[Any], request: gr.Request | None = None) -> str:
        if at_once:
            return answered(arguments, request)
        return await in_thread(answered, arguments, request)

    def answered(arguments: list[Any], request: gr.Request | None) -> str:
        VISITOR.set(visitor_of(request))
        far = request is not None and from_elsewhere(request.headers)
        chosen = elsewhere if elsewhere and far else function
        try:
            return payload.answer(chosen(*_checked(name, signature, arguments)))
        except XTCVizError as error:
            return payload.encode({"error": problem(error)})
        except Exception:
            log.exception("the question `%s` failed", name)
            return payload.encode({"error": {"message": WENT_WRONG}})

    # Not `functools.wraps`: gradio looks through it and counts the wrong arguments.
    question.__name__, question.__doc__ = name, function.__doc__
    return question


def _checked(name: str, signature: inspect.Signature, arguments: object) -> list[Any]:
    """Return the arguments of a question, as many as it takes, or raise `XTCVizError`."""
    if not isinstance(arguments, list):
        words = f"`{name}` takes a list of arguments, but was given {quoted(arguments)}"
        raise XTCVizError(words)
    takes = list(signature.parameters.values())
    needed = [argument.name for argument in takes if argument.default is argument.empty]
    if not len(needed) <= len(arguments) <= len(takes):
        names = ", ".join(argument.name for argument in takes) or "no arguments"
        missing = " and ".join(needed[len(arguments) :])
        wrong = f"was asked without {missing}" if missing else f"was given {len(arguments):,}"
        raise XTCVizError(f"`{name}` takes {names}, but {wrong}.")
    return arguments


def questions(service: Service) -> list[Question]:
    """Return the functions that the page may call, by their names."""
    host, store = service.host, service.store

    def block(run: object, lane: object, index: object, candidates: object, xtc: object) -> object:
        """64 steps of a lane for the inspector, under other XTC settings if `xtc` is given."""
        shown, number = _lane(store, run, lane)
        most = min(whole("candidates", candidates), MAX_CANDIDATES)
        other = _xtc(shown, number, xtc, host).xtc if xtc else None
        return shown.block(number, whole("index", index), most, other)

    def open(run: object, at: object) -> object:
        """All of a run that the page does not have; `at` counts the steps it has by lane."""
        have = [whole("at", n) for n in at] if isinstance(at, list) else []
        return heavy.opened(store.get(run), str(run), have)

    def stop(run: object) -> object:
        """Stop a run at its next step; whether it was going."""
        return service.stops.stop(run)

    def stages(run: object, lane: object, i: object, candidates: object) -> object:
        """One step stage by stage."""
        shown, number = _lane(store, run, lane)
        most = min(whole("candidates", candidates), MAX_CANDIDATES)
        return shown.stages(number, whole("i", i), most)

    def what_if(run: object, lane: object, xtc: object) -> object:
        """Where XTC would act along a lane's text under other settings."""
        shown, number = _lane(store, run, lane)
        trace, other = shown.trace(), _xtc(shown, number, xtc, host)
        thought, top = shown.stats[number].thought, trace.settings.top_candidates
        arguments = (trace.lanes[number], other.xtc, top, thought)
        sums = heavy.along(shown, "This what-if", whatif.what_if, *arguments)
        return {**sums, "guarded": other.guarded, "unsure": other.unsure}

    def tokens(protect: object) -> object:
        """What a choice of protected tokens means on the model in memory; null without one."""
        choice, model = Protection.parse(protect), host.resident
        return controls.protected_tokens(choice, model) if model else None

    def becomes(run: object, lane: object, i: object, text: object) -> object:
        """The tokens that a text becomes at a place of a run; null where its model is gone."""
        shown, number = _lane(store, run, lane)
        model, place = _writer(shown, host), whole("i", i)
        typed = service.limits.check_text("text", text)
        if not model:
            return None
        job = fork(shown.trace(), number, place, typed, model, service.limits.max_tokens)
        return controls.named(job.forced[0], model)

    def strength(run: object, lane: object, xtc: object) -> object:
        """The map of ρ × τ for a lane's text."""
        shown, number = _lane(store, run, lane)
        trace, other = shown.trace(), _xtc(shown, number, xtc, host)
        thought, top = shown.stats[number].thought, trace.settings.top_candidates
        arguments = (trace.lanes[number], other.xtc, top, thought)
        return heavy.along(shown, "This map", whatif.strength_map, *arguments)

    def dice(run: object, lane: object) -> object:
        """The numbers that a server drew a lane with."""
        shown, number = _lane(store, run, lane)
        return shown.dice(number)

    def export(run: object, kind: object) -> object:
        """A run to keep: `trace`, `table` or `replay`, as text."""
        day = datetime.now(UTC).date()
        return heavy.exported(store.get(run), kind, controls.specification(), day)

    def figure(run: object, wanted: object, xtc: object) -> object:
        """One view of a run as an interactive HTML file, about 5 MB; `xtc` are the settings of a
        what-if by lane, null for a lane that stays as it is."""
        shown = store.get(run)
        if not isinstance(xtc, list) or len(xtc) > len(shown.lanes):
            raise SettingsError("xtc", f"a list of at most {len(shown.lanes)} lanes", xtc)
        others = {k: _xtc(shown, k, values, host).xtc for k, values in enumerate(xtc) if values}
        return heavy.drawn(shown, figures.Wanted.parse(wanted, shown), others)

    def take_home(lane: object, form: object, protect: object) -> object:
        """A lane's settings in another program's words, and what differs there."""
        return elsewhere.taken_home(lane, form, protect, host.resident)

    def bring_here(text: object, form: object) -> object:
        """The lane that a text of another program describes; its form is known by its names, where
        `form` is null."""
        return elsewhere.brought_here(text, form)

    def engines(run: object, lane: object, i: object, xtc: object) -> object:
        """What each engine leaves of one step, under other XTC settings if `xtc` is given."""
        shown, number = _lane(store, run, lane)
        other = _xtc(shown, number, xtc, host).xtc if xtc else None
        return shown.engines(number, whole("i", i), other)

    def engine_stages(run: object, lane: object, i: object, engine: object, xtc: object) -> object:
        """One step stage by stage in an engine's own order."""
        shown, number = _lane(store, run, lane)
        other = _xtc(shown, number, xtc, host).xtc if xtc else None
        return shown.engine_stages(number, whole("i", i), engine, other)

    def engines_along(run: object, lane: object, xtc: object) -> object:
        """At which steps of a lane each engine decides otherwise."""
        shown, number = _lane(store, run, lane)
        other = _xtc(shown, number, xtc, host).xtc if xtc else None
        trace = shown.trace()
        arguments = (trace.lanes[number], other, trace.settings.top_candidates)
        return heavy.along(shown, "This comparison", engineview.of_lane, *arguments)

    def engines_typed(numbers: object) -> object:
        """What each engine leaves of numbers that were typed in."""
        return engineview.of_typed(numbers)

    about_runs = (block, open, stages, what_if, tokens, becomes, strength, dice, export, figure)
    about_engines = (engines, engine_stages, engines_along, engines_typed, take_home, bring_here)
    every = (*about_runs, *about_engines)
    answers = [answer(stop, at_once=True), *(answer(function) for function in every)]
    return [*answers, *_about_models(host, service.may, service.servers)]


def opening(service: Service) -> Question:
    """Return the question that shows a trace file; it comes by a route of its own (`opening`)."""
    store = service.store

    def load(text: object) -> object:
        """Show a trace file; the answer is a whole message."""
        key = store.reserve()
        shown, message = heavy.loaded(text, key)
        store.add(shown, key, owner=VISITOR.get())
        return message

    return answer(load)


def _about_models(host: ModelHost, may: May, servers: Servers) -> list[Question]:
    if may is not May.OWN:
        return [answer(function) for function in model_questions(host, may, servers)]
    here = model_questions(host, May.ALL, replace(servers, every=True))
    elsewhere = model_questions(host, May.FIXED)
    return [answer(*pair) for pair in zip(here, elsewhere, strict=True)]


def _lane(store: RunStore, run: object, lane: object) -> tuple[Run, int]:
    shown, number = store.get(run), whole("lane", lane)
    if number >= len(shown.lanes):
        raise SettingsError("lane", f"below {len(shown.lanes)}", number)
    return shown, number


class Other(NamedTuple):
    """XTC settings to imagine. `guarded` says that other tokens are protected than were, `unsure`
    are the texts that could not be looked up."""

    xtc: XTCSettings
    guarded: bool
    unsure: tuple[str, ...]


def _xtc(run: Run, lane: int, values: object, host: ModelHost) -> Other:
    """The lane's own XTC settings with what the page changed; protected tokens stay, unless a
    choice of them (`protect`) is among the values."""
    if run.settings.server_draws:
        bounds = "left as it was: the server drew this run, by a rule and dice of its own"
        raise SettingsError("xtc", bounds, Words("another"))
    own = run.lanes[lane].settings.sampler.xtc
    if not isinstance(values, Mapping):
        raise SettingsError("xtc", "an object with named values", values)
    changes = dict(values)
    choice = changes.pop("protect", None)
    writer = _writer(run, host)
    texts = dict(run.recorder.texts)
    protected = Resolved(own.protected)
    if choice is not None:
        protected = along(Protection.parse(choice), run.model, texts, writer)
    # Without the model only what was recorded is known, and only that can matter.
    differ = protected.ids ^ own.protected
    guarded = bool(differ if writer else differ & texts.keys())
    xtc = XTCSettings.from_dict({**changes, "protected": protected.ids})
    return Other(xtc, guarded, protected.unsure)


def _writer(run: Run, host: ModelHost) -> LanguageModel | None:
    """The model that wrote the run, if it is the one in memory."""
    model = host.resident
    return model if model and weights(model.info) == weights(run.model) else None

"""The tools: functions that answer with JSON, as an agent reads it, within the limits of the page.

A run is described in few words, since all that it holds would fill an agent's memory: its texts,
where XTC fired, and the name under which it is kept for what-if.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import gradio as gr

from xtc_viz.audit.asking import check_claim
from xtc_viz.engines.known import ENGINES
from xtc_viz.errors import LaneError, ModelError, SettingsError, Words, XTCVizError
from xtc_viz.knobs import KNOBS
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.remote.address import parse_address
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.records.step import Step
from xtc_viz.runs.jobs import fresh
from xtc_viz.sampling.rule import Decision, Outcome
from xtc_viz.sampling.whatif import evaluate
from xtc_viz.settings import XTCSettings
from xtc_viz.ui import audit as auditing
from xtc_viz.ui import heavy
from xtc_viz.ui.access import May, granted
from xtc_viz.ui.api import LANES, NO_TEXTS, TWO_LANES, asked
from xtc_viz.ui.controls import whole
from xtc_viz.ui.run import Run
from xtc_viz.ui.service import Ended, Service, Waiting, events, in_thread, in_turn
from xtc_viz.ui.visitors import visitor_of
from xtc_viz.ui.wording import WENT_WRONG

MOST_STEPS = 100
"""Steps of a lane that an answer tells of one by one."""

Json = dict[str, Any]
Tool = Callable[..., Awaitable[str]]
log = logging.getLogger(__name__)


def tools(service: Service) -> list[Tool]:
    """Return the tools of a server; that which audits is there where a server was named."""

    async def generate(
        prompt: str,
        lanes: list[Any] = TWO_LANES,
        seed: int = int(KNOBS["seed"].default),
        max_new_tokens: int = int(service.limits.length.default),
        shared_randomness: bool = True,
        stop: list[str] = NO_TEXTS,
        system: str = "",
        chat: bool = False,
        thinking: bool = True,
        protect_eos: bool = True,
        protect_newline: bool = True,
        protect_texts: list[str] = NO_TEXTS,
        request: gr.Request | None = None,
    ) -> str:
        """Write on from a prompt in several lanes, which draw from the same random numbers,
        and say what XTC ("exclude top choices") did: the texts, and for each step at which it fired
        the tokens that it removed and the one that would have been drawn without it. `run` names
        the run for `what_if`.
        """
        wish = asked(
            service.limits,
            prompt=prompt, lanes=lanes, seed=seed, max_new_tokens=max_new_tokens,
            shared_randomness=shared_randomness, stop=stop, system=system, chat=chat,
            thinking=thinking, protect_eos=protect_eos, protect_newline=protect_newline,
            protect_texts=protect_texts,
        )  # fmt: skip
        visitor = visitor_of(request)
        end: Ended | None = None
        every = events(service, lambda model: fresh(wish, model), visitor, interval=1.0)
        async with aclosing(every) as happening:
            async for event in happening:
                if isinstance(event, Ended):
                    end = event
        assert end
        run = await in_thread(Run, end.recorder, "done")
        name = await in_thread(partial(service.store.add, run, owner=visitor))
        return _text({"run": name, "model": run.model.name, "lanes": await in_thread(_lanes, run)})

    async def what_if(
        run: str, lane: int, rho: float, tau: float, request: gr.Request | None = None
    ) -> str:
        """Say what XTC would have done along the text of a lane with another ρ and τ, exactly and
        without the model: at how many steps it would have fired, with the coins that were tossed,
        and at which its decision differs. The text stays as it was written: this is no new run.
        """
        shown = service.store.get(run)
        number = _lane(shown, lane)
        own = shown.lanes[number].settings.sampler.xtc
        other = replace(own, rho=rho, tau=tau)
        heavy.VISITOR.set(visitor_of(request))
        steps, top = shown.trace().lanes[number].steps, shown.settings.top_candidates
        arguments = (
            shown,
            "This what-if",
            _imagined,
            steps,
            other,
            top,
            shown.stats[number].thought,
        )
        answer = await in_thread(heavy.along, *arguments)
        for one in answer["differs"]:
            for name in ("removed", "would_remove"):
                one[name] = [shown.recorder.text(token) for token in one[name]]
        return _text({"lane": lane, **answer})

    async def audit(
        server: str,
        rho: float = KNOBS["rho"].default,
        tau: float = KNOBS["tau"].default,
        request: gr.Request | None = None,
    ) -> str:
        """Find out whether a model server does XTC as it is asked to: let it draw by itself, hold
        that against the probabilities that it reports, and say in a sentence what was found, with
        ρ and its 95 % interval as [estimate, low, high], and whether XTC acts at that τ and before
        temperature. It stops as soon as it knows, which may take a minute.
        """
        may = granted(service.may, request.headers if request else {})
        if may is May.FIXED:
            raise ModelError(auditing.NOT_YOURS)
        claim, spec = check_claim(rho, tau), _named(service, server)
        wanted = auditing.Audit(claim, auditing.most(service.limits))

        def work(model: LanguageModel, over: Callable[[], bool]) -> Generator[Json, None, None]:
            yield from wanted.work(RemoteModel.connect(spec), over)

        found: Json = {}
        every = in_turn(service, work, visitor_of(request))
        async with aclosing(every) as happening:
            async for event in happening:
                if not isinstance(event, Waiting):
                    found = event["found"]
        return _text(found)

    limits, named = service.limits, ", ".join(service.servers.named)
    presets = ", ".join(LANES)
    sampler = '{"temperature": 1.0, "min_p": 0.05, "xtc": {"rho": 0.5, "tau": 0.1}}'
    rho, tau, seed = (_knob(KNOBS[name]) for name in ("rho", "tau", "seed"))
    _describe(
        generate,
        prompt=f"The beginning of the text; at most {limits.prompt:,} characters.",
        lanes=f"1 to {limits.lanes} lanes, each the name of a preset ({presets}) or an object such "
        f'as {{"name": "mine", "sampler": {sampler}}}; what a sampler leaves out is off. '
        f"`xtc` may have a `dialect`, the engine whose rule it is: one of {', '.join(ENGINES)}.",
        seed=seed,
        max_new_tokens=_knob(limits.length),
        shared_randomness="Whether all lanes draw from the same random numbers.",
        stop="Texts at which a lane ends.",
        system="A system message, for models with a chat template.",
        chat="Whether the prompt goes through the model's chat template.",
        thinking="Whether a model that can think first may do so, where `chat` is true.",
        protect_eos="Whether XTC must never remove a token that ends the text.",
        protect_newline="Whether XTC must never remove a token with a line break.",
        protect_texts="Texts whose first tokens XTC must never remove.",
    )
    _describe(
        what_if,
        run="The name of a run, as `generate` gave it.",
        lane="The number of its lane, from 1 on.",
        rho=rho,
        tau=tau,
    )
    _describe(
        audit,
        server=f"The address of the server: {named}.",
        rho=f"What it is asked for. {rho}",
        tau=f"What it is asked for. {tau}",
    )
    return [_worded(tool) for tool in (generate, what_if, *((audit,) if named else ()))]


def _lane(run: Run, lane: object) -> int:
    number = whole("lane", lane)
    if not 1 <= number <= len(run.lanes):
        raise SettingsError("lane", f"an integer in [1, {len(run.lanes)}]", lane)
    return number - 1


def _lanes(run: Run) -> list[Json]:
    """Return what there is to say of each lane."""
    return [_told(run, number) for number in range(len(run.lanes))]


def _told(run: Run, number: int) -> Json:
    lane, text = run.lanes[number], run.recorder.text
    xtc = lane.settings.sampler.xtc
    fired = [(i, step) for i, step in enumerate(lane.steps) if step.outcome is Outcome.FIRED]
    return {
        "name": lane.settings.name,
        "text": "".join(step.text for step in lane.steps),
        "tokens": len(lane.steps),
        "finish": lane.finish,
        "xtc": {"rho": xtc.rho, "tau": xtc.tau, "engine": xtc.dialect.name},
        "outcomes": _outcomes(xtc, lane.steps),
        "changed": sum(step.changed for step in lane.steps),
        "fired": [
            {
                "step": i,
                "token": text(step.token),
                "removed": [text(token) for token in step.removed],
                "without_xtc": text(step.counterfactual),
            }
            for i, step in fired[:MOST_STEPS]
        ],
        "fired_left_out": max(0, len(fired) - MOST_STEPS),
    }


def _imagined(steps: Sequence[Step], xtc: XTCSettings, top: int, thought: int) -> Json:
    """Return what these settings would have decided, tokens by their ids.

    A thought at the beginning is left out.
    """
    steps = steps[thought:]
    whatif = evaluate(steps, xtc, top)
    pairs = zip(steps, whatif.decisions, strict=True)
    differ = [
        {
            "step": thought + i,
            "token": step.text,
            "was": str(step.outcome),
            "would_be": str(decision.outcome),
            "removed": list(step.removed),
            "would_remove": list(decision.removed),
        }
        for i, (step, decision) in enumerate(pairs)
        if step.removed != decision.removed
    ]
    return {
        "rho": xtc.rho,
        "tau": xtc.tau,
        "steps": len(steps),
        "outcomes": _outcomes(xtc, whatif.decisions),
        "expected_interventions": round(whatif.expected_interventions, 2),
        "expected_removed_mass": round(whatif.expected_removed_mass, 4),
        "exact": whatif.exact,
        "differs": differ[:MOST_STEPS],
        "differs_left_out": max(0, len(differ) - MOST_STEPS),
    }


def _outcomes(xtc: XTCSettings, decided: Sequence[Step] | Sequence[Decision]) -> dict[str, int]:
    """Return how many steps have each outcome; all are `off` where XTC can never act."""
    if not xtc.rho:
        return {"off": len(decided)}
    return Counter(str(each.outcome) for each in decided)


def _named(service: Service, server: object) -> RemoteSpec:
    """Return a server that the owner of the page named, with its key. Raises `SettingsError`."""
    named = service.servers.named
    try:
        address = parse_address(server) if isinstance(server, str) else ""
    except SettingsError as error:
        raise SettingsError("server", f"one of {', '.join(named)}", error.value) from None
    if address not in named:
        raise SettingsError("server", f"one of {', '.join(named)}", Words("another address"))
    return RemoteSpec(address, key=service.servers.key)


def _worded(tool: Tool) -> Tool:
    """Return a tool whose failures are sentences, and those that nobody foresaw logged."""

    @wraps(tool)
    async def worded(*values: Any, **named: Any) -> str:
        try:
            return await tool(*values, **named)
        except LaneError as error:
            raise XTCVizError(f"lane {error.lane + 1}: {error}") from error
        except XTCVizError:
            raise
        except Exception as error:
            log.exception("the tool %s failed", tool.__name__)
            raise XTCVizError(WENT_WRONG) from error

    return worded


def _describe(tool: Tool, **about: str) -> None:
    """Add what each argument is to the description that agents read."""
    lines = "".join(f"\n{name}: {words}" for name, words in about.items())
    tool.__doc__ = f"{' '.join((tool.__doc__ or '').split())}\n\nArgs:{lines}"


def _knob(knob: Any) -> str:
    return f"{knob.help} {knob.interval[0].upper()}{knob.interval[1:]}."


def _text(values: Json) -> str:
    return json.dumps(values, ensure_ascii=False)

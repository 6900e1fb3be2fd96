"""One press of Generate from the request to the last token, as messages to the page."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from xtc_viz.errors import SettingsError, XTCVizError
from xtc_viz.models.base import LanguageModel
from xtc_viz.runs.jobs import Job, check_writer, fork, fresh, resume, rewrite
from xtc_viz.ui import audit, controls, payload, spread
from xtc_viz.ui.access import May
from xtc_viz.ui.audience import Audience
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.run import Run
from xtc_viz.ui.service import Ended, Event, Plan, Service, Waiting, events, in_thread, waits_for
from xtc_viz.ui.wording import WENT_WRONG, problem

INTERVAL = 0.07  # seconds between two messages: more than 14 a second no reader can use
log = logging.getLogger(__name__)

Message = dict[str, Any]


async def stream(
    service: Service,
    data: object,
    visitor: str = "",
    audience: Audience | None = None,
    may: May = May.FIXED,
) -> AsyncGenerator[str, None]:
    """Yield `messages` as JSON."""
    async with aclosing(messages(service, data, visitor, audience, may)) as every:
        async for message in every:
            yield payload.encode(message)


def refusal(data: object, error: XTCVizError) -> str:
    """Return the message, as JSON, that a request is refused with before it is a run."""
    number = data.get("req", 0) if isinstance(data, Mapping) else 0
    return payload.encode({"req": number, "error": problem(error)})


async def messages(
    service: Service,
    data: object,
    visitor: str = "",
    audience: Audience | None = None,
    may: May = May.FIXED,
) -> AsyncGenerator[Message, None]:
    """Run one request of a visitor, for a run, a spread of many or an audit of the server, and
    yield messages for the page, at most 14 a second.

    `may` is which models this visitor may load. All messages have the number `req` that the page
    gave to its request, and the run's id. The model's turn is given up however this ends: see
    `events`.
    """
    values: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    run_id = service.store.reserve()
    about = {"req": values.get("req", 0), "run": run_id}
    stop = service.stops.open(run_id)
    try:
        match values.get("kind"):
            case "spread":
                every = spread.messages(service, values, visitor, stop, audience)
            case "audit":
                every = audit.messages(service, values, visitor, stop, audience, may)
            case _:
                every = _one(service, values, run_id, visitor, stop, audience)
        async with aclosing(every) as news:
            async for message in news:
                yield {**about, **message}
    except XTCVizError as error:
        yield {**about, "error": problem(error)}
    except Exception:
        log.exception("a run failed")
        yield {**about, "error": {"message": f"{WENT_WRONG} What you see is kept."}}
    finally:
        service.stops.close(run_id)


async def _one(
    service: Service,
    values: Mapping[str, Any],
    run_id: str,
    visitor: str,
    stop: threading.Event,
    audience: Audience | None,
) -> AsyncGenerator[Message, None]:
    plan = await in_thread(plan_of, service, values)
    yield {"state": "starting"}
    every = events(service, plan, visitor, stop, audience, INTERVAL)
    async with aclosing(_messages(service, every, run_id, visitor)) as news:
        async for message in news:
            yield message


def plan_of(service: Service, data: Mapping[str, Any]) -> Plan:
    """Return what the page wants to be decoded.

    What is wrong with a fresh run is raised here, and not after the waiting. A run that is to go
    on may be going until the turn comes: what is wrong with that is raised by the plan.
    """
    if data.get("kind", "run") != "run":
        return lambda model: _more(service, data, model)
    request = controls.parse(data, service.limits)
    return lambda model: fresh(request, model)


def _more(service: Service, data: Mapping[str, Any], model: LanguageModel) -> Job:
    """Return the job that goes on with a run of the store, within the limits."""
    limits, kind = service.limits, data["kind"]
    if kind not in ("continue", "branch", "edit"):
        raise SettingsError("kind", "run, continue, branch or edit", kind)
    former = service.store.get(data.get("run")).trace()
    check_writer(former, model)
    limits.check_prompt(former.prompt, len(former.prompt_ids))
    if kind == "continue":
        limits.check_lanes(len(former.lanes))
        more = int(limits.length.check(data.get("more")))
        one = data.get("lane")
        lane = None if one is None else controls.whole("lane", one)
        return resume(former, more, limits.max_tokens, lane)
    if kind == "edit":
        limits.check_lanes(len(former.lanes))
        more = int(limits.length.check(data.get("more")))
        lane, text = controls.whole("lane", data.get("lane")), data.get("text")
        edited = limits.check_text("text", text)
        return rewrite(former, lane, edited, more, model, limits.max_tokens)
    limits.check_lanes(len(former.lanes) + 1)
    lane, i = (controls.whole(name, data.get(name)) for name in ("lane", "i"))
    limits.check_position(i)
    return fork(former, lane, i, _chosen(data, limits), model, limits.max_tokens)


def _chosen(data: Mapping[str, Any], limits: Limits) -> int | str:
    """Return what a branch is to begin with: a token's id, or a text."""
    if ("text" in data) == ("token" in data):
        raise SettingsError("token", "there where no text is, and not beside one", sorted(data))
    if "token" in data:
        return controls.whole("token", data["token"])
    return limits.check_text("text", data["text"])


async def _messages(
    service: Service, happening: AsyncGenerator[Event, None], run_id: str, visitor: str
) -> AsyncGenerator[Message, None]:
    run: Run | None = None
    at: list[int] = []
    try:
        async with aclosing(happening) as every:
            async for event in every:
                if isinstance(event, Waiting):
                    note = waits_for(event.state)
                    yield {"state": "waiting", "place": event.place, "note": note}
                    continue
                if run is None:
                    # Only now is it certain that the prompt fits: the page keeps the former run
                    # on show until there is something to take its place.
                    run = await in_thread(Run, event.recorder, "running")
                    await in_thread(partial(service.store.add, run, run_id, owner=visitor))
                if isinstance(event, Ended):
                    run.state = "stopped" if event.stopped else "done"
                yield await in_thread(run.message, at) if at else await in_thread(run.whole, run_id)
                at = run.lengths
        if run is None:  # stopped while it waited
            yield {"state": "stopped"}
    finally:
        if run and run.state == "running":  # an error, or nobody listens any more
            run.state = "stopped"

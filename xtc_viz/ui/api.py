"""`/generate`: the public endpoint for programs. Prompt and lanes in, progress, the trace out."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import gradio as gr
from gradio.events import api

from xtc_viz.errors import LaneError, SettingsError, XTCVizError
from xtc_viz.knobs import KNOBS
from xtc_viz.models.base import LanguageModel
from xtc_viz.runs import presets
from xtc_viz.runs.jobs import Job, fresh
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings
from xtc_viz.ui import controls
from xtc_viz.ui.audience import Audience, audience_of
from xtc_viz.ui.heavy import result
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.service import AT_ONCE, Ended, Service, Waiting, events, in_thread
from xtc_viz.ui.visitors import visitor_of
from xtc_viz.ui.wording import WENT_WRONG

INTERVAL = 0.1  # seconds between two reports; the whole text is in each
LANES = {
    lane.name: lane for lane in (*presets.DEFAULT_LANES, *presets.STRENGTHS, *presets.COMPARATORS)
}
TWO_LANES: list[Any] = [lane.name for lane in presets.DEFAULT_LANES]
NO_TEXTS: list[str] = []

Report = dict[str, Any]
log = logging.getLogger(__name__)


def build_api(service: Service) -> None:
    """Add `/generate` to the current blocks; see docs/api.md."""

    # Gradio describes the endpoint by these annotations and checks nothing.
    async def generate(
        prompt: str,
        lanes: list[Any] = TWO_LANES,
        seed: int = int(KNOBS["seed"].default),
        max_new_tokens: int = int(service.limits.length.default),
        shared_randomness: bool = True,
        stop: list[str] = NO_TEXTS,
        top_candidates: int = int(KNOBS["top_candidates"].default),
        system: str = "",
        chat: bool = False,
        thinking: bool = True,
        protect_eos: bool = True,
        protect_newline: bool | str = True,
        protect_texts: list[str] = NO_TEXTS,
        server_draws: bool = False,
        request: gr.Request | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Write on from a prompt in up to six lanes at once, on the same random numbers.

        A lane is the name of a preset or an object such as {"name": "mine", "sampler":
        {"temperature": 1.0, "xtc": {"rho": 0.5, "tau": 0.1}}}. Reports how the run stands as it
        goes on; the last report holds the trace of every step, as the text of a trace file.
        """
        try:
            wish = asked(
                service.limits,
                prompt=prompt, lanes=lanes, seed=seed, max_new_tokens=max_new_tokens,
                shared_randomness=shared_randomness, stop=stop, top_candidates=top_candidates,
                system=system, chat=chat, thinking=thinking, protect_eos=protect_eos,
                protect_newline=protect_newline, protect_texts=protect_texts,
                server_draws=server_draws,
            )  # fmt: skip
            told = reports(service, wish, visitor_of(request), audience_of(request))
            async with aclosing(told) as every:
                async for report in every:
                    yield report
        except LaneError as error:
            raise _error(f"lane {error.lane + 1}: {error}") from error
        except XTCVizError as error:
            raise _error(str(error)) from error
        except Exception as error:
            log.exception("/generate failed")
            raise _error(WENT_WRONG) from error

    api(generate, api_name="generate", concurrency_limit=AT_ONCE)


def asked(limits: Limits, **values: Any) -> Request:
    """Return the request that the arguments of `/generate` are, by their names.

    Raises:
        SettingsError: naming the field; `LaneError` that of a lane.
    """
    for name in ("chat", "thinking", "protect_eos"):
        if not isinstance(values[name], bool):
            raise SettingsError(name, "true or false", values[name])
    lanes = values.pop("lanes")
    settings = {"lanes": named_lanes(TWO_LANES if lanes is None else lanes)}
    protect = {}
    for name in (
        "seed",
        "max_new_tokens",
        "shared_randomness",
        "stop",
        "top_candidates",
        "server_draws",
    ):
        if name in values:
            settings[name] = values.pop(name)
    for name in ("eos", "newline", "texts"):
        protect[name] = values.pop(f"protect_{name}")
    return controls.parse({**values, "settings": settings, "protect": protect}, limits)


def named_lanes(lanes: object) -> list[object]:
    """Return lanes with the names of presets replaced by what they stand for."""
    if isinstance(lanes, (str, Mapping)) or not isinstance(lanes, Sequence):
        raise SettingsError("lanes", "a list of names and objects", lanes)
    return [_preset(lane).to_dict() if isinstance(lane, str) else lane for lane in lanes]


def _preset(name: str) -> LaneSettings:
    lane = {key.lower(): lane for key, lane in LANES.items()}.get(name.strip().lower())
    if lane is None:
        raise SettingsError("lanes", f"an object or one of {', '.join(LANES)}", name)
    return lane


async def reports(
    service: Service, request: Request, visitor: str = "", audience: Audience | None = None
) -> AsyncGenerator[Report, None]:
    """Run a request in its turn and yield reports, all with the same names, each with its `state`:

    - `waiting`: `place` runs are ahead, and `note` says it if a model is still loading;
    - `running`: the `texts` so far, and how many `tokens` they have, lane by lane;
    - `done`: these, why each lane ended (`finish`), and the `trace` as the text of a trace file,
      because an object of a million numbers would be walked through by gradio again and again.

    The model's turn is given up however this ends; closing this generator ends the run.
    """
    lanes = len(request.settings.lanes)
    empty: Report = {
        "state": "waiting",
        "place": 0,
        "note": "",
        "texts": [""] * lanes,
        "tokens": [0] * lanes,
        "finish": [None] * lanes,
        "trace": None,
    }
    texts, tokens = [""] * lanes, [0] * lanes

    def plan(model: LanguageModel) -> Job:
        return fresh(request, model)

    happening = events(service, plan, visitor, audience=audience, interval=INTERVAL)
    async with aclosing(happening) as every:
        async for event in every:
            if isinstance(event, Waiting):
                load = event.state.load
                note = f"{load.name} is still loading" if load else ""
                yield {**empty, "place": event.place, "note": note}
                continue
            for number, lane in enumerate(event.recorder.lanes):
                texts[number] += "".join(step.text for step in lane.steps[tokens[number] :])
                tokens[number] = len(lane.steps)
            report = {**empty, "state": "running", "texts": texts[:], "tokens": tokens[:]}
            if isinstance(event, Ended):
                trace = event.recorder.trace()
                finish = [lane.finish for lane in trace.lanes]
                written = await in_thread(result, trace, event.recorder.nbytes)
                report |= {"state": "done", "finish": finish, "trace": written}
            yield report


def _error(words: str) -> gr.Error:
    return gr.Error(words, print_exception=False)

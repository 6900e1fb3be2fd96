"""`/generate`: the public endpoint for programs. Prompt and lanes in, progress, the trace out."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter
from typing import Any

import gradio as gr
from gradio.events import api

from xtc_viz.decode import Recorder, decode_lanes
from xtc_viz.errors import SettingsError, XTCVizError
from xtc_viz.knobs import KNOBS
from xtc_viz.models.host import ModelHost, Turn
from xtc_viz.records import tracefile
from xtc_viz.runs import presets
from xtc_viz.runs.protected import worth_naming
from xtc_viz.runs.worker import Decode
from xtc_viz.settings import LaneSettings
from xtc_viz.ui import controls
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.visitors import visitor_of

INTERVAL = 0.1  # seconds between two reports; the whole text is in each
PATIENCE = 0.25  # seconds between two looks at the queue, and so at a caller who hung up
CALLS_AT_ONCE = 32  # they share one model; the others wait in line and are told their place
LANES = {
    lane.name: lane for lane in (*presets.DEFAULT_LANES, *presets.STRENGTHS, *presets.COMPARATORS)
}
TWO_LANES: list[Any] = [lane.name for lane in presets.DEFAULT_LANES]
NO_TEXTS: list[str] = []

Report = dict[str, Any]
log = logging.getLogger(__name__)


def build_api(host: ModelHost, limits: Limits = NO_LIMITS, decode: Decode = decode_lanes) -> None:
    """Add `/generate` to the current blocks; see docs/api.md."""

    # Gradio describes the endpoint by these annotations and checks nothing.
    def generate(
        prompt: str,
        lanes: list[Any] = TWO_LANES,
        seed: int = int(KNOBS["seed"].default),
        max_new_tokens: int = int(limits.length.default),
        shared_randomness: bool = True,
        stop: list[str] = NO_TEXTS,
        top_candidates: int = int(KNOBS["top_candidates"].default),
        system: str = "",
        chat: bool = False,
        thinking: bool = True,
        protect_eos: bool = True,
        protect_newline: bool | str = True,
        protect_texts: list[str] = NO_TEXTS,
        request: gr.Request | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Write on from a prompt in up to four lanes at once, on the same random numbers.

        A lane is the name of a preset or an object such as {"name": "mine", "sampler":
        {"temperature": 1.0, "xtc": {"rho": 0.5, "tau": 0.1}}}. Reports how the run stands as it
        goes on; the last report holds the trace of every step, as the text of a trace file.
        """
        switches = {"chat": chat, "thinking": thinking, "protect_eos": protect_eos}
        try:
            for name, value in switches.items():
                if not isinstance(value, bool):
                    raise SettingsError(name, "true or false", value)
            settings = {
                "lanes": named_lanes(TWO_LANES if lanes is None else lanes),
                "seed": seed,
                "max_new_tokens": max_new_tokens,
                "shared_randomness": shared_randomness,
                "stop": stop,
                "top_candidates": top_candidates,
            }
            protect = {"eos": protect_eos, "newline": protect_newline, "texts": protect_texts}
            chosen = {"system": system, "chat": chat, "thinking": thinking}
            data = {"prompt": prompt, "protect": protect, **chosen}
            asked = controls.parse(data | {"settings": settings}, limits)
            turn = host.turn(visitor_of(request))
            with closing(reports(host, turn, asked, decode)) as found:
                yield from found
        except controls.LaneError as error:
            raise _said(f"lane {error.lane + 1}: {error}") from error
        except XTCVizError as error:
            raise _said(str(error)) from error
        except Exception as error:
            log.exception("/generate failed")
            raise _said("Something went wrong on the server; its log says what.") from error

    api(generate, api_name="generate", concurrency_limit=CALLS_AT_ONCE)


def named_lanes(lanes: object) -> list[object]:
    """Return lanes with the names of presets replaced by what they stand for."""
    if isinstance(lanes, (str, Mapping)) or not isinstance(lanes, Sequence):
        raise SettingsError("lanes", "a list of names and objects", lanes)
    return [_preset(lane).to_dict() if isinstance(lane, str) else lane for lane in lanes]


def _preset(name: str) -> LaneSettings:
    found = {key.lower(): lane for key, lane in LANES.items()}.get(name.strip().lower())
    if found is None:
        raise SettingsError("lanes", f"an object or one of {', '.join(LANES)}", name)
    return found


def reports(
    host: ModelHost, turn: Turn, request: controls.Request, decode: Decode = decode_lanes
) -> Generator[Report, None, None]:
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
    with turn:
        while not turn.wait(PATIENCE):
            load = host.state.load
            note = f"{load.name} is still loading" if load else ""
            yield {**empty, "place": turn.ahead, "note": note}
        with closing(_decoded(turn, request, decode)) as found:
            for report in found:
                yield {**empty, **report}


def _decoded(
    turn: Turn, request: controls.Request, decode: Decode
) -> Generator[Report, None, None]:
    model = turn.model
    settings = request.guarded(model)
    prompt_ids = request.encode(model)
    recorder = Recorder(
        model, request.prompt, prompt_ids, settings, system=request.system, chat=request.chat
    )
    texts = [""] * len(settings.lanes)
    tokens = [0] * len(settings.lanes)
    told = 0.0
    with closing(decode(model, prompt_ids, settings)) as columns:
        for column in columns:
            recorder.add(column)
            for lane, step in enumerate(column.steps):
                if step:
                    texts[lane] += step.text
                    tokens[lane] += 1
            if perf_counter() - told >= INTERVAL:
                yield {"state": "running", "texts": texts[:], "tokens": tokens[:]}
                told = perf_counter()
    trace = recorder.trace()
    guarded = worth_naming(settings.lanes[0].sampler.xtc.protected, model.info)
    names = {token: model.token_text(token) for token in guarded}
    trace = replace(trace, vocabulary=names | trace.vocabulary)
    yield {
        "state": "done",
        "texts": texts,
        "tokens": tokens,
        "finish": [lane.finish for lane in trace.lanes],
        "trace": tracefile.dumps(trace),
    }


def _said(words: str) -> gr.Error:
    return gr.Error(words, print_exception=False)

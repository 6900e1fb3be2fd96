"""Two lanes that we draw, against what llama.cpp's server writes by itself, both on one thread.

Our side: the page's two lanes on the story model in a real server, with the whole record, one
request a step. The reference: one stream of the same length in one request, with as many candidates
at every step. Server and client are one process here, so its CPU time is that of both. Needs
requirements-dev.txt.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bench.timing import Result, alternating, main, time_text
from xtc_viz.models.remote.model import FACTOR, FIRST, RemoteModel
from xtc_viz.runs import presets
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

PROMPT = "Once upon a time"
LENGTH = 64
PLAIN = (
    LaneSettings("Plain", SamplerSettings()),
    LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(0.5, 0.1))),
)
LANES = {"min-p 0.05": (presets.DEFAULT_LANES, FIRST), "no cutoff": (PLAIN, FIRST * FACTOR)}
"""Each with the candidates that most of its steps are shown."""


def measure() -> list[Result]:
    if not (find_spec("xllamacpp") and find_spec("gguf")):
        return []
    from tests.models.remote.llama import serving, write_story_model

    with tempfile.TemporaryDirectory() as folder:
        path = write_story_model(Path(folder) / "story.gguf")
        with serving(path) as address:
            return compare(RemoteModel.connect(address))


def compare(model: RemoteModel) -> list[Result]:
    prompt = model.encode(PROMPT)
    written: dict[str, int] = {}

    def drawn(name: str) -> None:
        settings = RunSettings(lanes=LANES[name][0], max_new_tokens=LENGTH)
        trace = record(model, Request(PROMPT, settings))
        written[name] = sum(len(lane.steps) for lane in trace.lanes)

    def alone(count: int) -> None:
        values = {
            "prompt": prompt,
            "n_predict": LENGTH,
            "n_probs": count,
            "ignore_eos": True,
            "temperature": 1.0,
            "seed": 7,
        }
        answer = model.wire.post("/completion", values, seconds=300, most=2**28)
        written[f"alone, {count}"] = len(answer["completion_probabilities"])

    cases: dict[str, Callable[[], object]] = {}
    for name, (_, count) in LANES.items():
        cases[f"alone, {count}"] = partial(alone, count)
        cases[name] = partial(drawn, name)
    times = alternating(cases, rounds=5)
    each = {name: seconds / written[name] for name, seconds in times.items()}
    return [
        Result(
            f"server, two lanes drawn here, {name}: of its own tokens/s for one stream",
            each[f"alone, {count}"] / each[name], "×", at_least=0.5,
            detail=f"{time_text(each[name])} a token, the server alone with {count} candidates "
            f"{time_text(each[f'alone, {count}'])}",
        )
        for name, (_, count) in LANES.items()
    ]  # fmt: skip


if __name__ == "__main__":
    main(measure, __doc__)

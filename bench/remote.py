"""What a model on llama.cpp's server costs here, against what that writes by itself, on one thread.

Our side: the page's two lanes on the story model in a real server, with the whole record; drawn
here, with one request a step, or by the server, each lane one request that is streamed and
explained. The reference: one stream of the same length in one request, with as many candidates at
every step. Server and client are one process here, so its CPU time is that of both. Needs
requirements-dev.txt.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bench.timing import Result, alternating, main, time_text
from xtc_viz.knobs import KNOBS
from xtc_viz.models.remote.model import FACTOR, FIRST, RemoteModel
from xtc_viz.runs import presets
from xtc_viz.runs.chain import TOP_K
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

PROMPT = "Once upon a time"
LENGTH = int(KNOBS["max_new_tokens"].default)
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

    def drawn(name: str, settings: RunSettings) -> None:
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
    for name, (lanes, count) in LANES.items():
        cases[f"alone, {count}"] = partial(alone, count)
        cases[name] = partial(drawn, name, RunSettings(lanes, max_new_tokens=LENGTH))
    served = RunSettings(presets.DEFAULT_LANES, max_new_tokens=LENGTH, server_draws=True)
    cases[f"alone, {TOP_K}"] = partial(alone, TOP_K)
    cases["served"] = partial(drawn, "served", served)
    times = alternating(cases, rounds=5)
    each = {name: seconds / written[name] for name, seconds in times.items()}

    def result(what: str, name: str, count: int, limit: float) -> Result:
        reference = each[f"alone, {count}"]
        return Result(
            f"server, two lanes drawn {what}: of its own tokens/s for one stream",
            reference / each[name], "×", at_least=limit,
            detail=f"{time_text(each[name])} a token, the server alone with {count} candidates "
            f"{time_text(reference)}",
        )  # fmt: skip

    here = [result(f"here, {name}", name, count, 0.5) for name, (_, count) in LANES.items()]
    return [*here, result("by the server itself, explained", "served", TOP_K, 0.9)]


if __name__ == "__main__":
    main(measure, __doc__)

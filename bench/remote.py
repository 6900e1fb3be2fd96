"""What a model on llama.cpp's server costs here, against what that writes by itself, on one thread.

Our side: the page's two lanes on the story model in a real server, with the whole record; drawn
here, with one request a step, or by the server, each lane one request that is streamed and
explained. The reference: one stream of the same length in one request, with as many candidates at
every step. Lanes drawn here are timed by the CPU of this process, which is server and client. What
the server draws is timed by the clock on the wall too: while it writes a token, the one before is
explained on another core, and nobody waits for that. (Beside busy neighbours that says little.)
Needs requirements-dev.txt.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

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
ROUNDS = 5
PLAIN = (
    LaneSettings("Plain", SamplerSettings()),
    LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(0.5, 0.1))),
)
HERE = {"min-p 0.05": (presets.DEFAULT_LANES, FIRST), "no cutoff": (PLAIN, FIRST * FACTOR)}
"""Lanes that are drawn here, each with the candidates that most of its steps are shown."""
ITSELF = {"one lane": presets.DEFAULT_LANES[1:], "two lanes": presets.DEFAULT_LANES}
"""Lanes that the server draws by itself."""


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

    def per_token(times: Mapping[str, float]) -> dict[str, float]:
        return {name: seconds / written[name] for name, seconds in times.items()}

    def result(
        what: str, times: Mapping[str, float], name: str, count: int, **limit: float
    ) -> Result:
        own = times[f"alone, {count}"]
        return Result(
            f"server, {what}: of its own tokens/s for one stream", own / times[name], "×",
            detail=f"{time_text(times[name])} a token, the server alone with {count} candidates "
            f"{time_text(own)}", **limit,
        )  # fmt: skip

    here: dict[str, Callable[[], object]] = {}
    for name, (lanes, count) in HERE.items():
        here[f"alone, {count}"] = partial(alone, count)
        here[name] = partial(drawn, name, RunSettings(lanes, max_new_tokens=LENGTH))
    itself: dict[str, Callable[[], object]] = {f"alone, {TOP_K}": partial(alone, TOP_K)}
    for name, some in ITSELF.items():
        settings = RunSettings(some, max_new_tokens=LENGTH, server_draws=True)
        itself[name] = partial(drawn, name, settings)
    work = per_token(alternating(here | itself, ROUNDS))
    wall = per_token(alternating(itself, ROUNDS, perf_counter))
    return [
        *(
            result(f"two lanes drawn here, {name}", work, name, count, at_least=0.5)
            for name, (_, count) in HERE.items()
        ),
        *(
            result(f"{name} drawn by itself, explained", wall, name, TOP_K, at_least=0.9)
            for name in ITSELF
        ),
        *(
            result(f"{name} drawn by itself, explained, CPU of both", work, name, TOP_K)
            for name in ITSELF
        ),
    ]


if __name__ == "__main__":
    main(measure, __doc__)

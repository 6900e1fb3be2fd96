"""llama.cpp's own server reads what is written for it, and what it writes is read.

Each reply says the settings it was drawn with (`generation_settings`): a text that llama.cpp wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.models.remote.llama import serving, write_story_model
from xtc_viz.engines.forms import FORMS
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.reading import read
from xtc_viz.engines.writing import acting, write
from xtc_viz.sampling.stages import STAGES
from xtc_viz.settings import TEMPERATURE, LaneSettings, SamplerSettings, XTCSettings, in_order

pytestmark = [pytest.mark.engines, pytest.mark.slow]
REQUEST = FORMS["llama.cpp request"]
LANES = {
    "plain": SamplerSettings(),
    "XTC": SamplerSettings(min_p=0.05, xtc=XTCSettings(0.5, 0.1)),
    "in its order": SamplerSettings(
        temperature=1.3, top_p=0.9, xtc=XTCSettings(1.0, 0.2), order=in_order(TEMPERATURE)
    ),
    "all": SamplerSettings(
        temperature=0.9, dynatemp_range=0.4, dynatemp_exponent=1.5, top_n_sigma=2.5, top_k=50,
        top_p=0.95, min_p=0.02, typical_p=0.9, repetition_penalty=1.1, frequency_penalty=0.2,
        presence_penalty=0.3, penalty_window=32, dry_multiplier=0.8, dry_allowed_length=3,
        xtc=XTCSettings(0.25, 0.15),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(write_story_model(tmp_path_factory.mktemp("gguf") / "story.gguf")) as address:
        yield address


@pytest.mark.parametrize("sampler", LANES.values(), ids=LANES)
def test_what_the_server_did_is_what_the_lane_says(server: str, sampler: SamplerSettings) -> None:
    text = write(LaneSettings("a", sampler), REQUEST).text
    body = json.loads(text) | {"prompt": "Once upon a time", "n_predict": 1, "seed": 1}
    reply = httpx.post(f"{server}/completion", json=body, timeout=60)
    assert reply.status_code == 200, reply.text
    reading = read(json.dumps(reply.json()["generation_settings"]))
    assert reading.form == REQUEST
    # What else it tells is of its version, and nothing that samples.
    assert [one for one in reading.problems if "speculative" not in one] == []
    back = reading.lane.sampler
    assert (back.xtc.rho, back.xtc.tau) == (sampler.xtc.rho, sampler.xtc.tau)
    assert back.xtc.dialect == ENGINES["llama.cpp"].dialect
    for stage in STAGES:
        assert stage.is_on(back) == stage.is_on(sampler), stage.name
        for knob in stage.knobs if stage.is_on(sampler) else ():
            here, there = getattr(sampler, knob.name), getattr(back, knob.name)
            assert there == pytest.approx(here), knob.name
    assert acting(back, back.order) == acting(sampler, sampler.order)


def test_its_own_defaults_are_those_of_the_form(server: str) -> None:
    body = {"prompt": "Once", "n_predict": 1}
    reply = httpx.post(f"{server}/completion", json=body, timeout=60).json()
    said = reply["generation_settings"]
    for one in REQUEST.fields:
        assert said[one.name] == pytest.approx(one.absent), one.name
    order = read(json.dumps(said)).lane.sampler.order
    engine = ENGINES["llama.cpp"].order
    assert [stage for stage in order if stage in engine] == list(engine)

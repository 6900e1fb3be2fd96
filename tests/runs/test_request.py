"""A request: parsed once, and what it means on a model."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import LaneError, SettingsError
from xtc_viz.models.fake import END, FakeModel
from xtc_viz.records.modelinfo import Served
from xtc_viz.runs import presets
from xtc_viz.runs.protection import NOTHING, Newlines, Protection
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

MODEL = FakeModel()


def plain(**changes: object) -> dict[str, object]:
    settings = RunSettings(lanes=presets.DEFAULT_LANES).to_dict()
    data: dict[str, object] = json.loads(json.dumps({"prompt": "Once", "settings": settings}))
    return data | changes


def test_by_hand() -> None:
    request = Request.parse(
        {
            "prompt": " Once ",
            "settings": {"lanes": [{"name": "a", "sampler": {"top_k": 3}}, {}], "seed": 5},
            "protect": {"eos": False, "newline": "token", "texts": [" Lily"]},
            "system": "Be brief.",
            "chat": True,
            "thinking": False,
            "req": 9,
        }
    )
    assert request.prompt == " Once ", "the spaces around it are kept"
    assert request.settings.seed == 5
    assert [lane.name for lane in request.settings.lanes] == ["a", "Baseline"]
    assert request.settings.lanes[0].sampler.top_k == 3
    assert request.protection == Protection(False, Newlines.TOKEN, (" Lily",))
    assert (request.system, request.chat, request.thinking) == ("Be brief.", True, False)


def test_what_is_left_out_has_its_default() -> None:
    request = Request.parse({"prompt": "Once", "settings": {"lanes": [{}]}})
    assert request == Request("Once", RunSettings())
    with pytest.raises(FrozenInstanceError):
        request.prompt = "Twice"  # type: ignore[misc]


@given(
    st.lists(st.sampled_from([*presets.STRENGTHS, *presets.COMPARATORS]), min_size=1, max_size=4),
    st.integers(0, 2**63 - 1),
    st.integers(1, 4096),
    st.booleans(),
    st.sampled_from([Protection(), NOTHING, Protection(texts=(" a", "b"))]),
)
def test_plain_data_and_back(
    lanes: list[LaneSettings], seed: int, length: int, shared: bool, protection: Protection
) -> None:
    settings = RunSettings(
        lanes=tuple(lanes), seed=seed, max_new_tokens=length, shared_randomness=shared
    )
    data = {"prompt": "x", "settings": settings.to_dict(), "protect": protection.to_dict()}
    assert Request.parse(json.loads(json.dumps(data))) == Request("x", settings, protection)


def test_how_many_lanes_there_may_be_is_not_for_it_to_say() -> None:
    request = Request.parse(plain(settings={"lanes": [{}] * 9}))
    assert len(request.settings.lanes) == 9


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"prompt": ""}, "prompt"),
        ({"prompt": " \n\t"}, "prompt"),
        ({"prompt": 5}, "prompt"),
        ({"system": None}, "system"),
        ({"settings": []}, "settings"),
        ({"settings": {"lanes": "two"}}, "lanes"),
        ({"settings": {"lanes": []}}, "lanes"),
        ({"settings": {"lanes": [{}], "seed": "seven"}}, "seed"),
        ({"settings": {"lanes": [{}], "colour": 1}}, "colour"),
        ({"protect": []}, "protect"),
        ({"protect": {"newline": "some"}}, "protect_newline"),
    ],
)
def test_every_wrong_value_is_named(change: dict[str, object], field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Request.parse(plain(**change))
    assert caught.value.parameter == field
    assert not isinstance(caught.value, LaneError)


def test_an_error_of_a_lane_names_the_lane() -> None:
    lanes = [{}, {"sampler": {"xtc": {"tau": 3}}}]
    with pytest.raises(LaneError, match=r"`tau` must be in \(0, 1\), but is 3") as caught:
        Request.parse(plain(settings={"lanes": lanes}))
    assert (caught.value.parameter, caught.value.lane) == ("tau", 1)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_nothing_else_than_a_settings_error_comes_of_garbage(value: object) -> None:
    for data in (value, plain(prompt=value), plain(settings=value), plain(protect=value)):
        try:
            Request.parse(data)
        except SettingsError:
            continue


def test_it_is_no_matter_of_a_page_how_long_a_text_is() -> None:
    assert len(Request.parse(plain(prompt="x" * 200_000)).prompt) == 200_000


def test_it_puts_the_protected_tokens_of_a_model_into_every_lane() -> None:
    lily = MODEL.encode(" Lily")[0]
    request = Request(
        "Once", RunSettings(lanes=presets.DEFAULT_LANES), Protection(texts=(" Lily",))
    )
    lanes = request.guarded(MODEL).lanes
    expected = {END, lily, *MODEL.info.newline_ids}
    assert [lane.sampler.xtc.protected for lane in lanes] == [expected] * 2
    assert [lane.name for lane in lanes] == ["Baseline", "XTC"]
    bare = Request("Once", request.settings, NOTHING).guarded(MODEL)
    assert bare == request.settings


def test_a_chat_uses_the_template_and_plain_text_does_not() -> None:
    settings = RunSettings()
    assert Request("Hi", settings).encode(MODEL) == MODEL.encode("Hi")
    chat = Request("Hi", settings, system="Be brief.", chat=True)
    assert chat.encode(MODEL) == MODEL.encode_chat("Hi", "Be brief.")
    silent = Request("Hi", settings, chat=True, thinking=False).encode(MODEL)
    assert silent == MODEL.encode_chat("Hi", thinking=False)
    assert silent != MODEL.encode_chat("Hi")


@pytest.mark.parametrize(
    ("candidates", "tau", "least"),
    [(20, 0.05, ""), (20, 0.049, "0.05"), (10, 0.05, "0.1"), (30, 0.033, "0.0334"),
     (None, 0.001, ""), (1000, 0.001, "")],
)  # fmt: skip
def test_a_tau_that_more_tokens_can_clear_than_a_server_shows(
    candidates: int | None, tau: float, least: str
) -> None:
    model = FakeModel()
    model._info = replace(MODEL.info, served=Served("any", candidates=candidates))
    off, on = (LaneSettings("", SamplerSettings(xtc=XTCSettings(rho, tau))) for rho in (0.0, 0.5))
    Request("Once", RunSettings(lanes=(off,))).guarded(model)
    request = Request("Once", RunSettings(lanes=(off, on)))
    if not least:
        assert request.guarded(model).lanes[1].sampler.xtc.tau == tau
        return
    words = (
        f"`tau` must be at least {least}, as this server shows {candidates} candidates at a step"
    )
    with pytest.raises(LaneError, match=words) as caught:
        request.guarded(model)
    assert (caught.value.parameter, caught.value.lane, caught.value.value) == ("tau", 1, tau)


@given(st.integers(1, 3000), st.floats(1e-4, 0.9))
def test_what_it_lets_through_shows_all_that_is_eligible(candidates: int, tau: float) -> None:
    model = FakeModel()
    model._info = replace(MODEL.info, served=Served("any", candidates=candidates))
    lane = LaneSettings("", SamplerSettings(xtc=XTCSettings(0.5, tau)))
    try:
        Request("Once", RunSettings(lanes=(lane,))).guarded(model)
    except LaneError as error:
        least = float(error.bounds.split()[2].rstrip(","))
        assert tau < 1 / candidates <= least < 1 / candidates + 1e-4
    else:
        assert int(1 / tau) <= candidates

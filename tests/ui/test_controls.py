"""What the page is built from, and what is made of what it sends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import LaneError, SettingsError
from xtc_viz.knobs import KNOBS
from xtc_viz.models.fake import END, FakeModel
from xtc_viz.runs import presets
from xtc_viz.runs.protection import Newlines, Protection
from xtc_viz.settings import RunSettings
from xtc_viz.ui import controls
from xtc_viz.ui.controls import parse, protected_tokens


def sent(**changes: object) -> dict[str, object]:
    """What the page sends when nothing was touched."""
    settings = json.loads(json.dumps(controls.specification()["settings"]))
    return {"req": 3, "prompt": "Once", "settings": settings, "protect": {}, **changes}


def test_the_page_knows_every_knob_and_nothing_else() -> None:
    spec = controls.specification()
    assert set(spec["knobs"]) == set(KNOBS)
    tau = spec["knobs"]["tau"]
    assert (tau["low"], tau["high"]) == KNOBS["tau"].slider
    assert json.loads(json.dumps(spec, allow_nan=False)) is not None


def test_slider_ends_are_allowed_values() -> None:
    for knob in KNOBS.values():
        spec = controls.knob_spec(knob)
        assert knob.check(spec["low"]) == spec["low"]
        if spec["high"] is not None:
            assert knob.check(spec["high"]) == spec["high"]


def test_what_was_not_touched_comes_back_as_the_defaults() -> None:
    request = parse(sent())
    assert request.settings == RunSettings(lanes=presets.DEFAULT_LANES)
    assert (request.prompt, request.chat) == ("Once", False)


@pytest.mark.parametrize("name", ["rho", "tau"])
def test_an_error_names_field_bounds_value_and_lane(name: str) -> None:
    data = sent()
    data["settings"]["lanes"][1]["sampler"]["xtc"][name] = 2.5  # type: ignore[index]
    with pytest.raises(LaneError, match=f"`{name}` must be in .*but is 2.5") as caught:
        parse(data)
    assert (caught.value.parameter, caught.value.lane) == (name, 1)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"prompt": ""}, "prompt"),
        ({"prompt": " \n\t"}, "prompt"),
        ({"prompt": 5}, "prompt"),
        ({"prompt": "x" * 100_001}, "prompt"),
        ({"settings": []}, "settings"),
        ({"settings": {"lanes": "two"}}, "lanes"),
        ({"settings": {"lanes": [{}] * 7}}, "lanes"),
        ({"settings": {"lanes": [{}], "seed": "seven"}}, "seed"),
        ({"settings": {"lanes": [{}], "max_new_tokens": 0}}, "max_new_tokens"),
        ({"settings": {"lanes": [{}], "colour": 1}}, "colour"),
        ({"protect": []}, "protect"),
        ({"protect": {"texts": [""]}}, "protect"),
        ({"protect": {"texts": ["x"] * 201}}, "protect"),
        ({"protect": {"newline": "some"}}, "protect_newline"),
    ],
)
def test_every_wrong_value_is_named(change: dict[str, object], field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse(sent(**change))
    assert caught.value.parameter == field


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_nothing_else_than_a_settings_error_comes_of_garbage(value: object) -> None:
    for data in (value, sent(prompt=value), sent(settings=value), sent(protect=value)):
        try:
            parse(data)
        except SettingsError:
            continue


def test_a_request_puts_them_into_every_lane() -> None:
    model = FakeModel()
    settings = parse(sent()).guarded(model)
    assert all(model.info.eos_ids[0] in lane.sampler.xtc.protected for lane in settings.lanes)


def test_a_prompt_keeps_the_spaces_around_it() -> None:
    assert parse(sent(prompt=" Once ")).prompt == " Once "


def test_chat_uses_the_template_and_plain_text_does_not() -> None:
    model = FakeModel()
    assert parse(sent(chat=True)).encode(model) == model.encode_chat("Once")
    assert parse(sent()).encode(model) == model.encode("Once")
    silent = model.encode_chat("Once", thinking=False)
    assert parse(sent(chat=True, thinking=False)).encode(model) == silent
    assert silent != model.encode_chat("Once")


def test_a_choice_of_protected_tokens_is_shown_protected_tokens() -> None:
    model = FakeModel()
    shown = protected_tokens(Protection(texts=(" dragons", "\n", "zz" * 20)), model)
    assert shown["texts"][0] == {"tokens": [" dragon", "s"], "more": 0}
    assert shown["texts"][1]["tokens"] == ["\n"]
    assert shown["texts"][2] == {"tokens": ["z"] * 12, "more": 28}
    newlines = len(model.info.newline_ids)
    kinds = [model.token_text(i) for i in (END, *sorted(model.info.newline_ids))]
    assert shown["kinds"] == {"tokens": kinds[:12], "more": max(0, len(kinds) - 12)}
    plain = protected_tokens(Protection(False, Newlines.TOKEN), model)["kinds"]["tokens"]
    assert set(plain) == {"\n"}
    assert (shown["eos"], shown["newline"]) == (1, newlines)
    assert shown["count"] == 1 + newlines + 2, "the newline is protected already"

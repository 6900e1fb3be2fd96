"""What goes to the page, as data."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import DOG, GIRL, MAN, TEXTS, decode, make_step, sampler
from xtc_viz.models.fake import FakeModel
from xtc_viz.settings import ORDER, LaneSettings, SamplerSettings, XTCSettings, in_order
from xtc_viz.ui import payload


def text(token: int) -> str:
    return TEXTS[token]


def test_a_chip_by_hand() -> None:
    step = make_step(sampler())
    assert payload.chip(step, text) == [MAN, " man", 3 + 4, 1200, 3, 1400, 3, 7400]
    silent = make_step(sampler(), coin=0.9)
    assert payload.chip(silent, text)[2] == 1


def test_a_chip_without_text_carries_a_sign() -> None:
    step = make_step(sampler(), text="")
    assert payload.chip(step, lambda _: "<|end|>")[-1] == "<|end|>"


def test_a_view_says_who_was_removed_and_what_is_left() -> None:
    view = payload.step_view(make_step(sampler()), sampler(), frozenset(), 10)
    assert (view["eligible"], view["removed"], view["kept"]) == (3, [11, 12], [13])
    assert view["rest"] == pytest.approx(0.04, abs=1e-5)
    assert view["removed_mass"] == pytest.approx(0.74, abs=1e-6)
    assert view["final"] is None


def test_a_short_view_keeps_the_eligible_and_the_drawn() -> None:
    step = make_step(sampler(), coin=0.9, token=DOG)
    view = payload.step_view(step, sampler(), frozenset(), 1)
    assert view["ids"] == [11, 12, 13, DOG]
    assert math.fsum(view["probs"]) + view["rest"] == pytest.approx(1.0, abs=1e-4)


ORDERS = {"default": ORDER, "late": in_order("temperature"), "top-k": in_order("top_k")}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0, 1.4])
def test_the_page_can_tell_q(order: tuple[str, ...], temperature: float) -> None:
    """`final`, or p of what is not removed over what is left, is the q that was recorded."""
    xtc = XTCSettings(rho=0.5, tau=0.1)
    stack = SamplerSettings(temperature=temperature, top_k=20, xtc=xtc, order=order)
    trace, _ = decode(lanes=(LaneSettings("x", stack),))
    for step in trace.lanes[0].steps:
        view = payload.step_view(step, stack, frozenset(), 10)
        place = view["ids"].index(step.token)
        q = view["probs"][place] / (1 - view["removed_mass"])
        assert (view["final"][place] if view["final"] else q) == pytest.approx(step.q, rel=1e-3)


def test_a_block_holds_64_steps_and_every_text_that_they_need() -> None:
    trace, model = decode(length=100)
    lane = trace.lanes[1]
    eos = frozenset(model.info.eos_ids)
    blocks = [
        payload.block(lane.settings, lane.steps[f : f + 64], f, 10, model.token_text, eos)
        for f in (0, 64, 128)
    ]
    assert [len(b["steps"]) for b in blocks] == [64, len(lane.steps) - 64, 0]
    assert [b["first"] for b in blocks] == [0, 64, 128]
    for block in blocks:
        for view in block["steps"]:
            named = {p for p in [*view["said"], *view["drew"]] if isinstance(p, int)}
            assert named | set(view["ids"]) | {view["instead"], GIRL} - {GIRL} <= set(
                block["texts"]
            )


def test_a_step_is_small_on_the_wire() -> None:
    trace, model = decode(length=100)
    lane = trace.lanes[1]
    block = payload.block(lane.settings, lane.steps[:64], 0, 10, model.token_text, frozenset())
    assert len(payload.encode(block)) / 64 < 1200
    chips = [payload.chip(step, model.token_text) for step in lane.steps]
    assert len(payload.encode(chips)) / len(chips) < 60


@given(st.text())
def test_encoded_text_holds_no_markup_and_comes_back(value: str) -> None:
    encoded = payload.encode({"text": value + "<script>"})
    assert "<" not in encoded
    assert json.loads(encoded)["text"] == value + "<script>"


def test_what_is_a_bound_is_said_at_its_step() -> None:
    trace, model = decode(FakeModel(candidates=12), length=30)
    lane = trace.lanes[1]
    views = payload.block(lane.settings, lane.steps, 0, 10, model.token_text, frozenset())["steps"]
    assert all(view["bounded"] for view in views)
    assert all(any("most probable words" in str(part) for note in view["notes"] for part in note)
               for view in views)  # fmt: skip
    exact, _ = decode(length=4)
    assert not payload.step_view(exact.lanes[1].steps[0], lane.settings.sampler, frozenset(), 10)[
        "bounded"
    ]

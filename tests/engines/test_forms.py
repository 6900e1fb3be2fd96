"""The forms as data, and settings that go there and come back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.engines.forms import FORMS
from xtc_viz.engines.forms.base import RHO, TAU, Form
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.reader import WINDOW
from xtc_viz.engines.reading import read
from xtc_viz.engines.writing import acting, write
from xtc_viz.knobs import KNOBS
from xtc_viz.sampling.stages import STAGES
from xtc_viz.settings import ORDER, LaneSettings, SamplerSettings, XTCSettings

every = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
STAGE_OF = {knob.name: stage.name for stage in STAGES for knob in stage.knobs}


@every
def test_a_form_knows_its_words(form: Form) -> None:
    assert not form.engine or form.engine in ENGINES
    names = [name for one in form.fields for name in (one.name, *one.also)]
    assert len(set(names)) == len(names)
    assert not set(names) & (set(form.others) | form.left)
    assert {RHO, TAU, "temperature"} <= {one.knob for one in form.fields}
    for one in form.fields:
        # mlx-lm's request is the one whose default no lane can have.
        if one.absent or one.knob != TAU:
            assert KNOBS[one.knob].check(one.ours(one.absent)) is not None
        assert one.ours(one.theirs(KNOBS[one.knob].default)) == KNOBS[one.knob].default


def decimals(low: float, high: float, places: int = 3) -> st.SearchStrategy[float]:
    """Numbers as people type them."""
    unit = 10**places
    whole = st.integers(round(low * unit), round(high * unit))
    return whole.map(lambda n: round(n / unit, places))


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "temperature": st.just(0.0) | decimals(1.0, 4.0),
    "dynatemp_range": st.just(0.0) | decimals(0.1, 1.0),
    "dynatemp_exponent": decimals(0.1, 5.0),
    "top_n_sigma": decimals(0.0, 5.0),
    "top_k": st.integers(0, 200),
    "top_p": decimals(0.01, 1.0),
    "min_p": decimals(0.0, 1.0),
    "typical_p": decimals(0.01, 1.0),
    "epsilon_cutoff": decimals(0.0, 0.09, 6),
    "eta_cutoff": decimals(0.0, 0.09, 6),
    "repetition_penalty": decimals(1.0, 2.0),
    "presence_penalty": decimals(0.0, 2.0),
    "frequency_penalty": decimals(0.0, 2.0),
    WINDOW: st.integers(0, 4096),
    "dry_multiplier": decimals(0.0, 5.0),
    "dry_base": decimals(1.01, 4.0),
    "dry_allowed_length": st.integers(1, 20),
    "dry_window": st.integers(0, 4096),
}


def exists(form: Form, stage: str) -> bool:
    return not form.engine or stage in ENGINES[form.engine].order


@st.composite
def lanes(draw: st.DrawFn, form: Form) -> LaneSettings:
    """Lanes that a form can say, in the order of its program or in any that it takes."""
    knobs = {one.knob for one in form.fields} & VALUES.keys()
    if form.ends:
        knobs |= {"dynatemp_range"}
    chosen = [k for k in sorted(knobs) if exists(form, STAGE_OF[k]) and draw(st.booleans())]
    values = {knob: draw(VALUES[knob]) for knob in chosen}
    if values.get("dynatemp_range"):
        # Both ends are rounded to what a text says, so the middle is a number that comes back.
        values["temperature"] = max(1.0, values.get("temperature", 1.0))
    engine = ENGINES.get(form.engine)
    order = engine.order if engine else ORDER
    if form.orders and not form.complete and draw(st.booleans()):
        words = list(form.orders[0].words)
        free = form.orders[0].stages
        fixed = [stage for stage in order if stage not in free]
        listed = [s for word in draw(st.permutations(words)) for s in form.orders[0].words[word]]
        listed = [stage for stage in dict.fromkeys(listed) if stage in order]
        first = next(i for i, stage in enumerate(order) if stage in free)
        before = [stage for stage in fixed if order.index(stage) < first]
        order = (*before, *listed, *(stage for stage in fixed if stage not in before))
    rho = draw(decimals(0.0, 1.0))
    xtc = XTCSettings(rho, draw(decimals(0.01, 0.5)))
    if form.protected:
        most = form.most_protected or 1000
        ids = draw(st.frozensets(st.integers(0, 50_000), max_size=min(most, 5)))
        xtc = XTCSettings(xtc.rho, xtc.tau, protected=ids)
    return LaneSettings("mine", SamplerSettings(**values, xtc=xtc, order=order))


@every
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_what_a_form_can_say_comes_back(form: Form, data: st.DataObject) -> None:
    lane = data.draw(lanes(form))
    sampler = lane.sampler
    reading = read(write(lane, form).text, form.name)
    back = reading.lane.sampler
    assert reading.problems == ()
    assert back.xtc.rho == sampler.xtc.rho
    assert back.xtc.tau == sampler.xtc.tau
    assert back.xtc.protected == sampler.xtc.protected
    if form.engine:
        assert back.xtc.dialect == ENGINES[form.engine].dialect
    for stage in STAGES:
        assert stage.is_on(back) == stage.is_on(sampler), stage.name
        for knob in stage.knobs if stage.is_on(sampler) else ():
            if knob.name in (WINDOW, "dry_window") or knob.name.startswith("dynatemp_e"):
                continue
            assert getattr(back, knob.name) == pytest.approx(getattr(sampler, knob.name))
    assert acting(back, back.order) == acting(sampler, sampler.order)


@every
def test_a_plain_lane_says_what_the_program_has_on(form: Form) -> None:
    """Plain sampling is plain there too, whatever a program does by default."""
    plain = LaneSettings("Plain", SamplerSettings())
    reading = read(write(plain, form).text, form.name)
    assert reading.assumed == ()
    on = [stage.name for stage in STAGES if stage.is_on(reading.lane.sampler)]
    assert on == []
    assert reading.lane.sampler.xtc.rho == 0


def test_a_window_of_all_tokens_goes_there_and_back() -> None:
    lane = LaneSettings(
        "a",
        SamplerSettings(
            repetition_penalty=1.1, penalty_window=64, dry_multiplier=0.8, dry_window=0
        ),
    )
    for form in FORMS.values():
        knobs = {one.knob for one in form.fields}
        back = read(write(lane, form).text, form.name).lane.sampler
        if WINDOW in knobs:
            assert back.penalty_window == 64, form.name
        if "dry_window" in knobs:
            assert back.dry_window == 0, form.name

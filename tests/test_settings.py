"""Bounds, messages and round trips of the settings."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import SettingsError, XTCVizError
from xtc_viz.knobs import KNOBS
from xtc_viz.settings import (
    ORDER,
    LaneSettings,
    RunSettings,
    SamplerSettings,
    XTCSettings,
    in_order,
    with_protected,
)


@pytest.mark.parametrize("knob", KNOBS.values(), ids=KNOBS)
def test_defaults_and_slider_ends_are_allowed_values(knob):
    for value in (knob.default, *knob.slider):
        if math.isfinite(value):
            assert knob.check(value) == value


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: XTCSettings(tau=0), "`tau` must be in (0, 1), but is 0"),
        (lambda: XTCSettings(tau=1.0), "`tau` must be in (0, 1), but is 1.0"),
        (lambda: XTCSettings(rho=1.01), "`rho` must be in [0, 1], but is 1.01"),
        (lambda: XTCSettings(rho=math.nan), "`rho` must be in [0, 1], but is nan"),
        (lambda: XTCSettings.from_dict({"rho": "0.5"}), "`rho` must be in [0, 1], but is '0.5'"),
        (lambda: XTCSettings(rho=True), "`rho` must be in [0, 1], but is true"),
        (
            lambda: SamplerSettings.from_dict({"top_k": 1.5}),
            "`top_k` must be an integer >= 0, but is 1.5",
        ),
        (
            lambda: SamplerSettings.from_dict({"top_k": math.inf}),
            "`top_k` must be an integer >= 0, but is inf",
        ),
        (
            lambda: SamplerSettings(temperature=1e-9),
            "`temperature` must be 0 or at least 0.01, but",
        ),
        (lambda: RunSettings(seed=-1), "`seed` must be an integer in [0,"),
        (lambda: RunSettings(lanes=()), "`lanes` must be at least one lane, but is 0"),
        (lambda: RunSettings(stop=("",)), "`stop` must be a list of non-empty texts"),
        (
            lambda: XTCSettings.from_dict({"strategy": "keep_most"}),
            "`strategy` must be one of keep_least,",
        ),
        (
            lambda: XTCSettings.from_dict({"protected": [-1]}),
            "`protected` must be a set of token ids",
        ),
        (
            lambda: XTCSettings.from_dict({"protected": "12"}),
            "`protected` must be a set of token ids",
        ),
        (
            lambda: XTCSettings.from_dict({"tua": 0.1}),
            "`tua` must be one of dialect, protected, rho,",
        ),
        (lambda: RunSettings.from_dict(7), "`RunSettings` must be an object with named values"),
    ],
)
def test_a_bad_value_is_named_with_its_bounds(make, message):
    with pytest.raises(SettingsError) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, XTCVizError)


@given(
    rho=st.floats(0, 1),
    tau=st.floats(0, 1, exclude_min=True, exclude_max=True),
    protected=st.frozensets(st.integers(0, 2**31)),
    temperature=st.just(0.0) | st.floats(0.01, 100),
    top_k=st.integers(0, 10**6),
    seed=st.integers(0, 2**63 - 1),
)
def test_a_run_survives_json(rho, tau, protected, temperature, top_k, seed):
    xtc = XTCSettings(rho=rho, tau=tau, protected=protected)
    lane = LaneSettings("XTC", SamplerSettings(temperature=temperature, top_k=top_k, xtc=xtc))
    run = RunSettings(lanes=(LaneSettings(), lane), seed=seed, stop=("\n\n",))
    assert RunSettings.from_dict(json.loads(json.dumps(run.to_dict()))) == run


def test_protected_tokens_are_replaced_in_one_place():
    lane = with_protected(LaneSettings(), [3, 1])
    assert lane.sampler.xtc.protected == {1, 3}
    assert lane.sampler.xtc.rho == LaneSettings().sampler.xtc.rho


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, Fraction])
def test_numbers_of_other_kinds_are_numbers(kind):
    xtc = XTCSettings(rho=kind(0.5), tau=kind(0.25))
    assert (xtc.rho, xtc.tau, type(xtc.rho)) == (0.5, 0.25, float)
    assert XTCSettings.from_dict(json.loads(json.dumps(xtc.to_dict()))) == xtc
    seed: Any = np.int64(2**62 + 1)
    assert RunSettings(seed=seed).seed == 2**62 + 1
    assert type(RunSettings(seed=seed).seed) is int


@pytest.mark.parametrize("knob", KNOBS.values(), ids=KNOBS)
@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), 10**5000, True, None, "1" * 10**6, [[]]],
    ids=["400", "-400", "5000", "true", "none", "text", "list"],
)
def test_what_is_no_number_is_refused_in_few_words(knob, value):
    with pytest.raises(SettingsError) as caught:
        knob.check(value)
    assert str(caught.value).startswith(f"`{knob.name}` must be {knob.interval}, but is ")
    assert len(str(caught.value)) < 250


def test_tau_is_compared_in_float32():
    assert XTCSettings(tau=0.1).tau32 == 0.10000000149011612


def test_an_order_names_every_stage_and_those_left_out_go_where_the_default_has_them():
    assert SamplerSettings().order == ORDER
    short = SamplerSettings(order=("xtc", "temperature")).order
    assert short == in_order("xtc", "temperature")
    assert SamplerSettings(order=("temperature",)).order == ORDER
    assert SamplerSettings(order=()).order == ORDER


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["xtc", "xtc"], "`order` must be a list that names no stage twice"),
        (["luck"], "`order` must be a list of repetition_penalty, .*, xtc, but is 'luck'"),
        ("xtc", "`order` must be a list of repetition_penalty"),
        (7, "`order` must be a list of repetition_penalty"),
    ],
)
def test_a_wrong_order_is_refused(order, message):
    with pytest.raises(SettingsError, match=message):
        SamplerSettings(order=order)


def test_settings_of_version_1_are_read():
    """They said where XTC stands relative to temperature, and nothing else of the order."""
    early = SamplerSettings.from_dict({"xtc_place": "after_temperature"})
    late = SamplerSettings.from_dict({"xtc_place": "before_temperature", "temperature": 1.3})
    assert early == SamplerSettings()
    assert late == SamplerSettings(temperature=1.3, order=in_order("temperature"))
    with pytest.raises(SettingsError, match="`xtc_place` must be one of after_temperature"):
        SamplerSettings.from_dict({"xtc_place": "somewhere"})


def test_samplers_go_to_plain_values_and_back():
    sampler = SamplerSettings(
        dry_multiplier=0.8, dry_breakers=frozenset({3, 1}), order=in_order("top_k")
    )
    data = json.loads(json.dumps(sampler.to_dict()))
    assert data["dry_breakers"] == [1, 3]
    assert data["order"][-1] == "top_k"
    assert SamplerSettings.from_dict(data) == sampler


def test_a_dialect_is_named_where_it_is_not_the_papers():
    """So the names of cells and the files of before it stay as they were."""
    assert "dialect" not in XTCSettings().to_dict()
    xtc = XTCSettings(dialect="mlx-lm")
    assert xtc.to_dict()["dialect"] == "mlx-lm"
    assert XTCSettings.from_dict(xtc.to_dict()) == xtc
    with pytest.raises(
        SettingsError, match="`dialect` must be one of paper, text-generation-webui, "
    ):
        XTCSettings(dialect="ollama")

"""The plan: which stages are on, in which order, and where they cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.sampling.plan import plan_of, truncates
from xtc_viz.settings import ORDER, SamplerSettings, XTCSettings, in_order

ON: dict[str, dict[str, Any]] = {
    "repetition_penalty": {"repetition_penalty": 1.1},
    "presence_penalty": {"presence_penalty": 0.5},
    "frequency_penalty": {"frequency_penalty": -0.5},
    "dry": {"dry_multiplier": 0.8},
    "temperature": {"dynatemp_range": 0.5},
    "top_n_sigma": {"top_n_sigma": 1.0},
    "top_k": {"top_k": 40},
    "top_p": {"top_p": 0.9},
    "min_p": {"min_p": 0.05},
    "typical_p": {"typical_p": 0.9},
    "epsilon_cutoff": {"epsilon_cutoff": 0.001},
    "eta_cutoff": {"eta_cutoff": 0.001},
}


def test_by_default_only_xtc_is_there():
    assert plan_of(SamplerSettings()).stages == ("xtc",)


@given(on=st.sets(st.sampled_from(list(ON))), order=st.permutations(ORDER))
def test_it_holds_what_is_on_in_its_order(on, order):
    values = {name: value for stage in on for name, value in ON[stage].items()}
    plan = plan_of(SamplerSettings(order=order, **values))
    assert plan.stages == tuple(stage for stage in order if stage in on or stage == "xtc")
    assert set(plan.rescalings) | set(plan.truncations) == set(plan.before)
    assert not any(map(truncates, plan.rescalings))
    assert sum(plan.truncation_runs, ()) == plan.truncations


@pytest.mark.parametrize("order", [ORDER, in_order("xtc"), in_order("top_k")])
def test_temperature_zero_is_the_end_of_any_order(order):
    plan = plan_of(SamplerSettings(temperature=0.0, top_k=3, order=order))
    assert plan.greedy
    assert plan.stages[-1] == "temperature"


@pytest.mark.parametrize(
    ("values", "late"),
    [
        ({}, 1.0),
        ({"temperature": 1.3}, 1.3),
        ({"temperature": 0.0}, 0.0),
        ({"temperature": 1.3, "top_k": 3}, None),
        ({"dynatemp_range": 0.5}, None),
    ],
)
def test_what_comes_after_xtc(values, late):
    order = in_order("temperature", "top_k")
    assert plan_of(SamplerSettings(order=order, **values)).late_temperature == late


def test_cutoffs_are_probabilities_where_they_can_be_drawn():
    plan = plan_of(
        SamplerSettings(min_p=0.1, epsilon_cutoff=0.02, top_p=0.9, xtc=XTCSettings(0.5, 0.2))
    )
    assert plan.cutoff("xtc", 0.6) == 0.2
    assert plan.cutoff("min_p", 0.6) == pytest.approx(0.06)
    assert plan.cutoff("epsilon_cutoff", 0.6) == 0.02
    assert plan.cutoff("top_p", 0.6) is None
    assert (plan.reach("top_p"), plan.reach("typical_p")) == (0.9, 1.0)
    assert plan.reach("min_p") is None

"""The plan: which stages are on, in which order, and where they cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.sampling.plan import RESCALING, plan_of
from xtc_viz.settings import ORDER, SamplerSettings, Stage, XTCSettings, in_order

ON = {
    Stage.REPETITION_PENALTY: {"repetition_penalty": 1.1},
    Stage.PRESENCE_PENALTY: {"presence_penalty": 0.5},
    Stage.FREQUENCY_PENALTY: {"frequency_penalty": -0.5},
    Stage.DRY: {"dry_multiplier": 0.8},
    Stage.TEMPERATURE: {"dynatemp_range": 0.5},
    Stage.TOP_N_SIGMA: {"top_n_sigma": 1.0},
    Stage.TOP_K: {"top_k": 40},
    Stage.TOP_P: {"top_p": 0.9},
    Stage.MIN_P: {"min_p": 0.05},
    Stage.TYPICAL_P: {"typical_p": 0.9},
    Stage.EPSILON_CUTOFF: {"epsilon_cutoff": 0.001},
    Stage.ETA_CUTOFF: {"eta_cutoff": 0.001},
}


def test_by_default_only_xtc_is_there():
    assert plan_of(SamplerSettings()).stages == (Stage.XTC,)


@given(on=st.sets(st.sampled_from(list(ON))), order=st.permutations(Stage))
def test_it_holds_what_is_on_in_its_order(on, order):
    values = {name: value for stage in on for name, value in ON[stage].items()}
    plan = plan_of(SamplerSettings(order=order, **values))
    assert plan.stages == tuple(stage for stage in order if stage in on or stage is Stage.XTC)
    assert set(plan.rescalings) | set(plan.truncations) == set(plan.before)
    assert all(stage in RESCALING for stage in plan.rescalings)
    assert sum(plan.truncation_runs, ()) == plan.truncations


@pytest.mark.parametrize("order", [ORDER, in_order(Stage.XTC), in_order(Stage.TOP_K)])
def test_temperature_zero_is_the_end_of_any_order(order):
    plan = plan_of(SamplerSettings(temperature=0.0, top_k=3, order=order))
    assert plan.greedy
    assert plan.stages[-1] is Stage.TEMPERATURE


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
    order = in_order(Stage.TEMPERATURE, Stage.TOP_K)
    assert plan_of(SamplerSettings(order=order, **values)).late_temperature == late


def test_cutoffs_are_probabilities_where_they_can_be_drawn():
    plan = plan_of(
        SamplerSettings(min_p=0.1, epsilon_cutoff=0.02, top_p=0.9, xtc=XTCSettings(0.5, 0.2))
    )
    assert plan.cutoff(Stage.XTC, 0.6) == 0.2
    assert plan.cutoff(Stage.MIN_P, 0.6) == pytest.approx(0.06)
    assert plan.cutoff(Stage.EPSILON_CUTOFF, 0.6) == 0.02
    assert plan.cutoff(Stage.TOP_P, 0.6) is None
    assert (plan.reach(Stage.TOP_P), plan.reach(Stage.TYPICAL_P)) == (0.9, 1.0)
    assert plan.reach(Stage.MIN_P) is None

"""What-if along a recorded text: the same decisions as a real decode of that text."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.decode import decode_lanes
from xtc_viz.models.fake import FakeModel
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.rule import Outcome, expected
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.stageview import final_probs
from xtc_viz.sampling.whatif import decided, evaluate, intensity_map
from xtc_viz.settings import (
    LaneSettings,
    RunSettings,
    SamplerSettings,
    Strategy,
    XTCSettings,
    in_order,
)


@pytest.fixture(scope="module")
def steps():
    return run(XTCSettings(rho=0.0, tau=0.1)).steps


def run(xtc, prefix=(), max_new_tokens=60):
    model = FakeModel()
    lane = LaneSettings("lane", SamplerSettings(xtc=xtc))
    settings = RunSettings(lanes=(lane,), max_new_tokens=max_new_tokens)
    ids = model.encode("Once upon a time")
    recorder = Recorder(blank_trace(model, "Once upon a time", ids, settings))
    for column in decode_lanes(model, ids, settings, prefixes=[prefix] if prefix else ()):
        recorder.add(column, model.token_text)
    return recorder.trace().lanes[0]


@settings(max_examples=12)
@given(
    rho=st.floats(0, 1),
    tau=st.floats(0.01, 0.9),
    strategy=st.sampled_from(Strategy),
    protected=st.frozensets(st.integers(260, 330), max_size=20),
    position=st.integers(0, 59),
)
def test_it_decides_as_a_real_decode_of_that_text_does(
    steps, rho, tau, strategy, protected, position
):
    xtc = XTCSettings(rho=rho, tau=tau, strategy=strategy, protected=protected)
    decision = evaluate(steps, xtc, 100).decisions[position]
    real = run(xtc, [step.token for step in steps[:position]], 1).steps[0]
    assert decision.outcome is real.outcome
    assert decision.eligible == tuple(real.ids[: real.eligible])
    assert decision.removed == real.removed
    assert decision.removed_mass == real.removed_mass


def test_the_settings_of_the_run_give_back_the_run():
    xtc = XTCSettings(rho=0.5, tau=0.1)
    lane = run(xtc)
    result = evaluate(lane.steps, xtc, 100)
    assert [d.outcome for d in result.decisions] == [s.outcome for s in lane.steps]
    assert result.count(Outcome.FIRED) == sum(s.fired for s in lane.steps)
    assert result.exact


@pytest.mark.parametrize(
    "sampler",
    [
        SamplerSettings(),
        SamplerSettings(temperature=1.6, order=in_order("temperature")),
        SamplerSettings(temperature=0.0),
        SamplerSettings(top_k=7, order=in_order("top_k")),
        SamplerSettings(min_p=0.2, repetition_penalty=1.5, order=in_order("min_p")),
    ],
)
def test_a_step_decided_anew_is_drawn_from_what_is_left(sampler):
    """Its final distribution is the one that a real decode would have had there."""
    before = replace(sampler, xtc=XTCSettings(rho=0.6, tau=0.2))
    after = replace(sampler, xtc=XTCSettings(rho=0.9, tau=0.05))
    generator = torch.Generator().manual_seed(1)
    for t in range(20):
        logits = torch.randn(60, generator=generator) * 2
        shared = SharedRandomness(t)
        coin, noise = shared.coin(0), shared.noise(0, 60)
        step = SamplerStack(before).run(torch.tensor([0]), logits, coin, noise)
        real = SamplerStack(after).run(torch.tensor([0]), logits, coin, noise)
        anew = decided(step, evaluate([step], after.xtc, 100).decisions[0], after, [0])
        assert (anew.outcome, anew.removed) == (real.outcome, real.removed)
        if sampler.temperature:
            assert final_probs(anew, after) == pytest.approx(final_probs(real, after), rel=1e-4)


def test_expectations_add_up_over_the_steps(steps):
    xtc = XTCSettings(rho=0.3, tau=0.05)
    result = evaluate(steps, xtc, 100)
    ambiguous = [d for d in result.decisions if len(d.eligible) >= 2]
    assert result.expected_interventions == pytest.approx(0.3 * len(ambiguous))
    mass = 0.3 * sum(d.removable_mass for d in ambiguous)
    assert result.expected_removed_mass == pytest.approx(mass)


def test_below_one_over_k_it_says_when_it_cannot_know(steps):
    assert evaluate(steps, XTCSettings(tau=0.01), 100).exact
    assert not evaluate(steps, XTCSettings(tau=0.0001), 20).exact


def test_the_map_holds_the_same_expectations(steps):
    xtc = XTCSettings(rho=0.9, tau=0.2, protected=frozenset(range(270, 300)))
    grid = intensity_map(steps, xtc, (0.0, 0.5, 1.0), (0.05, 0.2), 100)
    for row, rho in enumerate(grid.rhos):
        for column, tau in enumerate(grid.taus):
            settings = XTCSettings(rho=rho, tau=tau, protected=xtc.protected)
            result = evaluate(steps, settings, 100)
            per_step = result.expected_interventions / len(steps)
            assert grid.interventions[row][column] == pytest.approx(per_step)
            mass = result.expected_removed_mass / len(steps)
            assert grid.removed_mass[row][column] == pytest.approx(mass)
    assert grid.interventions[2][0] > grid.interventions[1][0] > grid.interventions[0][0] == 0


def test_an_empty_text_has_an_empty_map():
    assert intensity_map((), XTCSettings(), (1.0,), (0.1,), 100).interventions == ((0.0,),)
    assert expected((), (), XTCSettings()) == (0.0, 0.0)

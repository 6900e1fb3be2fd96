"""The whole chain in each engine's order, from a record, against the same chain on all logits."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.engines.chain import at_step, of_numbers
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Effect
from xtc_viz.errors import SettingsError
from xtc_viz.records.step import Bound
from xtc_viz.sampling.plan import BY_NAME, plan_of
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.stageview import final_probs
from xtc_viz.settings import SamplerSettings, XTCSettings, in_order

V, K = 80, 20
CONTEXT = (1, 2, 3, 5, 2, 3)


def record(logits, sampler, top=K, coin=0.3):
    noise = SharedRandomness(7).noise(0, V)
    return SamplerStack(sampler, top).run(torch.tensor(CONTEXT), logits, coin, noise)


def beside(question, engine):
    return next(answer for answer in question.answers if answer.engine == engine)


def sentences(left):
    return [
        "".join(part if isinstance(part, str) else f"[{part}]" for part in reason.words)
        for reason in left.reasons
    ]


def as_engine(sampler, engine):
    """Return a lane's settings as somebody would set them in the engine, by hand."""
    missing = [stage for stage in plan_of(sampler).stages if stage not in engine.order]
    off = {knob.name: knob.default for stage in missing for knob in BY_NAME[stage].knobs}
    xtc = replace(sampler.xtc, dialect=engine.dialect, rho=1.0)
    return replace(sampler, order=engine.order, xtc=xtc, **off)


def numbers(probs, rho=1.0, tau=0.1, **stages):
    return of_numbers(probs, SamplerSettings(xtc=XTCSettings(rho, tau), **stages), coin=0.3)


def test_a_worked_example():
    """At temperature 2 the third token clears τ in the paper's order, not in llama.cpp's."""
    chain = numbers((0.81, 0.16, 0.03), tau=0.15, temperature=2.0).chain
    paper, llama = beside(chain, "paper").own, beside(chain, "llama.cpp").own
    roots = 0.9 + 0.4 + 0.03**0.5
    assert [stage.name for stage in paper.stages] == ["raw", "temperature", "xtc"]
    assert paper.stages[1].probs == pytest.approx((0.9 / roots, 0.4 / roots, 0.03**0.5 / roots))
    assert (paper.eligible, llama.eligible) == ((0, 1), (0, 1))
    chain = numbers((0.81, 0.16, 0.03), tau=0.1, temperature=2.0).chain
    paper, llama = beside(chain, "paper").own, beside(chain, "llama.cpp").own
    assert (paper.removed, llama.removed) == ((0, 1), (0,))
    assert paper.probs == (0.0, 0.0, 1.0)
    assert [stage.name for stage in llama.stages] == ["raw", "xtc", "temperature"]
    late = 0.4 + 0.03**0.5
    assert llama.probs == pytest.approx((0.0, 0.4 / late, 0.03**0.5 / late))
    assert sentences(llama) == ["llama.cpp runs Temperature after XTC, where [2] does not clear τ"]


def test_the_rule_alone_is_asked_on_what_the_chosen_chain_gives_to_xtc():
    both = numbers((0.81, 0.16, 0.03), tau=0.1, temperature=2.0)
    assert both.rule.probs == pytest.approx(beside(both.chain, "paper").own.stages[1].probs)
    assert not beside(both.rule, "llama.cpp").own.differs
    assert set(json.loads(json.dumps(both.to_dict()))) == {"rule", "chain"}


def test_a_stage_that_an_engine_lacks_is_named():
    lacking = beside(numbers((0.5, 0.3, 0.14, 0.06), eta_cutoff=0.1, tau=0.05).chain, "llama.cpp")
    assert lacking.lacks == ("eta_cutoff",)
    assert sentences(lacking.own) == ["llama.cpp has no Eta cutoff"]
    assert [stage.name for stage in lacking.own.stages] == ["raw", "xtc"]


def test_what_lies_outside_makes_a_temperature_a_bound():
    chain = numbers((0.5, 0.3, 0.1), temperature=2.0).chain
    assert beside(chain, "paper").bound is Bound.SCALE
    assert beside(chain, "paper").to_dict()["bound"] == ["scale"]
    exact = numbers((0.5, 0.3, 0.2), temperature=2.0).chain
    assert {answer.bound for answer in exact.answers} == {Bound.NONE}


def test_more_tokens_than_are_known_may_clear_the_floor():
    chain = numbers((0.2, 0.2), tau=0.1).chain
    assert all(Bound.ELIGIBLE in answer.bound for answer in chain.answers)


def test_temperature_0_takes_one_token():
    chain = numbers((0.5, 0.3, 0.2), temperature=0.0).chain
    paper, mlx = beside(chain, "paper").own, beside(chain, "mlx-lm").own
    assert (paper.probs, paper.rest) == ((0.0, 0.0, 1.0), 0.0)
    assert (mlx.effect, mlx.probs) == (Effect.OFF, (1.0, 0.0, 0.0))
    assert sentences(mlx) == ["mlx-lm does without XTC at temperature 0"]


def test_penalties_have_nothing_to_lower_where_no_text_stands_before():
    probs = (0.5, 0.3, 0.2)
    with_all = numbers(probs, repetition_penalty=1.5, frequency_penalty=1.0, dry_multiplier=1.0)
    for answer in with_all.chain.answers:
        plain = beside(numbers(probs).chain, answer.engine)
        assert answer.fired.probs == pytest.approx(plain.fired.probs)


def test_a_token_without_probability_is_left_alone():
    answer = beside(numbers((0.0, 0.6, 0.4)).chain, "paper")
    assert (answer.own.removed, answer.own.probs) == ((1,), (0.0, 1.0, 0.0))


@pytest.mark.parametrize(
    ("probs", "said"),
    [
        ((0.5, -0.1), "`probs` must be probabilities, each in [0, 1], but is -0.1"),
        ((float("nan"),), "`probs` must be probabilities, each in [0, 1], but is nan"),
        ((0.7, 0.6), "`probs` must be more than 0 and at most 1 together, but is 1.2"),
        ((), "`probs` must be more than 0 and at most 1 together, but is 0.0"),
    ],
)
def test_what_is_no_distribution_is_refused(probs, said):
    with pytest.raises(SettingsError, match=re.escape(said)):
        numbers(probs)


def test_p_at_the_floor_stays_there():
    """What was recorded is taken to its last digit: one of two at τ itself."""
    logits = torch.full((V,), -torch.inf)
    logits[:4] = 0.0
    lane = SamplerSettings(xtc=XTCSettings(0.5, 0.25))
    chain = at_step(record(logits, lane), lane, CONTEXT, K).chain
    assert beside(chain, "paper").fired.removed == (1, 2, 3)
    assert beside(chain, "mlx-lm").fired.removed == ()


LANES = (
    SamplerSettings(min_p=0.05),
    SamplerSettings(min_p=0.05, temperature=1.5),
    SamplerSettings(top_k=12, top_p=0.9, temperature=0.8),
    SamplerSettings(typical_p=0.8),
    SamplerSettings(top_p=0.95, min_p=0.02, order=in_order("temperature"), temperature=1.3),
    SamplerSettings(min_p=0.02, repetition_penalty=1.3),
    SamplerSettings(top_k=30, frequency_penalty=0.5, presence_penalty=0.2, temperature=1.2),
    SamplerSettings(dynatemp_range=0.4, min_p=0.1),
    SamplerSettings(top_n_sigma=2.0, order=in_order("min_p"), min_p=0.2),
    SamplerSettings(temperature=0.0, top_k=10),
    SamplerSettings(eta_cutoff=0.05, top_k=5),
    SamplerSettings(temperature=2.0),
)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    lane=st.sampled_from(LANES),
    tau=st.sampled_from((0.04, 0.1, 0.2)),
    protected=st.frozensets(st.integers(0, V - 1), max_size=20),
)
def test_a_chain_from_the_record_is_the_chain_on_all_logits_where_nothing_is_a_bound(
    seed, lane, tau, protected
):
    generator = torch.Generator().manual_seed(seed)
    logits = 2.5 * torch.randn(V, generator=generator)
    lane = replace(lane, xtc=XTCSettings(0.5, tau, protected=protected))
    chain = at_step(record(logits, lane), lane, CONTEXT, K).chain
    raw = torch.softmax(logits.double(), -1)
    assert chain.probs == pytest.approx([raw[v].item() for v in chain.ids], rel=1e-3, abs=1e-6)
    for answer in chain.answers:
        for left in (answer.own, answer.fired):
            for stage in left.stages:
                assert sum(stage.probs) + stage.rest == pytest.approx(1.0, abs=1e-5)
        if answer.bound:
            continue
        theirs = as_engine(lane, ENGINES[answer.engine])
        if answer.engine == "paper":
            theirs = replace(theirs, order=lane.order)
        real = record(logits, theirs, top=V)
        q = dict(zip(real.ids, final_probs(real, theirs), strict=True))
        assert set(answer.fired.removed) == set(real.removed)
        assert answer.fired.probs == pytest.approx([q.get(v, 0.0) for v in chain.ids], abs=2e-4)


def test_the_chosen_engine_runs_the_lane_as_it_was_run():
    generator = torch.Generator().manual_seed(3)
    for lane in LANES:
        for name in ("llama.cpp", "exllamav3", "mlx-lm"):
            dialect = ENGINES[name].dialect
            lane = replace(lane, xtc=XTCSettings(0.5, 0.1, dialect=dialect))
            step = record(torch.randn(V, generator=generator) * 2.5, lane)
            chain = at_step(step, lane, CONTEXT, K).chain
            ours = beside(chain, name)
            assert ours.own.stages[-1].name == plan_of(lane).stages[-1]
            assert not ours.own.differs
            assert not ours.fired.differs
            if ours.own.effect is Effect.FIRED:
                assert set(ours.own.removed) == set(step.removed)


def test_behind_truncation_the_record_is_enough():
    """With the page's base, min-p 0.05, few steps of a sure model have more tokens than K."""
    generator = torch.Generator().manual_seed(5)
    lane = replace(LANES[1], xtc=XTCSettings(0.5, 0.1))
    bounds = []
    for _ in range(20):
        step = record(torch.randn(V, generator=generator) * 5, lane)
        bounds += [answer.bound for answer in at_step(step, lane, CONTEXT, K).chain.answers]
    assert bounds.count(Bound.NONE) > 0.9 * len(bounds)

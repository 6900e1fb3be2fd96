"""Every engine's dialect through the operator, the stack and a file, on random distributions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.engines.known import ENGINES
from xtc_viz.records.check import _wrong_decision
from xtc_viz.sampling.dialect import PAPER, Dialect
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import Outcome, expected, mixed
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.stageview import final_probs
from xtc_viz.settings import SamplerSettings, XTCSettings

ROWS = st.lists(
    st.sampled_from([-30.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]), min_size=2, max_size=12
)
ENGINE = st.sampled_from([engine.dialect for engine in ENGINES.values()])
TAU = st.sampled_from([0.01, 0.05, 0.1, 0.125, 0.25, 0.4, 0.5, 0.7])
PROTECTED = st.frozensets(st.integers(0, 11), max_size=3)
UNIT = st.floats(0, 1, exclude_max=True)


@given(row=ROWS, dialect=ENGINE, tau=TAU, protected=PROTECTED, rho=UNIT, coin=UNIT)
def test_something_is_always_left_and_what_is_said_to_be_gone_is_gone(
    row, dialect, tau, protected, rho, coin
):
    xtc = XTCSettings(rho=rho, tau=tau, protected=protected, dialect=dialect)
    logits = torch.tensor([row])
    result, (decision,) = apply_xtc(logits, [coin], xtc)
    gone = np.flatnonzero(np.isinf(result[0].numpy())).tolist()
    assert sorted(decision.gone) == gone
    assert len(gone) < len(row)
    assert set(decision.removed) <= set(decision.eligible)
    assert not set(decision.beside) & set(decision.eligible)
    assert (decision.outcome is Outcome.FIRED) == bool(decision.removed)
    assert bool(gone) <= (coin < rho)
    kept = np.delete(np.arange(len(row)), gone)
    torch.testing.assert_close(result[0, kept], logits[0, kept], rtol=0, atol=0)


@given(row=ROWS, tau=TAU, protected=PROTECTED, coin=UNIT)
def test_the_papers_name_is_the_papers_rule(row, tau, protected, coin):
    paper = XTCSettings(rho=0.5, tau=tau, protected=protected, dialect=ENGINES["paper"].dialect)
    plain = XTCSettings(rho=0.5, tau=tau, protected=protected)
    (one, said), (other, told) = (apply_xtc(torch.tensor([row]), [coin], s) for s in (paper, plain))
    assert torch.equal(one, other)
    assert said == told


@given(row=ROWS, dialect=ENGINE, tau=TAU, protected=PROTECTED)
def test_a_mixture_is_what_coins_draw_on_average(row, dialect, tau, protected):
    xtc = XTCSettings(rho=0.3, tau=tau, protected=protected, dialect=dialect)
    logits = torch.tensor([row])
    p = torch.softmax(logits, -1)[0]
    q = torch.softmax(apply_xtc(logits, [0.0], replace(xtc, rho=1.0))[0].double(), -1)[0]
    weights = mixed(p.tolist(), xtc)
    assert weights == pytest.approx((0.7 * p.double() + 0.3 * q).tolist(), abs=1e-5)


@given(
    row=ROWS, dialect=ENGINE, tau=TAU, protected=PROTECTED, temperature=st.sampled_from([0, 1, 2])
)
def test_a_lane_records_a_step_that_holds_together(row, dialect, tau, protected, temperature):
    xtc = XTCSettings(rho=1.0, tau=tau, protected=protected, dialect=dialect)
    sampler = SamplerSettings(xtc=xtc, temperature=temperature)
    step = run(row, sampler)
    assert _wrong_decision(step, dialect == PAPER) is None
    assert step.token not in step.removed
    assert step.q > 0
    probs = final_probs(step, sampler)
    assert sum(probs) == pytest.approx(1.0, abs=1e-4)
    assert all(probs[step.ids.index(v)] == 0.0 for v in step.removed)
    fires, mass = expected(
        step.ids[: step.eligible], step.probs[: step.eligible], plan_of(sampler).xtc
    )
    assert fires == (step.outcome is Outcome.FIRED)
    assert mass == pytest.approx(step.removed_mass)


def run(row: list[float], sampler: SamplerSettings):
    return SamplerStack(sampler).run(
        torch.tensor([0]),
        torch.tensor(row),
        0.5,
        np.arange(len(row), dtype=np.uint32) << np.uint32(20),
    )


def lane(dialect: Dialect, **values: float) -> SamplerSettings:
    return SamplerSettings(xtc=XTCSettings(rho=1.0, tau=0.25, dialect=dialect), **values)


def test_exllamav2_sorts_behind_top_k():
    """Then, without protected tokens, it does what the paper does."""
    row = np.log([0.1, 0.3, 0.4, 0.2]).tolist()
    defect = ENGINES["exllamav2"].dialect
    assert run(row, lane(defect)).removed == (1,)
    assert run(row, lane(defect, top_k=4)).removed == (2,)
    assert run(row, lane(PAPER, top_k=4)).removed == (2,)

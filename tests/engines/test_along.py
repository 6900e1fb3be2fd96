"""Along a recorded lane: at how many steps engines decide otherwise, the first, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from xtc_viz.engines.along import along
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import rule_alone
from xtc_viz.records.tracefile import load

TRACE = load(Path(__file__).resolve().parents[2] / "assets" / "traces" / "first-sight.json.gz")
K = TRACE.settings.top_candidates


@pytest.fixture(scope="module", params=["paper", "mlx-lm"])
def lane(request):
    """The recorded lane with XTC, with another engine chosen."""
    sampler = TRACE.lanes[1].settings.sampler
    xtc = replace(sampler.xtc, tau=0.05, dialect=ENGINES[request.param].dialect)
    return TRACE.lanes[1].steps, replace(sampler, xtc=xtc)


def test_it_counts_what_each_step_says(lane):
    """The sums are those of the steps asked one by one."""
    steps, sampler = lane
    sums = along(steps, sampler, K)
    asked = [rule_alone(step.ids[:K], step.probs[:K], step.coin, sampler).answers for step in steps]
    for number, (name, result) in enumerate(sums.items()):
        for kind in ("own", "fired"):
            left = [getattr(answers[number], kind) for answers in asked]
            differences = getattr(result, kind)
            assert differences.steps == tuple(i for i, one in enumerate(left) if one.differs)
            causes = [reason.cause for one in left for reason in one.reasons]
            assert differences.causes == {cause: causes.count(cause) for cause in set(causes)}
            assert differences.first == (differences.steps[0] if differences.steps else None)
        assert result.engine == name


def test_the_chosen_engine_never_differs_and_others_do(lane):
    steps, sampler = lane
    sums = along(steps, sampler, K)
    chosen = sums[sampler.xtc.dialect.name]
    assert chosen.own.steps == chosen.fired.steps == ()
    assert any(result.fired.steps for result in sums.values())
    assert all(result.exact for result in sums.values())


def test_where_more_tokens_may_be_eligible_than_were_recorded_it_is_not_exact(lane):
    steps, sampler = lane
    short = [replace(step, ids=step.ids[:3], probs=step.probs[:3]) for step in steps]
    assert not along(short, sampler, 3)["llama.cpp"].exact


def test_it_is_fit_for_json(lane):
    steps, sampler = lane
    sent = json.loads(json.dumps({n: r.to_dict() for n, r in along(steps, sampler, K).items()}))
    assert list(sent) == list(ENGINES)
    assert set(sent["llama.cpp"]["fired"]) == {"count", "first", "steps", "causes"}


def test_an_empty_lane():
    sums = along((), TRACE.lanes[1].settings.sampler, K)
    assert all(result.exact and result.own.first is None for result in sums.values())

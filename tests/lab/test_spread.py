"""Numbers of texts over seeds: by hand, against the laboratory's own, and what may be claimed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import decode, sampler, thinker
from xtc_viz.lab import mechanism
from xtc_viz.lab.generation import Generation
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.samples import Samples
from xtc_viz.lab.spread import (
    CHANGED,
    DISTINCT,
    FIRED,
    LEAST,
    LENGTH,
    QUANTITIES,
    TAIL,
    SeedText,
    Values,
    estimate,
    measured,
    summary,
    taus,
)
from xtc_viz.lab.spreadwords import ONE_PROMPT, sentences
from xtc_viz.models.fake import FakeModel
from xtc_viz.records.trace import FinishReason
from xtc_viz.settings import LaneSettings

OFF = LaneSettings("Baseline", sampler(0.0, 0.1))
ON = LaneSettings("XTC", sampler(0.5, 0.1))
LANES = (OFF, ON)


def text(lane: int, seed: int, values: Values) -> SeedText:
    whole = {one.name: 0.0 for one in QUANTITIES} | dict(values)
    return SeedText(lane, seed, "", FinishReason.LENGTH, whole)


def texts(name: str, *lanes: Sequence[float]) -> list[SeedText]:
    return [text(k, s, {name: v}) for k, lane in enumerate(lanes) for s, v in enumerate(lane)]


def test_they_are_the_laboratorys_own_numbers() -> None:
    trace, _ = decode(length=50, seed=3)
    for one, lane in zip(measured(trace), trace.lanes, strict=True):
        pooled = mechanism.pooled([mechanism.observe(lane.steps, lane.settings.sampler.xtc)])
        for name in (FIRED, CHANGED, TAIL):
            assert one.values[name] == pooled.values[name]
        ids = tuple(step.token for step in lane.steps)
        group = Samples([Generation("", "", 3, 0, one.text, tokens=ids)])
        for name in (DISTINCT, LENGTH):
            assert one.values[name] == METRICS[name].value(group)
        assert one.seed == 3
        ends = lane.finish is FinishReason.EOS
        assert one.text == "".join(step.text for step in lane.steps[: len(lane.steps) - ends])


def test_the_thought_is_in_the_text_and_not_in_the_numbers() -> None:
    trace, model = decode(thinker(12), prompt="Once", length=40)
    first, _ = measured(trace)
    assert "<think>" in first.text
    marks = len(model.encode("<think>")) + len(model.encode("</think>"))
    assert first.values[LENGTH] == 40 - 12 - marks


def test_a_lane_without_xtc_is_held_to_the_tau_of_the_others() -> None:
    low = LaneSettings("XTC", sampler(0.5, 0.3))
    assert taus((OFF, low)) == (0.3, 0.3)
    assert taus((OFF, low, ON)) == (0.1, 0.3, 0.1)
    assert taus((OFF,)) == (0.1,)
    trace, _ = decode(length=50, lanes=(OFF, low))
    alike, _ = decode(length=50, lanes=(replace(OFF, sampler=sampler(0.0, 0.3)), low))
    held, own = measured(trace)[0].values, measured(alike)[0].values
    assert held == pytest.approx(own)
    assert held[TAIL] != pytest.approx(
        measured(replace(trace, lanes=trace.lanes[:1]))[0].values[TAIL]
    )


def test_below_what_was_recorded_a_tail_is_not_known() -> None:
    size = FakeModel().info.vocab_size
    flat = FakeModel(logits=lambda ids: torch.zeros(size))
    low = LaneSettings("XTC", sampler(0.5, 0.5 / size))
    trace, _ = decode(flat, length=3, lanes=(OFF, low))
    assert measured(trace)[0].values[TAIL] is None
    assert measured(trace)[1].values[TAIL] == pytest.approx(0, abs=1e-5)


def test_means_and_differences_by_hand() -> None:
    zero, one = [float(k) for k in range(16)], [k + 2.0 + 0.1 * (k % 3) for k in range(16)]
    found = summary(texts(LENGTH, zero, one), LANES, 1)
    assert (found.seeds, found.reference) == (16, 0)
    assert found.means[0][LENGTH].mean == 7.5
    difference = found.differences[1][LENGTH]
    assert difference.mean == pytest.approx(np.mean(one) - 7.5)
    assert difference.low < difference.mean < difference.high
    # Paired: what the seeds have in common does not widen it.
    assert difference.high - difference.low < 0.2
    assert found.differences[0] == {}


def test_the_reference_is_the_first_lane_without_xtc() -> None:
    assert summary(texts(LENGTH, [1.0] * 8, [2.0] * 8), (ON, OFF), 1).reference == 1
    assert summary(texts(LENGTH, [1.0] * 8, [2.0] * 8), (ON, ON), 1).reference == 0


def test_tails_below_different_floors_are_not_compared() -> None:
    other = LaneSettings("Low", sampler(0.5, 0.05))
    found = summary(texts(TAIL, [0.1] * 8, [0.2] * 8, [0.3] * 8), (OFF, ON, other), 1)
    assert TAIL in found.differences[1]
    assert TAIL not in found.differences[2]
    assert any("different τ" in one for one in sentences(found, (OFF, ON, other), 8))


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        (range(LEAST), True),
        (range(LEAST - 1), False),
        ([60] * 8 + [50, 51, 52, 53, 54, 55, 56, 57], True),
        ([60] * 9 + [50, 51, 52, 53, 54, 55, 56], False),
        ([60] * 16, True),
        ([math.nan] * 16, False),
        ([*range(LEAST), math.nan], True),
    ],
)
def test_an_interval_is_given_where_it_holds(values: Sequence[float], ends: bool) -> None:
    found = estimate(np.array(values, dtype=np.float64), np.random.default_rng(1))
    assert math.isnan(found.low) is math.isnan(found.high) is not ends


@pytest.mark.slow
def test_so_many_seeds_hold_what_the_intervals_say() -> None:
    rng = np.random.default_rng(5)
    for n, least in ((LEAST, 0.91), (16, 0.93)):
        for draw in (rng.normal, lambda size: rng.binomial(60, 0.15, size) / 60 - 0.15):
            found = [estimate(np.asarray(draw(size=n)), rng) for _ in range(600)]
            known = [one for one in found if not math.isnan(one.low)]
            held = [one.low <= 0 <= one.high for one in known]
            assert np.mean(held) > least - 0.02


def test_what_is_said_of_a_clear_difference() -> None:
    jitter = [0.01 * (k % 4) for k in range(16)]
    low, high = [0.8 + j for j in jitter], [0.9 + 2 * j for j in jitter]
    said = sentences(summary(texts(DISTINCT, low, high), LANES, 1), LANES, 16)
    assert said[0] == "XTC never fired in these 16 texts."
    assert "more of the pairs of words are different ones (+0.1" in said[1]
    assert said[-1] == ONE_PROMPT


def test_shorter_texts_explain_some_variety() -> None:
    def both(seed: int, lane: int) -> SeedText:
        values = {
            DISTINCT: 0.8 + 0.1 * lane + 0.01 * (seed % 4),
            LENGTH: 60.0 - 20 * lane - seed % 5,
        }
        return text(lane, seed, values | {LENGTH: values[LENGTH] - lane * (seed % 3)})

    found = summary([both(s, k) for s in range(16) for k in (0, 1)], LANES, 1)
    assert "a part of that may be the length" in " ".join(sentences(found, LANES, 16))


@given(st.integers(0, 2**32), st.floats(0, 3))
def test_no_claim_where_the_interval_includes_zero(dice: int, shift: float) -> None:
    rng = np.random.default_rng(dice)
    lanes = [rng.normal(size=16).tolist(), (shift + rng.normal(size=16)).tolist()]
    found = summary(texts(LENGTH, *lanes), LANES, 1)
    said = " ".join(sentences(found, LANES, 16))
    claims = [w for w in ("the texts are longer", "the texts are shorter") if w in said]
    difference = found.differences[1][LENGTH]
    expected = ["the texts are longer"] if difference.low > 0 else []
    assert claims == (["the texts are shorter"] if difference.high < 0 else expected)
    assert ("no difference is shown" in said) is not difference.excludes_zero


@pytest.mark.parametrize(("there", "asked"), [(9, 16), (5, 5)])
def test_where_seeds_are_missing_or_few_no_lanes_are_compared(there: int, asked: int) -> None:
    found = summary(texts(LENGTH, [1.0] * there, [9.0 + k for k in range(there)]), LANES, 1)
    said = sentences(found, LANES, asked)
    assert not any("against" in one for one in said)
    assert "no lanes are compared" in said[-2]
    assert said[-1] == ONE_PROMPT


def test_one_lane_alone_is_described() -> None:
    found = summary(texts(FIRED, [0.1 + 0.01 * (k % 5) for k in range(16)]), (ON,), 1)
    first, last = sentences(found, (ON,), 16)
    assert first.startswith("XTC fired at 11.9\u00a0% (11.")
    assert last == ONE_PROMPT


def test_a_small_difference_is_not_written_as_none() -> None:
    small = [0.00002 + 0.000001 * (k % 4) for k in range(16)]
    said = sentences(summary(texts(TAIL, [0.0] * 16, small), LANES, 1), LANES, 16)
    assert "the tail share is larger (+0.002 points, +0.002 to +0.002)" in said[1]

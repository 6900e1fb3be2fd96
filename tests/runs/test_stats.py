"""The numbers over a lane against a naive count."""

from __future__ import annotations

import itertools

import pytest

from tests.ui.factories import BEAR, BOY, GIRL, MAN, decode, make_step, sampler, thinker
from xtc_viz.runs.stats import OUTCOMES, LaneStats
from xtc_viz.sampling.rule import Outcome


def test_by_hand() -> None:
    stats = LaneStats()
    for coin in (0.1, 0.9, 0.2):
        stats.add(make_step(sampler(), coin=coin))
    values = stats.values()
    assert values["outcomes"] == [0, 1, 0, 2]
    assert (values["tokens"], values["changed"], values["removed"]) == (3, 2, 0.74)
    assert (values["distinct2"], values["repeated3"]) == (1.0, 0.0)


def test_words_from_below_tau_count_where_xtc_fired() -> None:
    stats = LaneStats()
    stats.add(make_step(sampler(), token=BEAR))  # fired
    stats.add(make_step(sampler(), token=BEAR, coin=0.9))  # the coin said no
    stats.add(make_step(sampler(), token=BEAR, forced=True))  # a person drew it
    stats.add(make_step(sampler()))  # the underdog
    assert (stats.values()["tail"], stats.values()["outcomes"][3]) == (1, 3)


def test_an_empty_lane_has_no_shares() -> None:
    values = LaneStats().values()
    assert (values["removed"], values["distinct2"], values["repeated3"]) == (None, None, None)


def test_repetition_is_seen() -> None:
    stats = LaneStats()
    for token in (GIRL, BOY, MAN) * 3:
        stats.add(make_step(sampler(0.0), token=token))
    values = stats.values()
    assert values["distinct2"] == round(3 / 8, 4)
    assert values["repeated3"] == round(4 / 7, 4)


def test_against_a_naive_count() -> None:
    trace, _ = decode(length=150)
    for lane in trace.lanes:
        stats = LaneStats()
        for step in lane.steps:
            stats.add(step)
        values, ids = stats.values(), [step.token for step in lane.steps]
        pairs = list(itertools.pairwise(ids))
        triples = list(zip(ids, ids[1:], ids[2:], strict=False))
        fired = [step for step in lane.steps if step.outcome is Outcome.FIRED]
        assert values["outcomes"] == [
            sum(step.outcome is outcome for step in lane.steps) for outcome in OUTCOMES
        ]
        assert values["changed"] == sum(step.changed for step in lane.steps)
        tail = [s for s in fired if s.token not in s.ids[: s.eligible]]
        assert values["tail"] == len(tail)
        assert values["distinct2"] == round(len(set(pairs)) / len(pairs), 4)
        assert values["repeated3"] == round(1 - len(set(triples)) / len(triples), 4)
        if fired:
            mean = sum(step.removed_mass for step in fired) / len(fired)
            assert values["removed"] == round(mean, 4)


@pytest.mark.parametrize("opened", [False, True], ids=["by the model", "by the template"])
def test_the_thought_is_left_out(opened: bool) -> None:
    model = thinker(30, opened=opened)
    trace, _ = decode(model, prompt_ids=model.encode_chat("Once"), length=90)
    marks = 8 if opened else 15
    for lane in trace.lanes:
        stats, answer = LaneStats(thinking=opened), LaneStats()
        for i, step in enumerate(lane.steps):
            stats.add(step)
            values = stats.values()
            assert values["tokens"] == i + 1
            if 8 < i < 30 + marks:
                assert values["thought"][0] == i + 1
                assert (values["outcomes"], values["distinct2"]) == ([0] * 4, None)
        begun = stats.thought
        assert begun >= 30 + marks
        for step in lane.steps[begun:]:
            answer.add(step)
        inside = lane.steps[:begun]
        assert values.pop("thought") == [
            begun, sum(s.fired for s in inside), sum(s.changed for s in inside)
        ]  # fmt: skip
        assert values.pop("answering") is True
        assert values == answer.values() | {"tokens": 90}


def test_marks_that_add_no_text_are_seen_as_well() -> None:
    stats = LaneStats()
    for text, sign in (("", "<think>"), ("Hm", "Hm"), ("", "</think>"), ("\n", "\n"), ("So", "So")):
        stats.add(make_step(sampler(), text=text), sign)
    values = stats.values()
    assert (values["thought"][0], values["tokens"], values["answering"]) == (4, 5, True)

"""Generations in their groups, and without a thought."""

from __future__ import annotations

from dataclasses import replace

from tests.ui.factories import decode, make_step, sampler, thinker
from xtc_viz.lab.generation import Generation, Group, answer, groups
from xtc_viz.runs.reasoning import answer_step


def test_groups_hold_the_samples_in_their_order() -> None:
    one = Generation("p1", "baseline", 1, 0, "one")
    two, other = replace(one, sample=1, text="two"), replace(one, condition="xtc")
    assert groups([two, other, one]) == {
        Group("p1", "baseline", 1): (one, two),
        Group("p1", "xtc", 1): (other,),
    }


def test_an_answer_is_what_follows_the_thought() -> None:
    texts = ["<think>", "Hm", "</think>", "So", " it", " was"]
    steps = tuple(make_step(sampler(), text=text) for text in texts)
    whole = Generation("p", "c", 1, 0, "".join(texts), tokens=tuple(range(6)), steps=steps)
    rest = answer(whole)
    assert (rest.text, rest.tokens, rest.steps) == ("So it was", (3, 4, 5), steps[3:])
    assert answer(rest) == rest
    assert answer(replace(whole, steps=())) == replace(whole, steps=())


def test_an_answer_of_packed_steps() -> None:
    model = thinker(20, opened=True)
    trace, _ = decode(model, prompt_ids=model.encode_chat("Once"), length=60)
    lane = trace.lanes[1]
    tokens = tuple(step.token for step in lane.steps)
    whole = Generation("p", "c", 1, 0, lane.text, tokens=tokens, steps=lane.steps)
    first = answer_step((step.text for step in lane.steps), thinking=True)
    assert 20 < first < 60
    rest = answer(whole, thinking=True)
    assert [step.token for step in rest.steps] == [*rest.tokens] == [*tokens[first:]]
    assert lane.text.endswith(rest.text)

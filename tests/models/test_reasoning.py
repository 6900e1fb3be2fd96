"""Thought and answer: by hand, and at every step of a text that is being written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.models.reasoning import (
    Reasoning,
    answer_at,
    answer_step,
    begins_in_thought,
    split_reasoning,
)


@pytest.mark.parametrize(
    ("text", "thinking", "expected"),
    [
        ("Hello <b>", False, Reasoning("", "Hello <b>")),
        ("", False, Reasoning("", "")),
        ("<think>\nHm.\n</think>\n\nYes.", False, Reasoning("Hm.", "Yes.")),
        ("\n<think></think>Yes. ", False, Reasoning("", "Yes. ")),
        ("<think>Hm", False, Reasoning("Hm", "", complete=False)),
        ("<thi", False, Reasoning("<thi", "", complete=False)),
        ("Hm.\n</think>\n\nYes.", True, Reasoning("Hm.", "Yes.")),
        ("Hm.", True, Reasoning("Hm.", "", complete=False)),
        ("", True, Reasoning("", "", complete=False)),
        ("I say <think>no</think>", False, Reasoning("", "I say <think>no</think>")),
        ("<think>a</think>b</think>c", False, Reasoning("a", "b</think>c")),
        ("<think>a</think>", False, Reasoning("a", "")),
    ],
)
def test_by_hand(text: str, thinking: bool, expected: Reasoning) -> None:
    assert split_reasoning(text, thinking=thinking) == expected


@pytest.mark.parametrize(
    ("prompt", "thinking"),
    [
        ("<|user|>Hi<|assistant|><think>\n", True),
        ("<|assistant|><think>\n\n</think>\n\n", False),
        ("Hi", False),
        ("<think>a</think>b<think>", True),
    ],
)
def test_templates_may_open_the_thought(prompt: str, thinking: bool) -> None:
    assert begins_in_thought(prompt) is thinking


pieces = st.lists(st.sampled_from(["<think>", "</think>", "a", " b", "\n", "<th", "ink>", ""]))


@given(pieces, st.booleans())
def test_steps_agree_with_characters(texts: list[str], thinking: bool) -> None:
    text = "".join(texts)
    step, at = answer_step(texts, thinking=thinking), answer_at(text, thinking=thinking)
    answer = split_reasoning(text, thinking=thinking).answer
    assert "".join(texts[step:]).endswith(answer)
    if at is None:
        assert step == len(texts)
    elif step < len(texts):
        assert len("".join(texts[:step])) <= at < len("".join(texts[: step + 1])) or at == 0


@given(pieces, st.booleans())
def test_an_answer_only_grows_while_it_is_written(texts: list[str], thinking: bool) -> None:
    """Once an answer has begun, more text never turns it back into thought."""
    begun = False
    for n in range(len(texts) + 1):
        split = split_reasoning("".join(texts[:n]), thinking=thinking)
        if begun:
            assert split.complete
        begun = begun or bool(split.complete and split.answer.strip())

"""Thought and answer: by hand, and at every step of a text that is being written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.runs.reasoning import (
    Reasoning,
    ThoughtReader,
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
        ("<|user|>What is <think> for?<|assistant|>", False),
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
        undecided = not thinking and "<think>" not in text
        assert step == (0 if undecided else len(texts))
    elif at == 0:
        assert step == 0
    elif step < len(texts):
        assert len("".join(texts[:step])) <= at < len("".join(texts[: step + 1]))


@given(pieces, st.booleans())
def test_what_was_thought_stays_thought(texts: list[str], thinking: bool) -> None:
    """Piece by piece, the thought is a beginning that grows until the answer begins."""
    reader, before = ThoughtReader(thinking=thinking), 0
    for n, piece in enumerate(texts, 1):
        done = reader.answering
        reader.push(piece)
        assert reader.steps in ({before} if done or reader.answering else {0, n})
        assert reader.steps >= before
        before = reader.steps


def test_the_mark_may_come_in_any_pieces() -> None:
    reader, found = ThoughtReader(), []
    for piece in ("\n", "<", "think", ">", "a <", "/think>", "\n", "So", " <think>"):
        reader.push(piece)
        found.append((reader.steps, reader.answering))
    assert found == [
        *[(0, False)] * 3, (4, False), (5, False), (6, False), (7, False), (7, True), (7, True)
    ]  # fmt: skip
    assert answer_step(["", "Hello"]) == 0, "half a character is no thought"
    assert answer_step(["Hm", "</think>So"], thinking=True) == 1


@given(pieces, st.booleans())
def test_an_answer_only_grows_while_it_is_written(texts: list[str], thinking: bool) -> None:
    """Once an answer has begun, more text never turns it back into thought."""
    begun = False
    for n in range(len(texts) + 1):
        split = split_reasoning("".join(texts[:n]), thinking=thinking)
        if begun:
            assert split.complete
        begun = begun or bool(split.complete and split.answer.strip())

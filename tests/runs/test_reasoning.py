"""Thought and answer: by hand, and at every step of a text that is being written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import decode, thinker
from xtc_viz.models.fake import FakeModel
from xtc_viz.runs.reasoning import ThoughtReader, answer_step, begins_in_thought, prompt_end


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("Hello <b>", False, "Hello <b>"),
        ("", False, ""),
        ("<think>\nHm.\n</think>\n\nYes.", False, "Yes."),
        ("\n<think></think>Yes. ", False, "Yes. "),
        ("<think>Hm", False, ""),
        ("<thi", False, "<thi"),
        ("Hm.\n</think>\n\nYes.", True, "Yes."),
        ("Hm.", True, ""),
        ("", True, ""),
        ("I say <think>no</think>", False, "I say <think>no</think>"),
        ("<think>a</think>b</think>c", False, "b</think>c"),
        ("<think>a</think>", False, ""),
    ],
)
def test_by_hand(text: str, thinking: bool, answer: str) -> None:
    """Character by character: what may still become a mark counts as answer until it is one."""
    assert text[answer_step(text, thinking=thinking) :] == answer


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


def answer_at(text: str, thinking: bool) -> int | None:
    """The index at which the answer begins in a whole text, None within a thought: by looking for
    the marks."""
    if not thinking and not text.lstrip().startswith("<think>"):
        return None if text.strip() and "<think>".startswith(text.lstrip()) else 0
    _, mark, answer = text.partition("</think>")
    return len(text) - len(answer.lstrip()) if mark else None


@given(pieces, st.booleans())
def test_steps_agree_with_characters(texts: list[str], thinking: bool) -> None:
    text = "".join(texts)
    step, at = answer_step(texts, thinking=thinking), answer_at(text, thinking)
    if at is None:
        undecided = not thinking and "<think>" not in text
        assert step == (0 if undecided else len(texts))
        return
    assert "".join(texts[step:]).endswith(text[at:])
    if at == 0:
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
    reader, states = ThoughtReader(), []
    for piece in ("\n", "<", "think", ">", "a <", "/think>", "\n", "So", " <think>"):
        reader.push(piece)
        states.append((reader.steps, reader.answering))
    assert states == [
        *[(0, False)] * 3, (4, False), (5, False), (6, False), (7, False), (7, True), (7, True)
    ]  # fmt: skip
    assert answer_step(["", "Hello"]) == 0, "half a character is no thought"
    assert answer_step(["Hm", "</think>So"], thinking=True) == 1


@given(pieces, st.booleans())
def test_an_answer_only_grows_while_it_is_written(texts: list[str], thinking: bool) -> None:
    """Once an answer has begun, more text never turns it back into thought."""
    reader, begun = ThoughtReader(thinking=thinking), None
    for piece in texts:
        reader.push(piece)
        if begun is not None:
            assert (reader.steps, reader.answering) == (begun, True)
        elif reader.answering:
            begun = reader.steps


def test_the_end_of_a_prompt_is_spelled_by_its_tokens() -> None:
    trace, model = decode(thinker(4, opened=True), prompt="Once", length=3)
    assert prompt_end(trace) == "Once"
    ids = model.encode_chat("Once " * 40)
    spelled = prompt_end(replace(trace, prompt_ids=tuple(ids), vocabulary=dict(names(model, ids))))
    assert spelled.endswith("<|assistant|><think>")
    assert begins_in_thought(spelled)


def names(model: FakeModel, ids: list[int]) -> Iterator[tuple[int, str]]:
    return ((token, model.token_text(token)) for token in ids)

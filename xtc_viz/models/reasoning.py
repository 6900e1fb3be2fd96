"""Texts that begin with `<think>…</think>`: which part is thought and which is the answer.

The paper leaves the reasoning prefix out of its metrics; a page shows it folded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

OPEN, CLOSE = "<think>", "</think>"


class Reasoning(NamedTuple):
    """A text in two parts, without the marks and the space around them.

    `complete` is False while the thought has no end yet; the answer is empty then.
    """

    thought: str
    answer: str
    complete: bool = True


def begins_in_thought(prompt: str) -> bool:
    """Whether the prompt's own end opened a thought, as the templates of some models do."""
    last = prompt.rfind(OPEN)
    return last >= 0 and CLOSE not in prompt[last:]


def answer_at(text: str, *, thinking: bool = False) -> int | None:
    """Return the index at which the answer begins, 0 without a thought, None within one.

    `thinking` says that the text continues a thought that its prompt opened. Only a thought at
    the very beginning counts: a text that speaks of `<think>` later on is an answer.
    """
    if not thinking and not text.lstrip().startswith(OPEN):
        # While it is being written, "<thi" may still become the mark.
        return None if text.strip() and OPEN.startswith(text.lstrip()) else 0
    end = text.find(CLOSE)
    if end < 0:
        return None
    end += len(CLOSE)
    return end + len(text[end:]) - len(text[end:].lstrip())


def split_reasoning(text: str, *, thinking: bool = False) -> Reasoning:
    """Return the thought and the answer of a text; see `answer_at` for `thinking`."""
    at = answer_at(text, thinking=thinking)
    if at == 0:
        return Reasoning("", text)
    head = (text if at is None else text[:at]).strip().removeprefix(OPEN).removesuffix(CLOSE)
    answer = "" if at is None else text[at:]
    return Reasoning(head.strip(), answer, at is not None)


def answer_step(pieces: Iterable[str], *, thinking: bool = False) -> int:
    """Return the index of the first piece (a step's text) that belongs to the answer.

    A piece that holds the end of the thought belongs to the thought, unless the answer begins in
    it. With a thought that has no end it is the number of pieces: there is no answer to measure.
    """
    texts = list(pieces)
    at = answer_at("".join(texts), thinking=thinking)
    if at is None:
        return len(texts)
    length = 0
    for index, piece in enumerate(texts):
        length += len(piece)
        if length > at:
            return index
    return len(texts) if at else 0

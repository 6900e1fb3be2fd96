"""Texts that begin with `<think>…</think>`: which part is thought and which is the answer.

The paper leaves the reasoning prefix out of its metrics; a page shows it folded.
"""

from __future__ import annotations

from collections.abc import Iterable

from xtc_viz.records.trace import Trace

OPEN, CLOSE = "<think>", "</think>"
PROMPT_END = 32  # tokens that may hold a mark of a thought, spelled letter by letter


def prompt_end(trace: Trace) -> str:
    """Return the end of a run's prompt as its tokens spell it, a chat template's marks included."""
    return "".join(trace.vocabulary.get(token, "") for token in trace.prompt_ids[-PROMPT_END:])


def begins_in_thought(prompt: str) -> bool:
    """Whether the prompt's own end opened a thought, as the templates of some models do.

    What a user wrote about `<think>` opens none.
    """
    return prompt.rstrip().endswith(OPEN)


def ends_thought(prompt: str) -> bool:
    """Whether the prompt's own end closed a thought: the answer is to begin at once."""
    return prompt.rstrip().endswith(CLOSE)


class ThoughtReader:
    """Follows a text piece by piece, a step's text each; `push` costs the same at every step.

    `steps` is how many of the pieces so far are thought: 0 as long as a beginning such as `<thi`
    may still become the mark, and then all of them at once. A piece that holds the end of the
    thought belongs to it, unless the answer begins there. `answering` says that no thought is left
    to come.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self.steps = 0
        self.answering = False
        self._count = 0
        self._opened = thinking
        self._closed = False
        self._held = ""  # the end of the text that may be the beginning of a mark

    def push(self, piece: str) -> None:
        self._count += 1
        if self.answering:
            return
        text = piece if self._closed else self._held + piece
        if not self._opened:
            self._held = text = text.lstrip()
            self._opened = text.startswith(OPEN)
            self.answering = not (self._opened or OPEN.startswith(text))
            if not self._opened:
                return
        if not self._closed:
            before, mark, text = text.partition(CLOSE)
            self._closed = bool(mark)
            self._held = before[1 - len(CLOSE) :]
        self.answering = self._closed and bool(text.strip())
        self.steps = self._count - self.answering


def answer_step(pieces: Iterable[str], *, thinking: bool = False) -> int:
    """Return the index of the first piece that belongs to the answer; see `ThoughtReader`.

    With a thought that has no end it is the number of pieces: there is no answer to measure.
    """
    reader = ThoughtReader(thinking=thinking)
    for piece in pieces:
        reader.push(piece)
    return reader.steps

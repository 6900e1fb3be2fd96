"""The text of a row, token by token, and its end."""

from __future__ import annotations

import pytest

from xtc_viz.models.fake import FakeModel
from xtc_viz.records.trace import FinishReason
from xtc_viz.rowtext import RowText

MODEL = FakeModel()
PROMPT = MODEL.encode("Once")


def test_it_ends_after_its_tokens_or_with_the_context() -> None:
    text = RowText(MODEL, PROMPT, 2, ())
    first, second = (text.add(PROMPT[0]) for _ in range(2))
    assert (first[1], second[1]) == (None, FinishReason.LENGTH)
    room = MODEL.info.context_length - len(PROMPT)
    full = RowText(MODEL, PROMPT, room + 5, ())
    assert full.room == room
    *before, last = (full.add(PROMPT[0])[1] for _ in range(room))
    assert set(before) == {None}
    assert last is FinishReason.CONTEXT


def test_an_end_of_text_ends_it_before_all_else() -> None:
    text = RowText(MODEL, PROMPT, 1, ())
    assert text.add(MODEL.info.eos_ids[0])[1] is FinishReason.EOS


@pytest.mark.parametrize("stop", ["Once", "ceOn"])
def test_a_stop_text_may_lie_across_tokens(stop: str) -> None:
    text = RowText(MODEL, PROMPT, 50, (stop,))
    ends = [text.add(token)[1] for token in PROMPT * 2]
    assert FinishReason.STOP in ends

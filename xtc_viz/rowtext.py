"""The text of a row as it grows token by token, and where it ends."""

from __future__ import annotations

from collections.abc import Sequence

from xtc_viz.models.base import LanguageModel
from xtc_viz.records.trace import FinishReason


class RowText:
    """Ends at an end-of-sequence token, after `most` tokens, when the text contains one of `stop`,
    or where the model's context does. `room` is how many tokens there may be."""

    def __init__(
        self, model: LanguageModel, prompt_ids: Sequence[int], most: int, stop: Sequence[str]
    ) -> None:
        left = model.info.context_length - len(prompt_ids)
        self.room = min(most, left)
        self._last = FinishReason.CONTEXT if left <= most else FinishReason.LENGTH
        self._eos = frozenset(model.info.eos_ids)
        self._stop = stop
        self._detokenizer = model.detokenizer(prompt_ids)
        self._text = ""
        self._count = 0

    def add(self, token: int) -> tuple[str, FinishReason | None]:
        """Return the text that became certain with this token, and why the row ends with it, if it
        does."""
        self._count += 1
        text = self._detokenizer.push(token)
        finish = self._finish(token, text)
        if finish:
            text += self._detokenizer.flush()
        self._text += text
        return text, finish

    def _finish(self, token: int, text: str) -> FinishReason | None:
        if token in self._eos:
            return FinishReason.EOS
        # A stop string ends in the new text, so only that much of the old text is looked at.
        if any(stop in self._text[1 - len(stop) :] + text for stop in self._stop if text):
            return FinishReason.STOP
        return self._last if self._count == self.room else None

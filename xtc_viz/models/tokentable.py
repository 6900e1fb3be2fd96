"""Token ids to text, one at a time: what is known of each token, and the text that they add up to.

Every token has bytes, wherever it stands, except the first of a text (SentencePiece drops the
space before it). So a text is its tokens' bytes joined and read as UTF-8: exact, whatever the
tokenizer, in constant time per token, and a character that is split over tokens appears once it
is whole.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

REPLACEMENT = "\ufffd"


class Texts(Protocol):
    """What a detokenizer asks of each token."""

    def is_special(self, token_id: int) -> bool:
        """Whether the token leaves no trace in a text: an end of sequence, or no token at all."""

    def bytes_of(self, token_id: int) -> bytes:
        """Return what the token adds to a text that it does not begin; b"" for a special one."""

    def first_bytes_of(self, token_id: int) -> bytes:
        """Return what the token adds at the very beginning of a text."""


@dataclass(frozen=True, slots=True)
class TokenTable:
    """What is known of each token, by id: `data` holds what a token adds to a text,
    `first` what it adds at the beginning where that is different, `pieces` what to show of those
    that add nothing.
    """

    special: frozenset[int]
    data: Sequence[bytes]
    first: Mapping[int, bytes]
    pieces: Mapping[int, str]
    newlines: tuple[int, ...]

    def is_special(self, token_id: int) -> bool:
        return token_id in self.special or token_id >= len(self.data)

    def bytes_of(self, token_id: int) -> bytes:
        return self.data[token_id] if token_id < len(self.data) else b""

    def first_bytes_of(self, token_id: int) -> bytes:
        own = self.first.get(token_id)
        return self.bytes_of(token_id) if own is None else own

    def text_of(self, token_id: int) -> str:
        data = self.bytes_of(token_id)
        return shown_bytes(data) if data else self.pieces.get(token_id, f"<unused {token_id}>")

    def newline_ids(self) -> tuple[int, ...]:
        return self.newlines


def shown_bytes(data: bytes) -> str:
    """Return bytes as text, those that are no character as `<0xE2>`."""
    # Undecodable bytes become lone surrogates, which no text of a token contains otherwise.
    escaped = data.decode("utf-8", "surrogateescape").replace(REPLACEMENT, "\udcef\udcbf\udcbd")
    return "".join(
        f"<0x{ord(c) - 0xDC00:02X}>" if "\udc80" <= c <= "\udcff" else c for c in escaped
    )


class StreamDetokenizer:
    """The text that follows `prefix_ids`; the pieces add up to it exactly.

    A character that the prefix began is part of the text that follows.
    """

    def __init__(self, texts: Texts, prefix_ids: Sequence[int] = ()) -> None:
        self._texts = texts
        self._begun = False
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for token_id in prefix_ids:
            self.push(token_id)

    def push(self, token_id: int) -> str:
        if self._texts.is_special(token_id):
            return ""
        if self._begun:
            return self._decoder.decode(self._texts.bytes_of(token_id))
        self._begun = True
        return self._decoder.decode(self._texts.first_bytes_of(token_id))

    def flush(self) -> str:
        return self._decoder.decode(b"", final=True)

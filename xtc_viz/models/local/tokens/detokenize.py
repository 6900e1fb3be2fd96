"""The bytes of the tokens of a tokenizer of transformers.

A text is its tokens' bytes joined (`tokentable`). This equals `tokenizer.decode` on all byte-level
tokenizers. On those with byte fallback it does as well where the bytes form characters; where they
do not, one broken sequence becomes one U+FFFD and the characters beside it stay, whereas `decode`
gives up the whole run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xtc_viz.models.tokentable import REPLACEMENT, TokenTable, shown_bytes

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _byte_level_alphabet() -> dict[str, int]:
    """Map the characters that byte-level tokenizers write to the bytes that they stand for.

    Printable Latin-1 characters stand for themselves, all others for the code points from 256 on
    (the table of GPT-2).
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


_ALPHABET = _byte_level_alphabet()


class TokenTexts:
    """The bytes and the readable text of a Hugging Face tokenizer's tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        # Those with a role, and those that are only marked as special.
        marked = (i for i, t in tokenizer.added_tokens_decoder.items() if t.special)
        self._special = frozenset(tokenizer.all_special_ids).union(marked)
        self._size = len(tokenizer)  # logits may be wider
        # The text of a token that is not the first is what it adds behind another one.
        self._anchor = tokenizer.encode("a", add_special_tokens=False)[-1:]
        self._base = self._decode(self._anchor)
        self._bytes: dict[int, bytes] = {}

    def is_special(self, token_id: int) -> bool:
        """Whether the token leaves no trace in a text: an end of sequence, or no token at all."""
        return token_id in self._special or token_id >= self._size

    def bytes_of(self, token_id: int) -> bytes:
        """Return what the token adds to a text that it does not begin; b"" for a special one."""
        data = self._bytes.get(token_id)
        if data is None:
            text = self._decode([*self._anchor, token_id])
            if not text.startswith(self._base):
                text, self_base = self._decode([token_id]), ""
            else:
                self_base = self._base
            data = self._bytes[token_id] = self._exact(token_id, text[len(self_base) :])
        return data

    def first_bytes_of(self, token_id: int) -> bytes:
        """Return what the token adds at the very beginning of a text."""
        return self._exact(token_id, self._decode([token_id]))

    def text_of(self, token_id: int) -> str:
        """Return the token as text to show: never empty, never U+FFFD.

        Bytes that are no character read `<0xE2>`, special tokens are literal.
        """
        data = self.bytes_of(token_id)
        if not data:
            piece = self._tokenizer.convert_ids_to_tokens(token_id)
            return str(piece) if piece else f"<unused {token_id}>"
        return shown_bytes(data)

    def newline_ids(self) -> tuple[int, ...]:
        """Return every token whose text holds a newline, in rising order."""
        # Asking for each token's bytes would take a second on large vocabularies.
        marks = ("\n", "Ċ", "<0x0A>")
        suspects = [
            token_id
            for piece, token_id in self._tokenizer.get_vocab().items()
            if any(mark in piece for mark in marks)
        ]
        return tuple(sorted(i for i in suspects if b"\n" in self.bytes_of(i)))

    def table(self) -> TokenTable:
        """Return the texts of all tokens, for a process without the tokenizer."""
        ids = range(self._size)
        data = [b"" if self.is_special(i) else self.bytes_of(i) for i in ids]
        first = {i: self.first_bytes_of(i) for i in ids if not self.is_special(i)}
        return TokenTable(
            special=self._special,
            data=data,
            first={i: own for i, own in first.items() if own != data[i]},
            pieces={i: self.text_of(i) for i in ids if not data[i]},
            newlines=self.newline_ids(),
        )

    def _decode(self, token_ids: Sequence[int]) -> str:
        return str(
            self._tokenizer.decode(
                token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _exact(self, token_id: int, text: str) -> bytes:
        """Return the bytes behind `text`, in which broken characters read U+FFFD."""
        if REPLACEMENT not in text:
            return text.encode()
        piece = str(self._tokenizer.convert_ids_to_tokens(token_id))
        if match := _BYTE_TOKEN.fullmatch(piece):
            return bytes.fromhex(match[1])
        if all(c in _ALPHABET for c in piece):
            return bytes(_ALPHABET[c] for c in piece)
        return text.encode()

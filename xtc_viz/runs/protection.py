"""Which tokens XTC must never silence, by model."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from xtc_viz.errors import SettingsError
from xtc_viz.models.base import LanguageModel


class Newlines(StrEnum):
    """Which newlines are protected.

    `TOKEN` is the newline alone, as engines do that protect one id. `ALL` is every token whose
    text holds a newline: with byte-pair vocabularies many paragraphs end in `.\\n\\n` and the like.
    """

    TOKEN = "token"
    ALL = "all"
    NONE = "none"


def protected_ids(
    model: LanguageModel,
    newlines: Newlines | str = Newlines.ALL,
    extra: Iterable[int] = (),
    *,
    eos: bool = True,
) -> frozenset[int]:
    """Return the protected token ids of this model.

    `eos` adds every id that ends a text, not one alone: chat models have several. `extra` are the
    user's own.

    Raises:
        SettingsError: `newlines` is no choice, or an id of `extra` is no token of this model.
    """
    info = model.info
    try:
        choice = Newlines(newlines)
    except ValueError:
        raise SettingsError("newlines", f"one of {', '.join(Newlines)}", newlines) from None
    ids = set(info.eos_ids) if eos else set()
    if choice is Newlines.ALL:
        ids.update(info.newline_ids)
    elif choice is Newlines.TOKEN:
        ids.update(i for i in info.newline_ids if model.token_text(i) == "\n")
    for token in extra:
        if not 0 <= token < info.vocab_size:
            raise SettingsError("protected", f"token ids in [0, {info.vocab_size})", token)
        ids.add(token)
    return frozenset(ids)


def text_tokens(model: LanguageModel, text: str) -> list[int]:
    """Return the tokens of a text as they stand within another one, special ones left out.

    The text is put behind a newline or a tilde: alone, many SentencePiece tokenizers would put
    a space before it, and so make another token of its beginning.
    """
    for mark in ("\n", "~"):
        before, both = model.encode(mark), model.encode(mark + text)
        if both[: len(before)] == before:
            return both[len(before) :]
    # The marks became one token with what follows, or the tokenizer ends every text.
    special = set(model.encode(""))
    return [token for token in model.encode(text) if token not in special]

"""Which tokens XTC must never silence: the choice (two kinds and own texts), and the ids it means.

On a model that is in memory its tokenizer decides. A run that another model wrote knows the texts
of its tokens, and only tokens that it recorded can matter to it: that is enough for all but a text
whose first token cannot be told without that model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from xtc_viz.errors import SettingsError, Words
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.local.tokens.vocabulary import TokenizerVocabulary
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.texts import valid

MAX_TEXTS = 200
MAX_TEXT = 1000  # characters


class Meanings(Protocol):
    """What of a `ModelInfo` matters here."""

    @property
    def eos_ids(self) -> tuple[int, ...]: ...

    @property
    def newline_ids(self) -> tuple[int, ...]: ...

    @property
    def vocab_size(self) -> int: ...


class Vocabulary(Protocol):
    """What of a `LanguageModel` matters here; a tokenizer alone is one too."""

    @property
    def info(self) -> Meanings: ...

    def encode(self, text: str) -> list[int]: ...

    def token_text(self, token_id: int) -> str: ...


class Newlines(StrEnum):
    """Which newlines are protected.

    `TOKEN` is the newline alone, as engines do that protect one id. `ALL` is every token whose
    text holds a newline: with byte-pair vocabularies many paragraphs end in `.\\n\\n` and the like.
    """

    TOKEN = "token"
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Protection:
    """Which tokens XTC must never silence: the two kinds, and the user's own texts.

    Of a text that becomes several tokens the first is protected.
    """

    eos: bool = True
    newline: Newlines = Newlines.ALL
    texts: tuple[str, ...] = ()

    def ids(self, model: Vocabulary) -> frozenset[int]:
        """Return the protected token ids of this model."""
        own = [token for text in self.texts for token in text_tokens(model, text)[:1]]
        return protected_ids(model, self.newline, own, eos=self.eos)

    def to_dict(self) -> dict[str, Any]:
        return {"eos": self.eos, "newline": str(self.newline), "texts": list(self.texts)}

    @classmethod
    def parse(cls, data: object) -> Protection:
        """Return the choice that plain data holds. `newline` may also be true (all) or false
        (none).

        Raises:
            SettingsError: naming `protect`, or `protect_newline`.
        """
        if not isinstance(data, Mapping):
            raise SettingsError("protect", "an object with named values", data)
        texts = data.get("texts", [])
        if not isinstance(texts, (list, tuple)) or not all(isinstance(t, str) and t for t in texts):
            raise SettingsError("protect", "a list of non-empty texts", texts)
        if len(texts) > MAX_TEXTS or any(len(text) > MAX_TEXT for text in texts):
            bounds = f"at most {MAX_TEXTS} texts of at most {MAX_TEXT:,} characters"
            raise SettingsError("protect", bounds, Words(f"{len(texts):,} texts"))
        for text in texts:
            valid("protect", text)
        newline = _newlines(data.get("newline", True))
        return cls(data.get("eos", True) is True, newline, tuple(texts))


NOTHING = Protection(eos=False, newline=Newlines.NONE)
"""The choice that protects no token."""


def _newlines(value: object) -> Newlines:
    if isinstance(value, bool):
        return Newlines.ALL if value else Newlines.NONE
    if not isinstance(value, str) or value not in list(Newlines):
        bounds = f"true, false or one of {', '.join(Newlines)}"
        raise SettingsError("protect_newline", bounds, value)
    return Newlines(value)


def protected_tokens(
    tokenizer: Any,
    model: Any = None,
    *,
    newlines: Newlines | str = Newlines.ALL,
    texts: Iterable[str] = (),
    eos: bool = True,
) -> frozenset[int]:
    """Return the token ids that XTC must never silence, for `XTCSettings(protected=...)`.

    For any tokenizer of transformers: the ends of a text, and newlines. Give the `model` too where
    there is one: chat models end a turn by other tokens than their tokenizer names
    (`generation_config.eos_token_id`).

    Args:
        tokenizer: of transformers, fast or not.
        model: of transformers, or None.
        newlines: "all" tokens whose text holds a newline, the "token" that is one, or "none".
        texts: texts to protect; of one that becomes several tokens the first.
        eos: whether to protect the ends of a text.

    Raises:
        SettingsError: `newlines` is no choice, or `texts` are not texts.
    """
    texts = tuple([texts] if isinstance(texts, str) else texts)
    if not all(isinstance(text, str) and text for text in texts):
        raise SettingsError("texts", "non-empty texts", texts)
    vocabulary = TokenizerVocabulary(tokenizer, model)
    own = [token for text in texts for token in text_tokens(vocabulary, text)[:1]]
    return protected_ids(vocabulary, newlines, own, eos=eos)


def protected_ids(
    model: Vocabulary,
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


def text_tokens(model: Vocabulary, text: str) -> list[int]:
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


class Resolved(NamedTuple):
    """Protected ids along a run; `unsure` are the texts whose first token nobody here can tell."""

    ids: frozenset[int]
    unsure: tuple[str, ...] = ()


def along(
    protection: Protection,
    info: ModelInfo,
    texts: Mapping[int, str],
    model: LanguageModel | None,
) -> Resolved:
    """Return the ids that a choice means along a run.

    `info` is the model that wrote it and `texts` the text of every token that it recorded;
    `model` is the model in memory where it is the same one. Without it, an own text means the
    recorded tokens with just that text; where there is none, but a token that the text begins
    with, the text may start with that token or not.
    """
    if model:
        return Resolved(protection.ids(model))
    ids = set(info.eos_ids) if protection.eos else set()
    if protection.newline is Newlines.ALL:
        ids.update(info.newline_ids)
    elif protection.newline is Newlines.TOKEN:
        ids.update(_alone(info, texts))
    unsure = []
    for text in protection.texts:
        exact = {i for i, known in texts.items() if known == text}
        ids.update(exact)
        if not exact and any(text.startswith(known) for known in texts.values() if known):
            unsure.append(text)
    return Resolved(frozenset(ids), tuple(unsure))


def described(ids: Iterable[int], info: ModelInfo, texts: Mapping[int, str]) -> Protection:
    """Return the choice that stands behind these protected ids, as far as texts are known."""
    left = set(ids)
    eos = left.issuperset(info.eos_ids)
    newlines, alone = set(info.newline_ids), _alone(info, texts)
    if left >= newlines:
        choice, meant = Newlines.ALL, newlines
    elif alone & left:
        choice, meant = Newlines.TOKEN, alone
    else:
        choice, meant = Newlines.NONE, set()
    left -= meant
    left.difference_update(info.eos_ids if eos else ())
    own = (texts[i] for i in sorted(left) if texts.get(i))
    return Protection(eos, choice, tuple(dict.fromkeys(own)))


def worth_naming(ids: Iterable[int], info: ModelInfo) -> set[int]:
    """Return the protected ids whose texts a run has to know to be `described` later on."""
    left, newlines = set(ids), set(info.newline_ids)
    return left.difference(info.eos_ids, newlines if left >= newlines else ())


def _alone(info: ModelInfo, texts: Mapping[int, str]) -> set[int]:
    return {i for i in info.newline_ids if texts.get(i) == "\n"}

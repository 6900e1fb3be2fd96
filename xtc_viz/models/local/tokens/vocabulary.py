"""What a tokenizer of transformers knows of its tokens, without a model to run."""

from __future__ import annotations

from typing import Any, NamedTuple

from xtc_viz.models.local.tokens.detokenize import TokenTexts


class Ends(NamedTuple):
    """Ids by what they mean: those that end a text, and those whose text holds a newline.

    `vocab_size` is one more than the largest id.
    """

    eos_ids: tuple[int, ...]
    newline_ids: tuple[int, ...]
    vocab_size: int


class TokenizerVocabulary:
    """The tokens of a tokenizer; `model`, where there is one, may name more that end a text."""

    def __init__(self, tokenizer: Any, model: Any = None) -> None:
        self._tokenizer = tokenizer
        self._texts = TokenTexts(tokenizer)
        ids = tokenizer.get_vocab().values()
        size = max(ids, default=-1) + 1
        self.info = Ends(eos_ids(tokenizer, model), self._texts.newline_ids(), size)

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text))

    def token_text(self, token_id: int) -> str:
        return self._texts.text_of(token_id)


def eos_ids(tokenizer: Any, model: Any = None) -> tuple[int, ...]:
    """Return all ids that end a text: the model's generation config's, then the tokenizer's."""
    config = getattr(model, "generation_config", None)
    named = getattr(config, "eos_token_id", None)
    listed = named if isinstance(named, (list, tuple)) else [named]
    ids = [i for i in (*listed, tokenizer.eos_token_id) if i is not None]
    return tuple(dict.fromkeys(map(int, ids)))

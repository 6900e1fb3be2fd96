"""A model's tokenizer: from its files, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.local.folder.files import TEXTS, VOCABULARIES, has_tokenizer
from xtc_viz.models.local.folder.jsonfile import read_object
from xtc_viz.models.local.folder.rehearsal import first_line
from xtc_viz.models.local.tokens.detokenize import TokenTexts
from xtc_viz.models.tokentable import TokenTable


def read_tokenizer(view: Path, name: str) -> Any:
    """Return the tokenizer of a view (see `files`). Raises `ModelError` with what is wrong."""
    if not has_tokenizer(view):
        raise ModelError(
            f"{name} has no tokenizer: there is no tokenizer.json, nor any other vocabulary."
        )
    own = view / "tokenizer.json"
    if own.exists():
        values = read_object(own, TEXTS[own.name], f"tokenizer.json of {name}")
        for key, kind in (("model", dict), ("added_tokens", list)):
            if not isinstance(values.get(key), kind):
                raise ModelError(f"tokenizer.json of {name} is broken: it has no `{key}`.")
    try:
        # It is Rust: what it has no error for is a panic, which comes as a `BaseException`.
        tokenizer = AutoTokenizer.from_pretrained(
            view, trust_remote_code=False, local_files_only=True
        )
        # Those without a vocabulary make no token of anything.
        if tokenizer.encode("a", add_special_tokens=False):
            return tokenizer
        problem = "it makes no token of the text 'a'."
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        problem = first_line(error)
    present = [file for file in VOCABULARIES if (view / file).exists()]
    raise ModelError(f"The tokenizer of {name} ({', '.join(present)}) cannot be used: {problem}")


def token_table(tokenizer: Any, name: str) -> TokenTable:
    """Return the texts of all tokens. Raises `ModelError` where the tokenizer gives one up."""
    try:
        return TokenTexts(tokenizer).table()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise ModelError(
            f"The tokenizer of {name} cannot write all of its tokens: {first_line(error)}"
        ) from error


def encode(tokenizer: Any, name: str, text: str) -> list[int]:
    """Return the tokens of a text. Raises `PromptError` where the tokenizer gives it up."""
    with _in_words(f"The tokenizer of {name} does not take this text"):
        return list(tokenizer.encode(text))


def encode_chat(
    tokenizer: Any, name: str, user: str, system: str = "", *, thinking: bool = True
) -> list[int]:
    """Return the tokens of a system turn (if not empty) and a user turn, by the chat template.

    Raises `PromptError` where the template refuses them.
    """
    turns = [{"role": "system", "content": system}] if system else []
    turns.append({"role": "user", "content": user})
    with _in_words(f"The chat template of {name} does not take this"):
        # What a person types must not become a control token of the template.
        ids = tokenizer.apply_chat_template(
            turns,
            add_generation_prompt=True,
            return_dict=False,
            sanitize_control_tokens=True,
            enable_thinking=thinking,  # a template without the switch does not look at it
        )
        return list(ids)


@contextmanager
def _in_words(words: str) -> Iterator[None]:
    """Raise `PromptError` for every error of a tokenizer or a template."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise PromptError(f"{words}: {first_line(error)}") from error

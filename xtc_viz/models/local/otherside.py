"""What the process of a stranger's model does (see `apart`): one function a question.

What heavy libraries are needed for is imported where it is needed, so that a broken folder is
refused before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xtc_viz.models.local.folder.files import (
    CONFIG,
    GENERATION,
    MAX_CONFIG,
    ModelFiles,
    make_tokenizer_view,
    make_view,
)
from xtc_viz.models.local.folder.jsonfile import read_object
from xtc_viz.models.tokentable import TokenTable

if TYPE_CHECKING:
    from xtc_viz.models.local.folder.rehearsal import Plan

# What was read, by its view. There is one model for a process.
_files: dict[Path, ModelFiles] = {}
_tokenizers: dict[Path, Any] = {}


class TokenizerFacts(NamedTuple):
    """What is known of a tokenizer without it."""

    table: TokenTable
    size: int
    eos_token_id: int | None
    model_max_length: float
    chat_template: Any


class FolderFacts(NamedTuple):
    """What is known of a tokenizer whose model runs elsewhere: the texts of its tokens, those that
    end a text, and what it makes of the samples that were asked for."""

    table: TokenTable
    eos_ids: tuple[int, ...]
    samples: tuple[list[int], ...]


def check_files(folder: Path, view: Path, name: str) -> None:
    """Make a view of a folder. Raises `ModelError`."""
    _files[view] = make_view(folder, view, name)


def plan(view: Path, name: str) -> Plan:
    """Return how to load the model. Raises `ModelError`."""
    from xtc_viz.models.local.folder.rehearsal import plan_load

    return plan_load(_files.pop(view), view, name)


def open_tokenizer(view: Path, name: str) -> None:
    """Read the tokenizer. Raises `ModelError`."""
    from xtc_viz.models.local.tokens.tokenizer import read_tokenizer

    os.environ["RUST_BACKTRACE"] = "0"
    _tokenizers[view] = read_tokenizer(view, name)


def tokenizer_facts(view: Path, name: str) -> TokenizerFacts:
    """Read the tokenizer and return what is known of it. Raises `ModelError`."""
    from xtc_viz.models.local.tokens.tokenizer import token_table

    open_tokenizer(view, name)
    tokenizer = _tokenizers[view]
    return TokenizerFacts(
        token_table(tokenizer, name),
        len(tokenizer),
        tokenizer.eos_token_id,
        float(tokenizer.model_max_length),
        tokenizer.chat_template,
    )


def folder_facts(folder: Path, view: Path, name: str, samples: Sequence[str]) -> FolderFacts:
    """Make a view of a folder's tokenizer and return what is known of it.

    Raises:
        ModelError: a file is broken, or the tokenizer cannot be used.
        PromptError: it does not take a sample.
    """
    make_tokenizer_view(folder, view, name)
    facts = tokenizer_facts(view, name)
    from xtc_viz.models.local.tokens.tokenizer import encode

    made = tuple(encode(_tokenizers[view], name, text) for text in samples)
    return FolderFacts(facts.table, _ends(view, name, facts.eos_token_id), made)


def _ends(view: Path, name: str, own: int | None) -> tuple[int, ...]:
    """Return all ids that end a text: those of the model's settings, then the tokenizer's own."""
    named: Any = None
    for file in (GENERATION, CONFIG):
        if named is None and (view / file).exists():
            values = read_object(view / file, MAX_CONFIG, f"{file} of {name}")
            named = values.get("eos_token_id")
    listed = named if isinstance(named, list) else [named]
    return tuple(dict.fromkeys(i for i in (*listed, own) if i is not None))


def tokens(view: Path, name: str, text: str) -> list[int] | None:
    """Return the tokens of a text; None where the tokenizer was not read in this process."""
    tokenizer = _tokenizers.get(view)
    if tokenizer is None:
        return None
    from xtc_viz.models.local.tokens.tokenizer import encode

    return encode(tokenizer, name, text)


def chat_tokens(view: Path, name: str, user: str, system: str, thinking: bool) -> list[int] | None:
    """Apply the chat template; None where the tokenizer was not read in this process."""
    tokenizer = _tokenizers.get(view)
    if tokenizer is None:
        return None
    from xtc_viz.models.local.tokens.tokenizer import encode_chat

    return encode_chat(tokenizer, name, user, system, thinking=thinking)

"""A stranger's model files, looked at in another process, which can be ended.

What a folder's files can make slow or large happens there: the reading of config and heads, the
rehearsal of the load, the tokenizer with its patterns, and the chat template. That process stays
for as long as the model does. The texts of all tokens come over as a table at the load, so that no
step of a decode asks it anything.
"""

from __future__ import annotations

import atexit
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.load import LoadStoppedError, Progress
from xtc_viz.models.local.folder.rehearsal import Plan
from xtc_viz.models.local.otherside import (
    FolderFacts,
    TokenizerFacts,
    chat_tokens,
    check_files,
    folder_facts,
    open_tokenizer,
    plan,
    tokenizer_facts,
    tokens,
)
from xtc_viz.models.local.tokens.detokenize import TokenTexts
from xtc_viz.models.local.tokens.tokenizer import encode, encode_chat
from xtc_viz.models.tokentable import TokenTable
from xtc_viz.sideprocess import MIB, Cost, LimitError, SidePool, StoppedError

# The process begins by importing transformers, which takes seconds, and more from a cold disk.
CHECK = Cost(seconds=120.0, memory=4096 * MIB)
TEXT = Cost(seconds=5.0, memory=1024 * MIB)

T = TypeVar("T")


class Apart:
    """The other process of one model, and the view of its folder (see `files`)."""

    def __init__(self, name: str) -> None:
        self.name = name
        folder = tempfile.TemporaryDirectory(prefix="xtc-viz-", ignore_cleanup_errors=True)
        self.view = Path(folder.name)
        self._pool = SidePool(processes=1, waiting=1000)
        self._ready = False  # whether the process has the tokenizer
        weakref.finalize(self, _end, self._pool, folder)

    def plan(self, folder: Path, progress: Progress) -> Plan:
        """Check the folder and return how to load it. Raises `ModelError`, `LoadStoppedError`."""
        words = f"checking the files of {self.name}"
        self._call(words, progress, check_files, folder, self.view, self.name)
        return self._call(words, progress, plan, self.view, self.name)

    def tokenizer(self, progress: Progress) -> RemoteTokenizer:
        """Return the tokenizer. Raises `ModelError`, `LoadStoppedError`."""
        words = f"reading the tokenizer of {self.name}"
        facts = self._call(words, progress, tokenizer_facts, self.view, self.name)
        self._ready = True
        return RemoteTokenizer(self, facts)

    def folder(self, folder: Path, samples: Sequence[str], progress: Progress) -> FolderFacts:
        """Read the tokenizer of a folder whose model runs elsewhere, and what it makes of samples.

        Raises `ModelError`, `PromptError`, `LoadStoppedError`.
        """
        words = f"reading the tokenizer of {self.name}"
        return self._call(words, progress, folder_facts, folder, self.view, self.name, samples)

    def ask(self, what: str, function: Callable[..., T | None], *arguments: Any) -> T:
        """Return what a function of the tokenizer says. Raises `PromptError`."""
        try:
            for _ in range(2):
                if not self._ready:  # it was ended, and its successor begins from nothing
                    words = f"Reading the tokenizer of {self.name}"
                    self._pool.call(words, open_tokenizer, self.view, self.name, most=CHECK)
                    self._ready = True
                value = self._pool.call(what, function, self.view, *arguments, most=TEXT)
                if value is not None:
                    return value
                self._ready = False
        except LimitError as error:
            self._ready = False
            raise PromptError(str(error)) from error
        raise PromptError(f"The tokenizer of {self.name} does not stay in memory: try again.")

    def _call(
        self, words: str, progress: Progress, function: Callable[..., T], *arguments: Any
    ) -> T:
        progress(words, None)

        def stopped() -> bool:
            try:
                progress(words, None)
            except LoadStoppedError:
                return True
            return False

        what = words[0].upper() + words[1:]
        try:
            return self._pool.call(what, function, *arguments, most=CHECK, stopped=stopped)
        except StoppedError:
            raise LoadStoppedError from None
        except LimitError as error:
            raise ModelError(str(error)) from error


class RemoteTokenizer:
    """A tokenizer in another process, with as much of the methods of transformers as is used."""

    def __init__(self, apart: Apart, facts: TokenizerFacts) -> None:
        self._apart = apart
        self._size = facts.size
        self.texts = facts.table
        self.eos_token_id = facts.eos_token_id
        self.model_max_length = facts.model_max_length
        self.chat_template = facts.chat_template

    def __len__(self) -> int:
        return self._size

    def encode(self, text: str) -> list[int]:
        name = self._apart.name
        return self._apart.ask(f"The tokenizer of {name}", tokens, name, text)

    def encode_chat(self, user: str, system: str, thinking: bool) -> list[int]:
        name = self._apart.name
        what = f"The chat template of {name}"
        return self._apart.ask(what, chat_tokens, name, user, system, thinking)


def texts_of(tokenizer: Any) -> TokenTexts | TokenTable:
    """Return the texts of a tokenizer's tokens."""
    return tokenizer.texts if isinstance(tokenizer, RemoteTokenizer) else TokenTexts(tokenizer)


def encode_of(tokenizer: Any, name: str, text: str) -> list[int]:
    """Return the tokens of a text. Raises `PromptError`."""
    if isinstance(tokenizer, RemoteTokenizer):
        return tokenizer.encode(text)
    return encode(tokenizer, name, text)


def chat_of(tokenizer: Any, name: str, user: str, system: str, thinking: bool) -> list[int]:
    """Apply a tokenizer's chat template; see `encode_chat`."""
    if isinstance(tokenizer, RemoteTokenizer):
        return tokenizer.encode_chat(user, system, thinking)
    return encode_chat(tokenizer, name, user, system, thinking=thinking)


def _end(pool: SidePool, folder: tempfile.TemporaryDirectory[str]) -> None:
    pool.close()
    atexit.unregister(pool.close)
    folder.cleanup()

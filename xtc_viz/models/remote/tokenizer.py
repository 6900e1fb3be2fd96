"""The tokenizer of a server's model from a folder of this machine, where the server tells none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.load import Progress
from xtc_viz.models.tokentable import TokenTable

SAMPLES = (
    "Once upon a time, there was a girl named Lily.",
    "Zoë has 3 🐈\n\n“Really?”  ",
    "def f(x):\n\treturn {'a': x ** 2}  # 3.14, naïve",
    "Le cœur a ses raisons; 我们走吧, пойдём.",
)
"""Texts that two tokenizers hardly cut alike."""


@dataclass(frozen=True, slots=True)
class FolderTokenizer:
    """What a folder's tokenizer says: `samples` are the tokens that it makes of `SAMPLES`, `name`
    is the folder's own."""

    name: str
    table: TokenTable
    eos_ids: tuple[int, ...]
    samples: tuple[list[int], ...]


def read_folder(folder: str, progress: Progress) -> FolderTokenizer:
    """Read the tokenizer of a folder, in a process that can be ended and ends with this call.

    Raises `ModelError` with what is wrong, and `LoadStoppedError`.
    """
    # The process of its own imports transformers, and so does this module: servers that tell their
    # tokens need neither.
    from xtc_viz.models.local.apart import Apart

    path = Path(folder).expanduser()
    name = path.resolve().name
    try:
        facts = Apart(name).folder(path, SAMPLES, progress)
    except PromptError as error:
        raise ModelError(str(error)) from None
    return FolderTokenizer(name, facts.table, facts.eos_ids, facts.samples)

"""What to load: a model's name and how it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Called with words for people and the share that is done, in [0, 1], or None if unknown.
Progress = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What to load and how: `name` is a hub id or a folder.

    `device` is `auto`, `cpu`, `cuda` or `cuda:1`; `dtype` is `auto`, `float32`, `bfloat16` or
    `float16`, where auto is bfloat16 on a GPU that has it and float32 on the CPU.
    """

    name: str
    revision: str | None = None
    device: str = "auto"
    dtype: str = "auto"

    @property
    def is_folder(self) -> bool:
        return Path(self.name).is_dir()

    @property
    def short_name(self) -> str:
        """The hub id, or a folder's own name: where it lies is nobody's business in a trace."""
        return Path(self.name).resolve().name if self.is_folder else self.name


def no_progress(words: str, share: float | None) -> None:
    """Ignore how far it is."""

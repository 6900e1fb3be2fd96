"""Which model wrote a text: all that is known of it that decides what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from xtc_viz.models.base import LanguageModel


@runtime_checkable
class Fingerprinted(Protocol):
    """A model whose weights can be told from others of the same name and size."""

    def fingerprint(self) -> str:
        """Return a short text that other weights would change."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A model as it counts for the name of a cell.

    `revision` is a commit or "", `weights` a fingerprint or "" where nobody can look at them,
    `dtype` that in which they compute, `` where they are elsewhere. The device is left out: it
    changes the last bits of logits, not what is asked for.
    """

    name: str
    revision: str
    weights: str
    dtype: str
    parameters: int | None
    vocab_size: int

    @classmethod
    def of(cls, model: LanguageModel) -> Identity:
        info = model.info
        return cls(
            info.name,
            info.revision,
            model.fingerprint() if isinstance(model, Fingerprinted) else "",
            info.placement.dtype if info.placement else "",
            info.parameters,
            info.vocab_size,
        )

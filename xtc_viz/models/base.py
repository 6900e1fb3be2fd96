"""What the decoder asks of a language model, whoever runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from xtc_viz.records.modelinfo import ModelInfo

if TYPE_CHECKING:
    import torch

    from xtc_viz.sampling.distribution import PartialLogits

RowLogits: TypeAlias = "torch.Tensor | PartialLogits"
"""One row's logits, (V,), or what a model shows of them."""

Logits: TypeAlias = "torch.Tensor | Sequence[RowLogits]"
"""The logits of some rows: one tensor (rows, V), or what each row has on its own."""


class Detokenizer(Protocol):
    """Turns token ids into text as they come; the pieces add up to the whole text exactly."""

    def push(self, token_id: int) -> str:
        """Return the text that became certain with this token; may be empty (half a character)."""

    def flush(self) -> str:
        """Return what is still held back at the end, such as an incomplete character."""


class Generation(Protocol):
    """A running decode of some rows over one cache. Not for use from two threads at once.

    A row has a place in the batch, counted from 0. Rows may come and go where `accepts_rows` says
    so. A model whose generations cannot do that (its cache is more than columns of keys and
    values, say) answers False there for good: the decoder then never calls `replace` or `keep`, but
    decodes a batch to its end and starts the next one anew.
    """

    @property
    def logits(self) -> Logits:
        """Next-token logits of every row after the last call."""

    @property
    def accepts_rows(self) -> bool:
        """Whether `replace` and `keep` may be called."""

    def advance(self, token_ids: Sequence[int]) -> Logits:
        """Append one token to each row (one forward for all) and return the new `logits`.

        A row whose context is full may ride along, its logits are then meaningless. Raises
        `PromptError` once no row has room for another token.
        """

    def replace(self, places: Sequence[int], prompts: Sequence[Sequence[int]]) -> Logits:
        """Prefill one prompt for each of `places`, whose rows end, and go on with these instead.

        Returns the logits of the new rows, in this order; those of the others stay as they are.
        Raises `PromptError` as `LanguageModel.start` does, and then leaves all rows alone.
        """

    def keep(self, places: Sequence[int]) -> None:
        """Drop all rows but those in `places`, which move together in this order."""

    def close(self) -> None:
        """Free the cache. May be called more than once."""


@runtime_checkable
class CostsByRow(Protocol):
    """A generation in which a row that only rides along costs as much as any other."""

    costs_by_row: Literal[True]


class LanguageModel(Protocol):
    """A tokenizer and a causal language model."""

    @property
    def info(self) -> ModelInfo: ...

    def encode(self, text: str) -> list[int]:
        """Tokenize plain text, with the special tokens that this model wants before a text."""

    def encode_chat(self, user: str, system: str = "", *, thinking: bool = True) -> list[int]:
        """Apply the chat template to a system turn (if not empty) and a user turn.

        Without `thinking` the answer begins at once, where the template has a switch for that.
        """

    def token_text(self, token_id: int) -> str:
        """Return one token's own text; bytes that are no whole character as `<0xE2>`."""

    def detokenizer(self, prefix_ids: Sequence[int] = ()) -> Detokenizer:
        """Return a fresh detokenizer for text that follows `prefix_ids`."""

    def start(self, prompts: Sequence[Sequence[int]]) -> Generation:
        """Prefill one prompt per row. Equal prompts are prefilled once and the cache expanded.

        Raises `PromptError` for an empty prompt or one that leaves no room in the context.
        """

"""The checks that every model makes of its prompts before it spends time on them."""

from __future__ import annotations

from collections.abc import Sequence

from xtc_viz.errors import PromptError
from xtc_viz.records.modelinfo import ModelInfo


def check_prompts(prompts: Sequence[Sequence[int]], info: ModelInfo) -> list[tuple[int, ...]]:
    """Return the prompts as tuples, one per lane, or raise `PromptError`.

    Every prompt needs at least one token, ids in [0, vocab_size), and room for at least one new
    token within the context.
    """
    if not prompts:
        raise PromptError("At least one lane is needed to start, but there is no prompt.")
    checked = [tuple(int(i) for i in prompt) for prompt in prompts]
    for prompt in checked:
        if not prompt:
            raise PromptError("The prompt is empty: it needs at least one token.")
        check_room(len(prompt) + 1, info)
        low, high = min(prompt), max(prompt)
        if low < 0 or high >= info.vocab_size:
            wrong = low if low < 0 else high
            raise PromptError(
                f"Token ids must be in [0, {info.vocab_size}) for {info.name}, but one is {wrong}."
            )
    return checked


def check_room(length: int, info: ModelInfo) -> None:
    """Raise `PromptError` if `length` tokens, one of them new, exceed the context."""
    if length > info.context_length:
        raise PromptError(
            f"The text has {length - 1} tokens and needs room for at least one more, but the "
            f"context of {info.name} is {info.context_length} tokens."
        )

"""Rows one after another, against rows at once and against whole texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch

from tests.models import zoo
from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.local.steps.forward import forward_whole
from xtc_viz.models.local.steps.generation import LocalGeneration
from xtc_viz.models.local.steps.rowwise import RowwiseGeneration

KEPT = partial(RowwiseGeneration, with_cache=True)
READ_AGAIN = partial(RowwiseGeneration, with_cache=False)
NAMES = ("llama", "gemma3_text", "mamba", "recurrent_gemma", "rwkv", "minimax", "xlstm")


def whole(model: Any, text: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return forward_whole(model, torch.tensor([text]))[0, -1]


class Checked:
    """A generation whose every row is held against its whole text."""

    def __init__(self, start: Callable[..., Any], name: str, prompts: list[list[int]]) -> None:
        self.model = zoo.make(name)
        self.generation = start(self.model, zoo.info_of(name, self.model), prompts)
        self.texts = [list(prompt) for prompt in prompts]
        self.check()

    def check(self) -> None:
        expected = torch.stack([whole(self.model, text) for text in self.texts])
        got = self.generation.logits
        torch.testing.assert_close(got.softmax(-1), expected.softmax(-1), rtol=1e-4, atol=1e-6)

    def advance(self, *tokens: int) -> None:
        logits = self.generation.advance(tokens)
        assert torch.equal(logits, self.generation.logits)
        for text, token in zip(self.texts, tokens, strict=True):
            text.append(token)
        self.check()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("start", [KEPT, READ_AGAIN], ids=["kept", "read again"])
@pytest.mark.parametrize("name", NAMES)
def test_rows_come_and_go(name: str, start: Callable[..., Any]) -> None:
    batch = Checked(start, name, [[5, 6, 7, 8, 9], [5, 6], [5, 6]])  # the last two are twins
    assert batch.generation.accepts_rows
    batch.advance(10, 11, 12)
    batch.advance(13, 14, 15)
    logits = batch.generation.replace([0, 2], [[30], [31, 32]])
    batch.texts[0], batch.texts[2] = [30], [31, 32]
    assert torch.equal(logits, batch.generation.logits[[0, 2]])
    batch.check()
    batch.advance(33, 34, 35)
    batch.generation.keep([2, 1])
    batch.texts = [batch.texts[2], batch.texts[1]]
    batch.check()
    batch.advance(36, 37)


def test_it_writes_what_rows_at_once_write() -> None:
    prompts = [[3, 4, 5], [9, 8, 7, 6]]
    usual, ours = (Checked(start, "llama", prompts) for start in (LocalGeneration, KEPT))
    for step in range(10):
        usual.advance(step, step + 20)
        ours.advance(step, step + 20)
        torch.testing.assert_close(
            usual.generation.logits, ours.generation.logits, rtol=1e-4, atol=1e-4
        )


def test_prompts_and_rows_are_checked_as_everywhere() -> None:
    model = zoo.make("rwkv")
    start = partial(KEPT, model, zoo.info_of("rwkv", model))
    with pytest.raises(PromptError, match="empty"):
        start([[]])
    with pytest.raises(PromptError, match="has 96 tokens"):
        start([[5] * 96])
    generation = start([[5] * 95, [6]])
    with pytest.raises(ValueError, match="2 rows need a token each, got 1"):
        generation.advance([5])
    generation.advance([5, 6])
    generation.advance([5, 6])  # the first is full and stays as it is
    with pytest.raises(PromptError, match="has 97 tokens"):
        generation.replace([1], [[5] * 97])
    full = start([[5] * 94])
    full.advance([5])
    with pytest.raises(PromptError, match="has 96 tokens"):
        full.advance([5])


def test_a_model_without_a_cache_does_not_pretend_to_have_one() -> None:
    model = zoo.make("openai-gpt")
    with pytest.raises(ModelError, match="keeps no cache"):
        KEPT(model, zoo.info_of("openai-gpt", model), [[5, 6]])


def test_a_closed_generation_is_over() -> None:
    model = zoo.make("rwkv")
    generation = KEPT(model, zoo.info_of("rwkv", model), [[5, 6]])
    generation.close()
    generation.close()
    for use in (lambda: generation.logits, lambda: generation.advance([5]),
                lambda: generation.keep([0]), lambda: generation.replace([0], [[5]])):  # fmt: skip
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_memory_that_runs_out_is_said_in_words() -> None:
    model = zoo.make("rwkv")
    generation = KEPT(model, zoo.info_of("rwkv", model), [[5, 6]] * 2)
    model.head.register_forward_pre_hook(lambda *_: torch.empty(1 << 60, dtype=torch.uint8))
    with pytest.raises(ModelError, match="ran out of memory at 2 tokens in 2 lanes"):
        generation.advance([7, 8])

"""Rows that come and go in a running batch, against each row alone, for every architecture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from tests.models import tiny
from tests.models.tape import TapeGraphs
from xtc_viz.errors import PromptError
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps.generation import LocalGeneration
from xtc_viz.rows import Row, decode_rows
from xtc_viz.settings import SamplerSettings

pytestmark = pytest.mark.slow

Load = Callable[[str], LocalModel]
TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}

each_architecture = pytest.mark.parametrize("architecture", tiny.CONFIGS)


class Batch:
    """A generation and, beside it, each of its rows on its own."""

    def __init__(self, model: LocalModel, prompts: list[list[int]], graphs: Any = None) -> None:
        self._model = model
        self.together = LocalGeneration(model.model, model.info, prompts, graphs)
        self.alone = [model.start([prompt]) for prompt in prompts]
        self._token = 0
        self.check()

    def check(self) -> None:
        expected = torch.cat([generation.logits for generation in self.alone])
        torch.testing.assert_close(self.together.logits, expected, **TOLERANCE)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            tokens = [5 + (self._token + 7 * row) % 300 for row in range(len(self.alone))]
            self._token += 1
            self.together.advance(tokens)
            for generation, token in zip(self.alone, tokens, strict=True):
                generation.advance([token])
            self.check()

    def replace(self, places: list[int], prompts: list[list[int]]) -> None:
        logits = self.together.replace(places, prompts)
        for place, prompt in zip(places, prompts, strict=True):
            self.alone[place] = self._model.start([prompt])
        assert torch.equal(logits, self.together.logits[places])
        self.check()

    def keep(self, places: list[int]) -> None:
        self.together.keep(places)
        self.alone = [self.alone[place] for place in places]
        self.check()


def prompt(length: int) -> list[int]:
    return [5 + (length * i) % 390 for i in range(1, length + 1)]


# More than four rows go into buffers at once; windows are of 8 tokens.
@each_architecture
@pytest.mark.parametrize("rows", [3, 6])
def test_rows_that_come_and_go_equal_each_alone(architecture: str, rows: int, load: Load) -> None:
    batch = Batch(load(architecture), [prompt(3 + 2 * row) for row in range(rows)])
    batch.advance(3)
    batch.replace([1], [prompt(2)])
    batch.advance(2)
    batch.replace([0, 2], [prompt(30), prompt(4)])  # longer than all that is there
    batch.advance(2)
    batch.replace([0], [prompt(5)])  # the columns of the longest are dropped
    batch.advance(5)
    batch.keep([2, 0])
    batch.advance(3)
    batch.replace([1], [prompt(6)])
    batch.keep([1])
    batch.advance(12)


@each_architecture
def test_rows_come_and_go_in_a_decode_over_fixed_buffers(architecture: str, load: Load) -> None:
    changes: list[Callable[[Batch], None]] = [
        lambda batch: batch.replace([0], [prompt(4)]),
        lambda batch: batch.keep([1, 2]),
    ]
    for change in changes:
        graphs = TapeGraphs()
        batch = Batch(load(architecture), [prompt(n) for n in (3, 12, 5)], graphs)
        batch.advance(4)
        assert graphs.replayed == 3
        change(batch)
        batch.advance(12)
        assert graphs.replayed == 3, "from then on without a recorded step"


def test_columns_that_no_row_needs_are_dropped_and_the_buffer_does_not_grow(load: Load) -> None:
    batch = Batch(load("llama"), [prompt(3)] * 6)
    for turn in range(40):
        batch.advance(2)
        batch.replace([turn % 6], [prompt(3)])
    layer = batch.together._cache.layers[0]
    assert layer.get_seq_length() == max(batch.together._lengths) <= 3 + 2 * 6
    assert layer.keys.untyped_storage().nbytes() <= 6 * 2 * 8 * 4 * 4 * (3 + 2 * 6)


def test_a_cache_becomes_long_with_a_row_that_joins(load: Load) -> None:
    tiny_one = load("llama")
    info = replace(tiny_one.info, context_length=2048)
    batch = Batch(LocalModel(tiny_one.model, tiny_one.tokenizer, info), [prompt(4), prompt(9)])
    batch.replace([1], [prompt(550)])
    batch.advance(3)
    batch.replace([1], [prompt(7)])
    batch.advance(3)


def test_equal_prompts_that_join_are_prefilled_once(load: Load) -> None:
    model = load("llama")
    generation = model.start([prompt(3), prompt(4), prompt(5)])
    sizes = []
    hook = model.model.register_forward_pre_hook(
        lambda module, args, values: sizes.append(values["input_ids"].shape), with_kwargs=True
    )
    try:
        logits = generation.replace([0, 1, 2], [prompt(6), prompt(2), prompt(6)])
    finally:
        hook.remove()
    assert sizes == [(2, 6)]
    assert torch.equal(logits[0], logits[2])
    assert not torch.equal(logits[0], logits[1])


def test_a_prompt_that_is_refused_leaves_all_rows_alone(load: Load) -> None:
    batch = Batch(load("llama"), [prompt(3), prompt(5)])
    with pytest.raises(PromptError, match="has 96 tokens"):
        batch.together.replace([0], [[5] * 96])
    batch.advance(3)
    batch.together.close()
    for change in (lambda: batch.together.keep([0]), lambda: batch.together.replace([0], [[5]])):
        with pytest.raises(RuntimeError, match="closed"):
            change()


def test_a_cache_that_forgets_in_chunks_takes_no_rows(load: Load) -> None:
    other = load("llama")
    torch.manual_seed(1)
    sizes: dict[str, Any] = tiny.SIZES | {"layer_types": ["chunked_attention"] * 2}
    config = AutoConfig.for_model("llama4_text", vocab_size=len(other.tokenizer), **sizes)
    own = AutoModelForCausalLM.from_config(config).eval()
    info = replace(other.info, vocab_size=config.vocab_size, eos_ids=())
    model = LocalModel(own, other.tokenizer, info)
    assert not model.start([prompt(3)]).accepts_rows
    rows = [
        Row(prompt(5 + n % 3), SamplerSettings(), seed=n, max_new_tokens=3 + n) for n in range(5)
    ]
    assert written(model, rows, 2) == written(model, rows, 1)


@each_architecture
def test_a_row_writes_what_it_writes_alone(architecture: str, load: Load) -> None:
    model = load(architecture)
    rows = [
        Row(prompt(2 + 5 * n % 23), SamplerSettings(), seed=n, max_new_tokens=4 + 7 * n % 31)
        for n in range(14)
    ]
    assert written(model, rows, 6) == written(model, rows, 1)


def written(model: LocalModel, rows: list[Row], at_once: int) -> list[list[int]]:
    texts: list[list[int]] = [[] for _ in rows]
    for steps, _ in decode_rows(model, rows, at_once=at_once):
        for row, step, _, error in steps:
            assert step, error
            texts[row].append(step.token)
    return texts

"""Local models against transformers itself, for every architecture of the catalog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.models import tiny
from tests.models.dense import dense
from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.local.model import LocalModel, describe
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.records.modelinfo import Placement

pytestmark = pytest.mark.slow

Load = Callable[[str], LocalModel]
TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}

each_architecture = pytest.mark.parametrize("architecture", tiny.CONFIGS)


def greedy(model: LanguageModel, prompts: list[list[int]], steps: int) -> list[list[int]]:
    """Write `steps` greedy tokens after each prompt."""
    generation = model.start(prompts)
    written = [dense(generation.logits).argmax(-1).tolist()]
    for _ in range(steps - 1):
        written.append(dense(generation.advance(written[-1])).argmax(-1).tolist())
    generation.close()
    return [list(lane) for lane in zip(*written, strict=True)]


@each_architecture
def test_first_step_is_a_plain_forward(architecture: str, load: Load) -> None:
    model = load(architecture)
    ids = model.encode("Once upon a time 🐉")
    with torch.inference_mode():
        plain = model.model(torch.tensor([ids])).logits[0, -1]
    torch.testing.assert_close(model.start([ids]).logits, plain[None], **TOLERANCE)


@each_architecture
def test_two_greedy_lanes_write_what_generate_writes(architecture: str, load: Load) -> None:
    model = load(architecture)
    ids = model.encode("Lily saw a big bear")
    reference = model.model.generate(
        torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        do_sample=False,
        max_new_tokens=40,
        eos_token_id=[],
    )[0, len(ids) :].tolist()
    assert len(reference) == 40
    assert len(set(reference)) > 3, "a model that repeats itself tests nothing"
    assert greedy(model, [ids, ids], 40) == [reference, reference]


@each_architecture
def test_lanes_that_part_equal_each_alone(architecture: str, load: Load) -> None:
    model = load(architecture)
    ids = model.encode("The old dragon")
    lanes = [[7, 30, 31, 32], [40, 9, 41, 42]]
    together = model.start([ids, ids])
    alone = [model.start([ids]), model.start([ids])]
    for tokens in zip(*lanes, strict=True):
        both = together.advance(tokens)
        single = [g.advance([t]) for g, t in zip(alone, tokens, strict=True)]
        torch.testing.assert_close(both, torch.cat(single), **TOLERANCE)


@each_architecture
def test_prompts_of_different_lengths_equal_each_alone(architecture: str, load: Load) -> None:
    model = load(architecture)
    prompts = [model.encode(t) for t in ("Tom", "Tom and Lily saw a big bear in the", "Once")]
    assert len({len(p) for p in prompts}) > 1
    together = model.start(prompts)
    alone = [model.start([p]) for p in prompts]
    torch.testing.assert_close(together.logits, torch.cat([g.logits for g in alone]), **TOLERANCE)
    for tokens in ([10, 11, 12], [30, 31, 32], [20, 20, 20]):
        both = together.advance(tokens)
        single = [g.advance([t]) for g, t in zip(alone, tokens, strict=True)]
        torch.testing.assert_close(both, torch.cat(single), **TOLERANCE)


@each_architecture
def test_a_prompt_continues_where_the_cache_would(architecture: str, load: Load) -> None:
    """What branching relies on: prompt + written tokens, prefilled anew, is the same lane."""
    model = load(architecture)
    ids = model.encode("Once upon a time")
    generation = model.start([ids])
    for token in range(20, 40):
        generation.advance([token])
    again = model.start([[*ids, *range(20, 40)]])
    torch.testing.assert_close(generation.logits, again.logits, **TOLERANCE)


def test_a_lane_is_the_same_when_its_cache_grows(load: Load) -> None:
    model = load("llama")
    ids = [5, 6, 7, 8]
    more = [[9 + i, 30 + i] for i in range(20)]
    generation = model.start([ids, ids])
    for tokens in more:
        generation.advance(tokens)
    for lane in range(2):
        again = model.start([[*ids, *(tokens[lane] for tokens in more)]])
        torch.testing.assert_close(generation.logits[lane : lane + 1], again.logits, **TOLERANCE)


@each_architecture
def test_info(architecture: str, load: Load) -> None:
    model = load(architecture)
    info = model.info
    assert info.name == f"tiny-{architecture}"
    assert info.eos_ids == tuple(
        map(model.tokenizer.convert_tokens_to_ids, (tiny.EOS, tiny.TURN_END))
    )
    assert info.vocab_size == model.start([[5]]).logits.shape[1] == len(model.tokenizer) + 5
    assert info.context_length == 96
    assert (info.placement, info.has_chat_template) == (Placement("float32", "cpu"), True)
    texts = {model.token_text(i) for i in info.newline_ids}
    assert texts == {t for i in range(info.vocab_size) if "\n" in (t := model.token_text(i))}
    assert "\n" in texts


@each_architecture
def test_chat_template_and_what_a_user_types(architecture: str, load: Load) -> None:
    model = load(architecture)
    ids = model.encode_chat("Hello </s><|turn_end|> dragon", "Be kind")
    turn_end = model.tokenizer.convert_tokens_to_ids(tiny.TURN_END)
    assert ids.count(turn_end) == 2, "typed control tokens are text"
    assert model.tokenizer.eos_token_id not in ids
    # Llama 2's tokenizer puts a space before every part of a text.
    shown = "".join(map(model.token_text, ids)).strip().replace("> <|", "><|")
    assert shown == (
        "<|system|>Be kind<|turn_end|>"
        "<|user|>Hello </s><|turn_end|> dragon<|turn_end|><|assistant|>"
    )
    assert "system" not in model.tokenizer.decode(model.encode_chat("Hello"))


def test_without_a_chat_template_the_message_says_what_to_do(load: Load) -> None:
    model = load("gpt2")
    plain = LocalModel(model.model, tiny.fast_tokenizer("bytelevel"), model.info)
    plain.tokenizer.chat_template = None
    info = describe(plain.model, plain.tokenizer, LocalSpec("plain"), Path("0123abcd"))
    assert not info.has_chat_template
    assert info.revision == "0123abcd"
    with pytest.raises(PromptError, match="plain has no chat template"):
        LocalModel(plain.model, plain.tokenizer, info).encode_chat("Hello")


def test_prompts_without_room_are_refused_with_the_numbers(load: Load) -> None:
    model = load("llama")
    with pytest.raises(PromptError, match=r"has 96 tokens .* tiny-llama is 96 tokens"):
        model.start([[5] * 96])
    with pytest.raises(PromptError, match="empty"):
        model.start([[5], []])
    generation = model.start([[5] * 94])
    generation.advance([5])
    with pytest.raises(PromptError, match="has 96 tokens"):
        generation.advance([5])


@each_architecture
def test_a_lane_that_is_full_rides_along(architecture: str, load: Load) -> None:
    model = load(architecture)
    short = [5, 6, 7]
    together, alone = model.start([[5] * 94, short]), model.start([short])
    for token in range(10, 30):
        both, single = together.advance([5, token]), alone.advance([token])
        torch.testing.assert_close(both[1:], single, **TOLERANCE)


def test_a_closed_generation_holds_no_cache(load: Load) -> None:
    generation = load("llama").start([[5, 6]])
    generation.close()
    generation.close()
    with pytest.raises(RuntimeError, match="closed"):
        generation.advance([5])


def test_logits_of_a_step_are_not_overwritten_by_the_next(load: Load) -> None:
    generation = load("llama").start([[5, 6]])
    first = generation.logits
    copy = first.clone()
    second = generation.advance([7])
    assert torch.equal(first, copy)
    assert generation.logits is second


def test_out_of_memory_within_a_decode_is_said_in_words(load: Load) -> None:
    generation = load("llama").start([[5, 6]] * 2)

    def fail(*args: object) -> None:
        torch.empty(1 << 60, dtype=torch.uint8)

    hook = load("llama").model.lm_head.register_forward_pre_hook(fail)
    try:
        with pytest.raises(ModelError, match="ran out of memory at 3 tokens in 2 lanes"):
            generation.advance([7, 8])
    finally:
        hook.remove()


def test_inference_mode_does_not_leak(load: Load) -> None:
    generation = load("llama").start([[5, 6]])
    generation.advance([7])
    assert not torch.is_inference_mode_enabled()


def test_the_thought_is_left_out_where_the_template_knows_how(load: Load) -> None:
    switch = "{% if enable_thinking is defined and not enable_thinking %}"
    tokenizer = tiny.fast_tokenizer("bytelevel")
    tokenizer.chat_template = f"{tiny.CHAT}{switch}<think>\n\n</think>\n\n{{% endif %}}"
    plain = load("qwen3")
    info = describe(plain.model, tokenizer, LocalSpec("thinker"), Path("0123abcd"))
    assert info.has_thinking_switch
    assert not plain.info.has_thinking_switch
    model = LocalModel(plain.model, tokenizer, info)
    said, silent = (model.encode_chat("Hello", thinking=yes) for yes in (True, False))
    assert silent[: len(said)] == said
    assert tokenizer.decode(silent[len(said) :]) == "<think>\n\n</think>\n\n"
    assert plain.encode_chat("Hello", thinking=False) == plain.encode_chat("Hello")

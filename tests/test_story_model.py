"""The embedded story model as it is shipped: whole, small, loadable, and as good as it was."""

from __future__ import annotations

import copy
import json
import math
import warnings
from time import process_time
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from xtc_viz.assets import STORY_MODEL, asset

MEGABYTE = 1_000_000

pytestmark = pytest.mark.story_model

# Written for this test in the manner of the training stories; not a line of them.
STORIES = [
    "Once upon a time, there was a little girl named Nora. She had a green kite that she loved "
    "very much. One windy day, the kite flew up into a tall tree. Nora was sad and started to "
    'cry. A big bird came and said, "Do not cry. I can help you." The bird took the kite in its '
    'beak and gave it back to Nora. "Thank you!" said Nora. She was very happy, and they became '
    "good friends.",
    "Ben and his sister Lily went to the park with their mom. They saw a small dog near the "
    'pond. The dog was wet and cold. "Can we take him home?" asked Ben. Mom looked at the dog '
    'and smiled. "Yes, but we have to find out who he belongs to," she said. They gave the dog '
    "some food and a warm blanket. The next day, an old man came to the door. He was so happy to "
    "see his dog again.",
    "One day, a boy named Sam found a shiny stone in the garden. He showed it to his friend Mia. "
    '"It is so pretty!" she said. "Can I have it?" Sam did not want to share. Mia felt sad and '
    "went home. Sam sat alone and thought about his friend. Then he ran to her house and said, "
    '"I am sorry. We can share the stone." Mia gave him a big hug.',
    "There was once a frog who lived in a pond. Every day he would jump from one leaf to another "
    'and sing a happy song. One morning, a fish asked him, "Why do you sing all the time?" The '
    'frog said, "Because the sun is warm and I have many friends." The fish wanted to sing too, '
    "so the frog showed her how. From that day on, they sang together.",
]
# What the shipped weights reach on these, and what any export of them must reach again.
BITS_PER_BYTE = 0.697
MARGIN = 0.012  # under what the loss of the least important layer costs, 0.039


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(STORY_MODEL)


@pytest.fixture(scope="module")
def model():
    return AutoModelForCausalLM.from_pretrained(STORY_MODEL, dtype=torch.float32).eval()


def bits_per_byte(model, tokenizer) -> float:
    """Of the stories above, each with its end, which is predicted too but counts no bytes."""
    nats = 0.0
    for story in STORIES:
        ids = torch.tensor([[0, *tokenizer.encode(story), 0]])
        with torch.inference_mode():
            logits = model(ids[:, :-1]).logits[0]
        nats += torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="sum").item()
    return nats / math.log(2) / sum(len(story.encode()) for story in STORIES)


def test_the_folder_is_small_enough_for_a_plain_push() -> None:
    sizes = {path.name: path.stat().st_size for path in STORY_MODEL.rglob("*") if path.is_file()}
    assert {"config.json", "generation_config.json", "tokenizer.json", "README.md"} <= set(sizes)
    assert max(sizes.values()) < 10 * MEGABYTE
    assert sum(sizes.values()) <= 25 * MEGABYTE


def test_it_loads_fast_and_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = math.inf
        for _ in range(2):  # the first call also pays for imports; other processes cost neither
            begin = process_time()
            pair: Any = AutoModelForCausalLM.from_pretrained(STORY_MODEL, output_loading_info=True)
            AutoTokenizer.from_pretrained(STORY_MODEL)
            best = min(best, process_time() - begin)
    loaded, info = pair
    assert not any(info.values())
    assert loaded.dtype == torch.bfloat16
    assert best < 1
    printed = capfd.readouterr()
    assert "warn" not in (printed.out + printed.err).lower()


def test_end_of_sequence_is_set_everywhere(model, tokenizer) -> None:
    assert tokenizer.eos_token == "<|endoftext|>"
    assert tokenizer.eos_token_id == model.config.eos_token_id == 0
    assert model.generation_config.eos_token_id == 0
    assert model.config.vocab_size == len(tokenizer)
    assert tokenizer.encode("Once upon a time")[0] != 0


def test_the_tokenizer_gives_back_any_text(tokenizer) -> None:
    for text in [*STORIES, "Zoë has 3 🐈\n\n“Really?”  "]:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_it_is_as_good_as_stated(model, tokenizer) -> None:
    assert bits_per_byte(model, tokenizer) < BITS_PER_BYTE + MARGIN


def test_it_is_as_good_in_bfloat16(model, tokenizer) -> None:
    half = copy.deepcopy(model).to(torch.bfloat16)
    assert bits_per_byte(half, tokenizer) < BITS_PER_BYTE + MARGIN


def test_a_damaged_layer_would_be_noticed(model, tokenizer) -> None:
    for number in range(model.config.num_hidden_layers):
        damaged = copy.deepcopy(model)
        for parameter in damaged.model.layers[number].parameters():
            torch.nn.init.zeros_(parameter)
        assert bits_per_byte(damaged, tokenizer) > BITS_PER_BYTE + MARGIN, number


def test_a_single_damaged_matrix_would_be_noticed(model, tokenizer) -> None:
    damaged = copy.deepcopy(model)
    torch.nn.init.zeros_(damaged.model.layers[-1].self_attn.o_proj.weight)
    assert bits_per_byte(damaged, tokenizer) > BITS_PER_BYTE + MARGIN


def test_it_ends_its_stories_by_itself(model, tokenizer) -> None:
    ids = torch.tensor([tokenizer.encode("Once upon a time")]).repeat(8, 1)
    torch.manual_seed(1)
    written = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=True, max_new_tokens=500
    )
    ended = (written[:, ids.shape[1] :] == 0).any(dim=1)
    assert int(ended.sum()) >= 7


def test_it_ends_where_a_story_is_over(model, tokenizer) -> None:
    text = STORIES[0]
    with torch.inference_mode():
        logits = model(torch.tensor([tokenizer.encode(text)])).logits[0]
    p_end = torch.softmax(logits, dim=-1)[:, 0]
    assert p_end[-1] > 0.05
    assert p_end[: len(p_end) // 2].max() < 0.01


def test_the_prompts_are_short_openings_of_many_genres(tokenizer) -> None:
    prompts = json.loads(asset("prompts.json").read_text(encoding="utf-8"))
    assert len(prompts) == 24
    assert len({prompt["genre"] for prompt in prompts}) == 12
    assert prompts[0]["text"] == "Once upon a time"
    assert all(4 <= len(prompt["text"].split()) <= 25 for prompt in prompts)
    assert all(tokenizer.decode(tokenizer.encode(p["text"])) == p["text"] for p in prompts)

"""Every architecture of transformers, held to what docs/models.md says of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from tests.models import trial, zoo
from xtc_viz.models.local.steps.proof import NO_CACHE, ONE_BY_ONE, USUAL, prove

# One of each kind: all tokens, windows, chunks, an index, states of several kinds, both in one
# layer, states within modules, a cache of its own, none, positions that count padding, no end.
FEW = (
    "llama", "gemma3_text", "llama4_text", "mamba", "mamba2", "jamba", "falcon_h1", "lfm2",
    "recurrent_gemma", "rwkv", "openai-gpt", "roberta", "roformer", "xlnet",
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models are slower with more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_the_page_names_all_that_transformers_lists() -> None:
    assert set(trial.table()) == set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def test_what_is_left_out_says_why() -> None:
    words = trial.table()
    assert {n for n, said in words.items() if said.startswith("not tried")} == set(zoo.LEFT_OUT)
    assert all(words[name] == f"not tried: {why}" for name, why in zoo.LEFT_OUT.items())


@pytest.mark.parametrize("name", FEW)
def test_it_is_as_the_page_says(name: str) -> None:
    assert trial.outcome(name) == trial.table()[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.NAMES if name not in FEW])
def test_the_others_are_too(name: str) -> None:
    assert trial.outcome(name) == trial.table()[name]


@pytest.mark.parametrize(
    ("name", "way"),
    [("jamba", USUAL), ("recurrent_gemma", ONE_BY_ONE), ("rwkv", ONE_BY_ONE),
     ("openai-gpt", NO_CACHE), ("roberta", NO_CACHE)],
)  # fmt: skip
def test_narrower_numbers_are_decoded_the_same_way(name: str, way: object) -> None:
    """Where rounding hides more, a way that is wrong is still told from one that is right."""
    model = zoo.make(name).to(torch.bfloat16)
    assert prove(model, zoo.info_of(name, model), ()) is way


def test_a_wrong_way_would_be_noticed() -> None:
    """The measure that all of this stands on."""
    tokens = trial.load("recurrent_gemma")
    tokens.way = USUAL
    assert trial.error_of(tokens) > 1e-3

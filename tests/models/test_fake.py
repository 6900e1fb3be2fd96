"""The fake: the protocol, its determinism, and that its texts are as nasty as promised."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.models.dense import dense
from xtc_viz.errors import PromptError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import END, FIRST_BYTE, HOSTILE, FakeModel


def text_of(model: LanguageModel, ids: list[int], prefix: list[int] | None = None) -> str:
    detokenizer = model.detokenizer(prefix or [])
    return "".join(map(detokenizer.push, ids)) + detokenizer.flush()


def sample(model: FakeModel, prompt: str, steps: int) -> list[int]:
    """Draw `steps` tokens after `prompt` with a seeded generator."""
    generation = model.start([model.encode(prompt)])
    generator = torch.Generator().manual_seed(1)
    ids = []
    for _ in range(steps):
        probs = dense(generation.logits)[0].softmax(-1)
        ids.append(int(torch.multinomial(probs, 1, generator=generator)))
        generation.advance(ids[-1:])
    generation.close()
    return ids


def test_worked_example() -> None:
    model: LanguageModel = FakeModel()
    ids = model.encode("Once upon a time 🐉")
    assert [model.token_text(i) for i in ids] == [
        *("Once", " upon", " a", " time", " "),
        *("<0xF0>", "<0x9F>", "<0x90>", "<0x89>"),
    ]
    detokenizer = model.detokenizer()
    pieces = [detokenizer.push(i) for i in ids]
    assert pieces == ["Once", " upon", " a", " time", " ", "", "", "", "🐉"]


def test_end_of_sequence_is_readable_alone_and_absent_from_text() -> None:
    model = FakeModel()
    assert model.info.eos_ids == (END,)
    assert model.token_text(END) == "<|end|>"
    assert text_of(model, [*model.encode("a tree"), END]) == "a tree"


def test_newline_ids_are_those_whose_text_holds_one() -> None:
    info = FakeModel().info
    texts = {FakeModel().token_text(i) for i in info.newline_ids}
    assert texts == {"\n", "\n\n"}


@given(st.text(max_size=40))
def test_encoding_and_decoding_give_the_text_back(text: str) -> None:
    model = FakeModel()
    assert text_of(model, model.encode(text)) == text.encode(errors="replace").decode()


@given(st.lists(st.integers(0, FakeModel().info.vocab_size - 1), max_size=30), st.data())
def test_pieces_after_a_prefix_continue_its_text(ids: list[int], data: st.DataObject) -> None:
    model = FakeModel()
    cut = data.draw(st.integers(0, len(ids)))
    before = model.detokenizer()
    first = "".join(map(before.push, ids[:cut]))
    assert first + text_of(model, ids[cut:], ids[:cut]) == text_of(model, ids)


def test_lanes_are_independent_and_deterministic() -> None:
    model = FakeModel(seed=3)
    prompts = [model.encode("Once upon"), model.encode("a big dragon")]
    both = model.start(prompts)
    alone = [model.start([prompt]) for prompt in prompts]
    for tokens in ([70, 80], [300, 301], [FIRST_BYTE + 0xF0, 299]):
        assert torch.equal(dense(both.logits), torch.cat([dense(g.logits) for g in alone]))
        both.advance(tokens)
        for g, token in zip(alone, tokens, strict=True):
            g.advance([token])
    assert torch.equal(dense(both.logits), torch.cat([dense(g.logits) for g in alone]))
    assert not torch.equal(dense(both.logits), dense(FakeModel(seed=4).start(prompts).logits))


def test_heads_are_ambiguous_often_and_the_end_is_rare_but_real() -> None:
    model = FakeModel()
    rows = torch.stack(
        [model.logits((a, b)) for a, b in itertools.product(range(260, 290, 3), range(260, 300))]
    )
    probs = rows.softmax(-1)
    eligible = (probs >= 0.1).sum(-1)
    assert 0.4 < float((eligible >= 2).float().mean()) < 0.95
    assert 1e-4 < float(probs[:, END].mean()) < 1e-2


def test_it_writes_hostile_texts_and_split_characters() -> None:
    model = FakeModel()
    ids = sample(model, "Once", 600)
    text = text_of(model, ids)
    assert all(hostile in text for hostile in HOSTILE)
    assert "🐉" in text
    assert "\n" in text


def test_given_logits_see_the_whole_lane() -> None:
    seen = []

    def logits(ids: tuple[int, ...]) -> Any:
        seen.append(ids)
        return np.eye(FakeModel().info.vocab_size)[len(ids)]

    generation = FakeModel(logits=logits).start([[5, 6]])
    assert int(dense(generation.logits).argmax()) == 2
    assert int(dense(generation.advance([9])).argmax()) == 3
    assert seen == [(5, 6), (5, 6, 9)]


def test_a_padded_vocabulary_has_names_too() -> None:
    model = FakeModel(vocab_size=1000)
    assert dense(model.start([[5]]).logits).shape == (1, 1000)
    assert model.token_text(999) == "<unused 999>"
    assert text_of(model, [999]) == ""


def test_close_counts_once() -> None:
    model = FakeModel()
    generation = model.start([[5]])
    assert model.open_generations == 1
    generation.close()
    generation.close()
    assert model.open_generations == 0
    with pytest.raises(RuntimeError, match="closed"):
        generation.advance([5])


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        ([], "no prompt"),
        ([[]], "empty"),
        ([[5] * 8], "has 8 tokens.* context of fake is 8"),
        ([[5, 100_000]], r"must be in \[0, \d+\) for fake, but one is 100000"),
        ([[-1]], "but one is -1"),
    ],
)
def test_bad_prompts_are_refused(prompts: list[list[int]], message: str) -> None:
    with pytest.raises(PromptError, match=message):
        FakeModel(context_length=8).start(prompts)


def test_the_context_ends() -> None:
    generation = FakeModel(context_length=8).start([[5] * 6])
    generation.advance([5])
    with pytest.raises(PromptError, match="has 8 tokens"):
        generation.advance([5])

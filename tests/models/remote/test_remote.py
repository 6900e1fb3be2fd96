"""The story model in a real llama.cpp server against the same model in this process."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.models.remote.llama import ANSWERS
from xtc_viz.errors import PromptError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.remote.model import FACTOR, FIRST, STANDING, RemoteModel
from xtc_viz.sampling.distribution import PartialLogits

pytestmark = [pytest.mark.engines, pytest.mark.slow]

STORY = "Once upon a time, there was a girl named Lily. She had a red ball. One day,"


def log_probs(model: LocalModel, ids: list[int]) -> torch.Tensor:
    generation = model.start([ids])
    logits = generation.logits
    generation.close()
    assert isinstance(logits, torch.Tensor)
    return logits[0].float().log_softmax(-1)


def whole(known: PartialLogits) -> PartialLogits:
    while known.wider:
        known = known.wider()
    return known


def test_it_says_what_it_is(remote: RemoteModel, local: LocalModel) -> None:
    model: LanguageModel = remote
    info, home = model.info, local.info
    assert (info.name, info.served and info.served.kind) == ("story.gguf", "llama.cpp")
    assert info.placement is None
    for name in ("vocab_size", "eos_ids", "newline_ids", "parameters"):
        assert getattr(info, name) == getattr(home, name), name
    assert 0 < info.context_length <= home.context_length


@pytest.mark.parametrize(
    "text", ["Once upon a time", "Zoë has 3 🐈\n\n“Really?”  ", "a<|endoftext|>b", "", "<b>${1}"]
)
def test_texts_become_the_same_tokens(remote: RemoteModel, local: LocalModel, text: str) -> None:
    assert remote.encode(text) == local.encode(text)


def test_tokens_have_the_same_texts(remote: RemoteModel, local: LocalModel) -> None:
    ids = range(local.info.vocab_size)
    assert [remote.token_text(i) for i in ids] == [local.token_text(i) for i in ids]


def test_a_split_character_comes_when_it_is_whole(remote: RemoteModel, local: LocalModel) -> None:
    ids = local.encode("Zoë 🐈 猫")
    for model in (remote, local):
        detokenizer = model.detokenizer(ids[:2])
        pieces = [detokenizer.push(i) for i in ids[2:]]
        assert [*pieces, detokenizer.flush()] == [*_pieces(local, ids), ""]


def _pieces(model: LocalModel, ids: list[int]) -> list[str]:
    detokenizer = model.detokenizer(ids[:2])
    return [detokenizer.push(i) for i in ids[2:]]


def test_its_logits_are_those_of_this_process(remote: RemoteModel, local: LocalModel) -> None:
    ids = local.encode(STORY)
    for length in range(1, len(ids), 3):
        generation = remote.start([ids[:length]])
        known = whole(generation.logits[0])
        generation.close()
        assert known.outside == 0.0
        here = log_probs(local, ids[:length])[torch.from_numpy(known.ids)].numpy()
        likely = known.log_probs > -20
        np.testing.assert_allclose(known.log_probs[likely], here[likely], atol=ANSWERS)


def test_it_begins_with_few_candidates(remote: RemoteModel) -> None:
    generation = remote.start([remote.encode(STORY)])
    known = generation.logits[0]
    assert len(known.ids) == FIRST
    assert known.outside == pytest.approx(1 - math.fsum(np.exp(known.log_probs.astype("f8"))))
    assert known.wider
    wider = known.wider()
    assert len(wider.ids) == FIRST * FACTOR
    assert list(wider.ids[:FIRST]) == list(known.ids)
    # A row that needs more again and again is shown more at once, within bounds.
    counts = []
    for _ in range(30):
        [known] = generation.advance([int(known.ids[0])])
        counts.append(len(known.ids))
        if known.wider:
            known = known.wider()
    assert counts[0] == FIRST
    assert counts[-1] == STANDING
    assert counts == sorted(counts)


def test_rows_alike_are_asked_for_once_and_stay_alike(remote: RemoteModel) -> None:
    ids = remote.encode(STORY)
    generation = remote.start([ids, ids, ids[:-1]])
    one, two, other = generation.logits
    np.testing.assert_array_equal(one.log_probs, two.log_probs)
    assert list(one.ids) == list(two.ids) != list(other.ids)
    generation.keep([2, 0])
    assert len(generation.logits) == 2
    replaced = generation.replace([0], [ids])
    np.testing.assert_allclose(replaced[0].log_probs, one.log_probs, atol=1e-5)


def test_a_prompt_without_room_is_refused(remote: RemoteModel) -> None:
    with pytest.raises(PromptError, match=r"context of story\.gguf"):
        remote.start([[5] * remote.info.context_length])
    with pytest.raises(PromptError, match="no chat template"):
        remote.encode_chat("hello")

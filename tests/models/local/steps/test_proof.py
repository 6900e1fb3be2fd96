"""The proof at load: a way that is wrong is not taken, and a model without any is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, RwkvConfig

from tests.models import tiny, zoo
from tests.models.tape import TapeGraphs
from xtc_viz.errors import ModelError
from xtc_viz.models.local import zerogpu
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps import proof
from xtc_viz.models.local.steps.generation import LocalGeneration
from xtc_viz.models.local.steps.proof import NO_CACHE, ONE_BY_ONE, SMALL, USUAL, prove
from xtc_viz.models.local.steps.rowwise import RowwiseGeneration


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def proved(name: str, model: Any = None, ids: Any = (), **values: Any) -> proof.Way:
    model = model or zoo.make(name)
    return prove(model, replace(zoo.info_of(name, model), **values), ids)


def test_the_usual_way_is_taken_where_it_is_right() -> None:
    assert proved("llama") is USUAL
    assert proved("llama", ids=range(60)) is USUAL
    assert proved("llama", ids=[5] * 50) is USUAL, "a tokenizer that knows one word"
    assert proved("llama", ids=[10**6, -1]) is USUAL, "ids that the model does not have"


def test_a_cache_that_is_not_handed_on_is_noticed() -> None:
    """As several models lost theirs, without a word."""
    model = zoo.make("llama")
    forward = model.model.forward

    def forgetful(*args: Any, past_key_values: Any = None, **kwargs: Any) -> Any:
        return forward(*args, past_key_values=None, **kwargs)

    model.model.forward = forgetful
    assert proved("llama", model) is NO_CACHE


def test_a_large_model_whose_steps_are_wrong_is_refused() -> None:
    with pytest.raises(ModelError, match=r"^openai-gpt cannot be decoded step by step: .* keeps "
                       r"no cache\. .* too much for 0\.6 billion parameters\.$"):  # fmt: skip
        proved("openai-gpt", parameters=SMALL + 10**8)
    assert proved("openai-gpt", parameters=SMALL) is NO_CACHE


def test_a_model_that_looks_behind_a_token_is_refused() -> None:
    with pytest.raises(ModelError, match="xlnet is no model that writes token by token"):
        proved("xlnet")


def test_a_model_that_cannot_run_a_text_is_refused_with_its_own_words() -> None:
    model = zoo.make("llama")

    def refuse(*args: Any) -> None:
        raise ValueError("I need a picture.\nAnd more.")

    model.model.register_forward_pre_hook(refuse)
    with pytest.raises(ModelError, match=r"^llama cannot write on after a text: I need a picture$"):
        proved("llama", model)


def test_numbers_that_are_none_are_refused() -> None:
    model = zoo.make("llama")
    with torch.no_grad():
        model.lm_head.weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="gives no numbers in float32"):
        proved("llama", model)


def test_a_config_that_names_another_vocabulary_is_refused() -> None:
    with pytest.raises(ModelError, match=r"gives 64 probabilities .* a vocabulary of 65"):
        proved("llama", vocab_size=65)


def test_memory_that_runs_out_ends_the_trials() -> None:
    model = zoo.make("llama")
    calls = []

    def fail(*args: Any) -> None:
        calls.append(1)
        if len(calls) > 1:
            torch.empty(1 << 60, dtype=torch.uint8)

    model.lm_head.register_forward_pre_hook(fail)
    with pytest.raises(ModelError, match="llama leaves no memory to decode with"):
        proved("llama", model)
    assert len(calls) == 2


def test_recorded_steps_are_proved_too_and_left_out_where_they_are_wrong() -> None:
    class WrongGraphs(TapeGraphs):
        def warm_up(self, step: Any) -> torch.Tensor:
            return super().warm_up(step) + torch.arange(zoo.VOCABULARY)

    model = zoo.make("llama")
    info = zoo.info_of("llama", model)
    right = prove(model, info, (), TapeGraphs())
    assert right is not USUAL
    assert right.words == ""
    assert prove(model, info, (), WrongGraphs()) is USUAL


def test_each_way_is_announced() -> None:
    words = []
    model = zoo.make("rwkv")
    prove(model, zoo.info_of("rwkv", model), (), progress=lambda said, _: words.append(said))
    assert words == ["trying how rwkv is decoded"] * 2


@pytest.mark.parametrize(
    ("errors", "taken"),
    [((0.04, 0.0, 0.0), USUAL), ((0.2, 0.15, 0.12), USUAL), ((0.2, 0.06, 0.1), ONE_BY_ONE),
     ((0.5, 0.2, 0.25), ONE_BY_ONE), ((0.5, 0.4, 0.25), NO_CACHE), ((0.5, 0.5, 0.01), NO_CACHE)],
)  # fmt: skip
def test_what_rounding_hides_is_judged_by_the_other_ways(
    errors: tuple[float, ...], taken: proof.Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(errors)
    monkeypatch.setattr(proof, "_error", lambda *_: next(left))
    assert proved("llama", zoo.make("llama").to(torch.bfloat16)) is taken


def test_the_error_leaves_out_what_no_probability_shows() -> None:
    expected = torch.tensor([[1.0, 2.0, 3.0, -torch.inf], [0.0, 0.0, 4.0, 0.0]])
    assert proof._error(expected + 7, expected) < 1e-6
    assert proof._error(-expected, expected) == pytest.approx(2.0)
    assert proof._error(expected * torch.nan, expected) > 1e9


def test_a_text_repeats_nothing_that_it_can_help() -> None:
    texts = proof._texts(range(5, 40), zoo.info_of("x", zoo.make("llama")))
    assert [len(text) for text in texts] == [8, 6, 3]
    assert len({token for text in texts for token in text}) == 17


@pytest.mark.slow
def test_a_folder_says_how_it_is_decoded(tmp_path: Path) -> None:
    tokenizer = tiny.fast_tokenizer("bytelevel")
    config = RwkvConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, context_length=96,
        bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = LocalModel.load(str(tmp_path))
    assert model.info.placement
    assert model.info.placement.decoding == "one lane after another"
    assert isinstance(model.start([[5, 6]]), RowwiseGeneration)


@pytest.mark.slow
def test_where_the_gpu_is_lent_for_a_decode_it_is_proved_there(
    tiny_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_folder("llama")
    monkeypatch.setattr(zerogpu, "here", lambda *_: True)
    model = LocalModel.load(str(folder))
    proofs = iter([proof.USUAL])
    monkeypatch.setattr("xtc_viz.models.local.model.prove", lambda *_: next(proofs))
    assert isinstance(model.start([[5, 6]]), LocalGeneration)
    assert not list(proofs)

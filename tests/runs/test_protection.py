"""Protected tokens by model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import tiny
from xtc_viz.errors import SettingsError
from xtc_viz.models.fake import END, FakeModel
from xtc_viz.models.local.model import LocalModel
from xtc_viz.runs.protection import Newlines, protected_ids, text_tokens


def test_by_hand() -> None:
    model = FakeModel()
    newline, two = model.encode("\n")[0], model.encode("\n\n")[0]
    byte = next(i for i in model.info.newline_ids if i not in (newline, two))
    assert model.token_text(byte) == "\n", "the newline as a byte"
    assert protected_ids(model) == {END, newline, two, byte}
    assert protected_ids(model, Newlines.TOKEN) == {END, newline, byte}
    assert protected_ids(model, "none", [5, 6]) == {END, 5, 6}
    assert protected_ids(model, "none", eos=False) == set()


@pytest.mark.parametrize("architecture", tiny.CONFIGS)
def test_all_ends_and_all_newlines(architecture: str, load: Callable[[str], LocalModel]) -> None:
    model = load(architecture)
    ids = protected_ids(model)
    assert len(model.info.eos_ids) == 2
    assert set(model.info.eos_ids) <= ids
    texts = {model.token_text(i) for i in ids - set(model.info.eos_ids)}
    assert texts
    assert all("\n" in text for text in texts)
    alone = protected_ids(model, "token", eos=False)
    assert alone
    assert {model.token_text(i) for i in alone} == {"\n"}


def test_what_is_no_choice_or_no_token_is_refused() -> None:
    model = FakeModel()
    with pytest.raises(SettingsError, match=r"`newlines` must be one of token, all, none"):
        protected_ids(model, "some")
    for token in (-1, model.info.vocab_size):
        with pytest.raises(SettingsError, match=rf"token ids in \[0, .*\), but is {token}"):
            protected_ids(model, extra=[token])


@pytest.mark.parametrize("architecture", tiny.CONFIGS)
def test_a_text_becomes_the_tokens_that_it_has_within_another(
    architecture: str, load: Callable[[str], LocalModel]
) -> None:
    """Also where the tokenizer puts a space before a text that stands alone."""
    model = load(architecture)
    for text in (" Lily", "Lily", " dragon", "🐉", "\n", "\n\n", ".\n", " "):
        ids = text_tokens(model, text)
        assert not set(ids) & set(model.tokenizer.all_special_ids)
        written = model.detokenizer(model.encode("Tom"))
        assert "".join(map(written.push, ids)) + written.flush() == text
    assert text_tokens(model, " Lily") != text_tokens(model, "Lily")


@given(st.text(st.sampled_from("ab \n.🐉L")))
def test_the_fakes_texts_are_whole(text: str) -> None:
    model = FakeModel()
    assert (
        "".join(map(model.token_text, text_tokens(model, text))).replace(
            "<0xF0><0x9F><0x90><0x89>", "🐉"
        )
        == text
    )

"""Protected tokens: by model, as a choice, along a run, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import tiny
from tests.ui.factories import decode
from xtc_viz import XTCLogitsProcessor, XTCSettings
from xtc_viz.errors import SettingsError
from xtc_viz.models.fake import END, FakeModel
from xtc_viz.models.local.model import LocalModel
from xtc_viz.records.trace import Trace
from xtc_viz.runs.protection import (
    NOTHING,
    Newlines,
    Protection,
    along,
    described,
    protected_ids,
    protected_tokens,
    text_tokens,
)

MODEL = FakeModel()
LILY, DRAGON, S = (MODEL.encode(text)[0] for text in (" Lily", " dragon", "s"))
NEWLINE, TWO = MODEL.encode("\n")[0], MODEL.encode("\n\n")[0]
VOCABULARY = {i: MODEL.token_text(i) for i in range(MODEL.info.vocab_size)}

choices = st.builds(
    Protection,
    st.booleans(),
    st.sampled_from(Newlines),
    st.lists(st.sampled_from([" Lily", " dragon", " dragons", "ß", "zz"]), unique=True).map(tuple),
)


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


@pytest.mark.parametrize("architecture", tiny.CONFIGS)
def test_one_call_for_any_tokenizer(architecture: str, load: Callable[[str], LocalModel]) -> None:
    """The same ids as for a loaded model, and ready for the settings of a processor."""
    model = load(architecture)
    both = (model.tokenizer, model.model)
    for newlines in Newlines:
        for texts in ((), (" Lily", "Tom", "🐉"), (" dragon",)):
            choice = Protection(newline=newlines, texts=texts)
            assert protected_tokens(*both, newlines=newlines, texts=texts) == choice.ids(model)
    assert protected_tokens(*both, eos=False) == frozenset(model.info.newline_ids)
    assert protected_tokens(*both, newlines="none") == frozenset(model.info.eos_ids)
    assert protected_tokens(*both, newlines="none", texts=" Lily", eos=False) == {
        text_tokens(model, " Lily")[0]
    }
    alone = protected_tokens(model.tokenizer, newlines="none")
    assert alone == {model.tokenizer.eos_token_id}, "which knows one end of several"
    xtc = XTCSettings(protected=protected_tokens(*both))
    assert XTCLogitsProcessor(xtc)


def test_one_call_refuses_what_is_no_text(load: Callable[[str], LocalModel]) -> None:
    tokenizer = load("llama").tokenizer
    for texts in ([""], [4]):
        with pytest.raises(SettingsError, match="`texts` must be non-empty texts"):
            protected_tokens(tokenizer, texts=texts)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="newlines"):
        protected_tokens(tokenizer, newlines="some")


@given(st.text(st.sampled_from("ab \n.🐉L")))
def test_the_fakes_texts_are_whole(text: str) -> None:
    model = FakeModel()
    assert (
        "".join(map(model.token_text, text_tokens(model, text))).replace(
            "<0xF0><0x9F><0x90><0x89>", "🐉"
        )
        == text
    )


def test_on_a_model() -> None:
    everything = Protection(texts=(" Lily", " dragons")).ids(MODEL)
    assert everything == protected_ids(MODEL) | {LILY, DRAGON}
    assert NOTHING.ids(MODEL) == frozenset()
    assert TWO not in Protection(newline=Newlines.TOKEN).ids(MODEL)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({}, Protection()),
        ({"newline": True}, Protection()),
        ({"newline": False}, Protection(newline=Newlines.NONE)),
        ({"newline": "token", "eos": False}, Protection(False, Newlines.TOKEN)),
        ({"texts": ["a"]}, Protection(texts=("a",))),
    ],
)
def test_what_a_page_sends_new_or_old(sent: dict[str, object], expected: Protection) -> None:
    assert Protection.parse(sent) == expected
    assert Protection.parse(expected.to_dict()) == expected


@pytest.mark.parametrize("newline", ["some", 1, None, ["all"]])
def test_no_choice_is_refused(newline: object) -> None:
    with pytest.raises(SettingsError, match="`protect_newline` must be true, false or one of"):
        Protection.parse({"newline": newline})


def test_along_a_run_of_a_model_that_is_not_here() -> None:
    texts = {END: "<|end|>", NEWLINE: "\n", TWO: "\n\n", LILY: " Lily", S: "s"}
    known = along(Protection(texts=(" Lily", " dragons")), MODEL.info, texts, None)
    assert known == (protected_ids(MODEL) | {LILY}, ()), "what was never recorded cannot matter"
    alone = along(Protection(False, Newlines.TOKEN), MODEL.info, texts, None)
    assert alone == (frozenset({NEWLINE}), ())
    sad = along(Protection(False, Newlines.NONE, ("sad",)), MODEL.info, texts, None)
    assert sad == (frozenset(), ("sad",)), "it may begin with the token s, or not"


@cache
def recorded_run() -> tuple[Trace, FakeModel]:
    return decode(length=30)


@given(choices)
def test_without_the_model_the_recorded_tokens_say_the_same(choice: Protection) -> None:
    trace, model = recorded_run()
    here = along(choice, trace.model, trace.vocabulary, model).ids
    elsewhere = along(choice, trace.model, trace.vocabulary, None)
    if not elsewhere.unsure:
        named = trace.vocabulary.keys()
        # Both a token and a byte may read the same; the tokenizer takes one of them.
        assert here & named <= elsewhere.ids
        assert all(len(VOCABULARY[i]) == 1 for i in (elsewhere.ids - here) & named)


@given(choices)
def test_the_ids_tell_the_choice(choice: Protection) -> None:
    ids = choice.ids(MODEL)
    again = described(ids, MODEL.info, VOCABULARY)
    assert again.ids(MODEL) == ids
    assert (again.eos, again.newline) == (choice.eos, choice.newline)

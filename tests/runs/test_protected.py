"""Protected tokens: what a choice means on a model, along a run, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import decode
from xtc_viz.errors import SettingsError
from xtc_viz.models.fake import END, FakeModel
from xtc_viz.runs.protected import Protection, along, as_tokens, described, parse_protection
from xtc_viz.runs.protection import Newlines, protected_ids

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


def test_on_a_model() -> None:
    everything = Protection(texts=(" Lily", " dragons")).ids(MODEL)
    assert everything == protected_ids(MODEL) | {LILY, DRAGON}
    assert Protection(False, Newlines.NONE).ids(MODEL) == frozenset()
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
    assert parse_protection(sent) == expected
    assert parse_protection(expected.to_dict()) == expected


@pytest.mark.parametrize("newline", ["some", 1, None, ["all"]])
def test_no_choice_is_refused(newline: object) -> None:
    with pytest.raises(SettingsError, match="`protect_newline` must be true, false or one of"):
        parse_protection({"newline": newline})


def test_shown_as_tokens() -> None:
    shown = as_tokens(Protection(texts=(" dragons", "\n", "zz" * 20)), MODEL)
    assert shown["texts"][0] == {"tokens": [" dragon", "s"], "more": 0}
    assert shown["texts"][1]["tokens"] == ["\n"]
    assert shown["texts"][2] == {"tokens": ["z"] * 12, "more": 28}
    newlines = len(MODEL.info.newline_ids)
    kinds = [MODEL.token_text(i) for i in (END, *sorted(MODEL.info.newline_ids))]
    assert shown["kinds"] == {"tokens": kinds[:12], "more": max(0, len(kinds) - 12)}
    plain = as_tokens(Protection(False, Newlines.TOKEN), MODEL)["kinds"]["tokens"]
    assert set(plain) == {"\n"}
    assert (shown["eos"], shown["newline"]) == (1, newlines)
    assert shown["count"] == 1 + newlines + 2, "the newline is protected already"


def test_along_a_run_of_a_model_that_is_not_here() -> None:
    texts = {END: "<|end|>", NEWLINE: "\n", TWO: "\n\n", LILY: " Lily", S: "s"}
    known = along(Protection(texts=(" Lily", " dragons")), MODEL.info, texts, None)
    assert known == (protected_ids(MODEL) | {LILY}, ()), "what was never recorded cannot matter"
    alone = along(Protection(False, Newlines.TOKEN), MODEL.info, texts, None)
    assert alone == (frozenset({NEWLINE}), ())
    sad = along(Protection(False, Newlines.NONE, ("sad",)), MODEL.info, texts, None)
    assert sad == (frozenset(), ("sad",)), "it may begin with the token s, or not"


@given(choices)
def test_without_the_model_the_recorded_tokens_say_the_same(choice: Protection) -> None:
    trace, model = decode(length=30)
    here = along(choice, trace.model, trace.vocabulary, model).ids
    found = along(choice, trace.model, trace.vocabulary, None)
    if not found.unsure:
        recorded = trace.vocabulary.keys()
        # Both a token and a byte may read the same; the tokenizer takes one of them.
        assert here & recorded <= found.ids
        assert all(len(VOCABULARY[i]) == 1 for i in (found.ids - here) & recorded)


@given(choices)
def test_the_ids_tell_the_choice(choice: Protection) -> None:
    ids = choice.ids(MODEL)
    found = described(ids, MODEL.info, VOCABULARY)
    assert found.ids(MODEL) == ids
    assert (found.eos, found.newline) == (choice.eos, choice.newline)

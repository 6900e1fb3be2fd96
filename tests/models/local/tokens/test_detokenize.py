"""Pieces add up to the text, for every kind of tokenizer."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken

from tests.models import tiny
from xtc_viz.models.local.tokens.detokenize import TokenTexts
from xtc_viz.models.tokentable import StreamDetokenizer

KINDS = ("bytelevel", "sentencepiece", "sentencepiece-nostrip", "metaspace")
each_kind = pytest.mark.parametrize("kind", KINDS)
TEXT = "Once upon a time 🐉 naïve 猫\n\n  Lily 👩‍👩‍👧 ﷽ ok"


@cache
def make(kind: str) -> Any:
    """A tokenizer of this kind; its types allow for lists where one id goes in."""
    return tiny.fast_tokenizer(kind)


@cache
def texts_of(kind: str) -> TokenTexts:
    return TokenTexts(make(kind))


def pieces(kind: str, ids: list[int], prefix: list[int] | None = None) -> list[str]:
    detokenizer = StreamDetokenizer(texts_of(kind), prefix or [])
    return [*map(detokenizer.push, ids), detokenizer.flush()]


def decode(kind: str, ids: list[int]) -> str:
    return str(make(kind).decode(ids, skip_special_tokens=True))


@each_kind
def test_worked_example(kind: str) -> None:
    ids = make(kind).encode(TEXT, add_special_tokens=False)
    got = pieces(kind, ids)
    assert "".join(got) == TEXT
    assert "🐉" in got, "a split character comes whole, with its last byte"
    dragon = got.index("🐉")
    assert got[dragon - 3 : dragon] == ["", "", ""]


@each_kind
@given(st.text(max_size=30), st.data())
def test_text_comes_back_and_a_prefix_is_left_out(
    kind: str, text: str, data: st.DataObject
) -> None:
    ids = make(kind).encode(text)
    whole = decode(kind, ids)
    assert "".join(pieces(kind, ids)) == whole
    cut = data.draw(st.integers(0, len(ids)))
    before = StreamDetokenizer(texts_of(kind))
    head = "".join(map(before.push, ids[:cut]))
    assert head + "".join(pieces(kind, ids[cut:], ids[:cut])) == whole


@given(st.lists(st.integers(0, 391), max_size=40))
def test_any_tokens_equal_decode_when_byte_level(ids: list[int]) -> None:
    assert "".join(pieces("bytelevel", ids)) == decode("bytelevel", ids)


@each_kind
def test_an_id_without_a_token_leaves_no_trace(kind: str) -> None:
    beyond = len(make(kind)) + 3
    ids = make(kind).encode("the day", add_special_tokens=False)
    assert "".join(pieces(kind, [beyond, *ids, beyond])) == "the day" == decode(kind, ids)


@pytest.mark.parametrize("kind", KINDS[1:])
@given(st.data())
def test_any_tokens_with_byte_fallback(kind: str, data: st.DataObject) -> None:
    """Broken bytes apart, any tokens equal `decode`; characters beside broken bytes survive."""
    ids = data.draw(st.lists(st.integers(0, len(make(kind)) + 4), max_size=40))
    text = "".join(pieces(kind, ids))
    reference = decode(kind, ids)
    if "\ufffd" not in reference:
        assert text == reference
    else:
        assert text.replace("\ufffd", "") != reference or "\ufffd" in text
        assert set(reference) <= set(text)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_broken_byte_does_not_take_its_neighbours_along(kind: str) -> None:
    tokenizer = make(kind)
    ids = [tokenizer.convert_tokens_to_ids(f"<0x{byte:02X}>") for byte in "猫".encode()]
    broken = [*ids, tokenizer.convert_tokens_to_ids("<0xFF>"), *ids]
    assert pieces(kind, broken, tokenizer.encode("a")) == ["", "", "猫", "\ufffd", "", "", "猫", ""]
    assert decode(kind, broken) == "\ufffd" * 7, "decode gives up the whole run"


@each_kind
def test_half_a_character_at_the_end_is_flushed_once(kind: str) -> None:
    ids = make(kind).encode("a 🐉")[:-1]
    got = pieces(kind, ids)
    assert "".join(got[:-1]) == "a "
    assert got[-1] == "\ufffd"


@each_kind
def test_a_branch_within_a_character_completes_it(kind: str) -> None:
    ids = make(kind).encode("a 🐉")
    assert pieces(kind, ids[-2:], ids[:-2]) == ["", "🐉", ""]


@each_kind
def test_special_tokens_leave_no_trace_but_added_words_do(kind: str) -> None:
    tokenizer = make(kind)
    end, turn, think = map(tokenizer.convert_tokens_to_ids, (tiny.EOS, tiny.TURN_END, tiny.THINK))
    ids = tokenizer.encode("the day", add_special_tokens=False)
    assert "".join(pieces(kind, [*ids, end, think, turn])) == "the day<think>"
    assert [texts_of(kind).text_of(i) for i in (end, think, turn)] == [
        "</s>",
        "<think>",
        tiny.TURN_END,
    ]


@each_kind
def test_a_special_token_without_a_role_does_not_begin_the_text(kind: str) -> None:
    tokenizer: Any = tiny.fast_tokenizer(kind)
    tokenizer.add_tokens([AddedToken("<|mask|>", special=True)])
    mask = tokenizer.convert_tokens_to_ids("<|mask|>")
    assert mask not in tokenizer.all_special_ids
    ids = [mask, *tokenizer.encode("the day", add_special_tokens=False)]
    detokenizer = StreamDetokenizer(TokenTexts(tokenizer))
    assert "".join(map(detokenizer.push, ids)) == tokenizer.decode(ids, skip_special_tokens=True)
    assert TokenTexts(tokenizer).text_of(mask) == "<|mask|>"


@each_kind
def test_single_tokens_read_well(kind: str) -> None:
    tokenizer, texts = make(kind), texts_of(kind)
    shown = [texts.text_of(i) for i in range(len(tokenizer) + 5)]
    assert all(shown), "no token is invisible"
    assert not any("\ufffd" in text for text in shown)
    assert {"<0xE2>", "<0xFF>", "\n"} <= set(shown)
    assert any(text.startswith(" ") and text.strip().isalpha() for text in shown)
    assert shown[-1] == f"<unused {len(tokenizer) + 4}>"
    assert texts.newline_ids() == tuple(i for i, text in enumerate(shown) if "\n" in text)


@each_kind
def test_a_token_in_the_middle_keeps_its_space(kind: str) -> None:
    ids = make(kind).encode("the dragon", add_special_tokens=False)
    last = [i for i in ids if texts_of(kind).text_of(i).startswith(" ")][-1]
    prompt = make(kind).encode("the")
    assert pieces(kind, [last], prompt)[0] == texts_of(kind).text_of(last)

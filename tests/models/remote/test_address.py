"""Addresses as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import SettingsError
from xtc_viz.models.remote.address import is_address, parse_address


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        (" http://127.0.0.1:8080/ ", "http://127.0.0.1:8080"),
        ("HTTP://Box:80/v1", "http://box"),
        ("https://llm.example.org:443/api/v1/", "https://llm.example.org/api"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://a.b/x-y/~z", "https://a.b/x-y/~z"),
    ],
)
def test_an_address_has_one_form(typed: str, address: str) -> None:
    assert is_address(typed.strip())
    assert parse_address(typed) == address
    assert parse_address(address) == address


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "",
            "http://",
            "http:///x",
            "ftp://a",
            "file:///etc/passwd",
            "http://a:0",
            "http://a:99999",
        ),
        *("http://a b", "http://a\nb", "http://a\\b", "http://ä", "http://a/../b c", "http:a"),
        *("http://[::1", "http://a:b", "//a", "http://a;b", "javascript:alert(1)"),
        "http://" + "a" * 400,
    ],
)
def test_what_is_no_address(typed: str) -> None:
    with pytest.raises(SettingsError, match="the address of a server, such as"):
        parse_address(typed)


@pytest.mark.parametrize("typed", ["http://me:secret@a", "http://a?key=secret", "http://a#secret"])
def test_what_may_be_a_secret_is_not_quoted(typed: str) -> None:
    with pytest.raises(SettingsError, match="without") as refusal:
        parse_address(typed)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("name", ["Qwen/Qwen3-0.6B", "./http", "/models/x", "story-model", "https"])
def test_hub_ids_and_folders_are_none(name: str) -> None:
    assert not is_address(name)


@given(st.text(max_size=30))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for typed in (text, f"http://{text}", f"http://a/{text}"):
        try:
            address = parse_address(typed)
        except SettingsError:
            continue
        assert parse_address(address) == address
        assert address.isascii()
        assert address.isprintable()

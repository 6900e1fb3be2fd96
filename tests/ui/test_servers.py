"""Which servers a page may call: on a public one those that its owner named, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xtc_viz.errors import ModelError, SettingsError
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.ui.access import May
from xtc_viz.ui.flags import parser
from xtc_viz.ui.launch import servers_of, spec_of
from xtc_viz.ui.models import parse_choice
from xtc_viz.ui.servers import NO_SERVERS, Servers

BOX = "http://box:8080"
OTHER = "http://169.254.169.254/latest"
OURS = Servers((BOX,), key="sk-of-the-owner")
HERE = Servers((BOX,), every=True, key="sk-of-the-owner")


def chosen(name: str, may: May, servers: Servers, **more: str) -> RemoteSpec:
    spec = parse_choice({"name": name, **more}, may, servers)
    assert isinstance(spec, RemoteSpec)
    return spec


@pytest.mark.parametrize("may", [May.ALL, May.CATALOG])
@pytest.mark.parametrize("servers", [NO_SERVERS, OURS])
@pytest.mark.parametrize("name", [OTHER, "http://box:8081", "https://box:8080", "HTTP://EVIL"])
def test_a_public_page_calls_no_address_that_a_visitor_gives(
    may: May, servers: Servers, name: str
) -> None:
    with pytest.raises(SettingsError, match="one of the servers that the owner") as refusal:
        parse_choice({"name": name}, may, servers)
    assert "169" not in str(refusal.value)


def test_a_fixed_page_calls_none_at_all() -> None:
    with pytest.raises(ModelError, match="fixed"):
        parse_choice({"name": BOX}, May.FIXED, OURS)


def test_the_owners_key_goes_to_the_owners_servers_alone() -> None:
    assert chosen(f"{BOX}/v1/", May.CATALOG, OURS) == RemoteSpec(BOX, key="sk-of-the-owner")
    assert chosen(BOX, May.ALL, HERE, key="typed").key == "typed"
    assert chosen(OTHER, May.ALL, HERE).key == ""
    assert chosen(OTHER, May.ALL, HERE, key=" typed ").key == "typed"


@pytest.mark.parametrize("key", [["x"], {"a": 1}, 7, "s" * 301])
def test_a_wrong_key_is_not_quoted(key: object) -> None:
    with pytest.raises(SettingsError, match="`key` must be a line of at most 300") as refusal:
        parse_choice({"name": BOX, "key": key}, May.ALL, HERE)
    assert "sss" not in str(refusal.value)


def test_a_folder_is_for_the_owner_to_name() -> None:
    ours, here = (replace(servers, tokenizer="/folder") for servers in (OURS, HERE))
    assert chosen(BOX, May.CATALOG, ours).tokenizer == "/folder"
    assert chosen(OTHER, May.ALL, here).tokenizer == ""
    assert chosen(OTHER, May.ALL, here, tokenizer="/typed").tokenizer == "/typed"
    assert chosen(BOX, May.ALL, here, tokenizer="/typed").tokenizer == "/typed"
    with pytest.raises(SettingsError, match="`tokenizer` must be empty on this page") as refusal:
        parse_choice({"name": BOX, "tokenizer": "/etc"}, May.ALL, ours)
    assert "etc" not in str(refusal.value)
    with pytest.raises(SettingsError, match="`tokenizer` must be a line of at most"):
        parse_choice({"name": BOX, "tokenizer": ["/etc"]}, May.ALL, here)


def test_a_key_is_in_no_text_of_what_holds_it() -> None:
    for value in (RemoteSpec(BOX, key="sk-secret"), Servers(key="sk-secret")):
        assert "sk-secret" not in f"{value} {value!r}"


def test_flags_name_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XTC_VIZ_SERVER_KEY", "sk-of-the-owner")
    options = parser().parse_args(["--model", f"{BOX}/v1", "--servers", "http://a,https://b:443/"])
    assert spec_of(options) == RemoteSpec(BOX, key="sk-of-the-owner")
    assert servers_of(options) == Servers((BOX, "http://a", "https://b"), key="sk-of-the-owner")
    named = parser().parse_args(["--model", BOX, "--tokenizer", "/folder"])
    assert spec_of(named) == RemoteSpec(BOX, key="sk-of-the-owner", tokenizer="/folder")
    assert servers_of(named).tokenizer == "/folder"
    plain = parser().parse_args([])
    assert servers_of(plain).named == ()
    assert not servers_of(plain).every


@pytest.mark.parametrize("text", ["box:8080", "ftp://a", "http://me:secret@a", "http://a?b=1"])
def test_a_wrong_address_among_the_flags(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--servers", text])
    said = capsys.readouterr().err
    assert "must be the address of a server, such as http://127.0.0.1:8080" in said
    assert "secret" not in said.splitlines()[-1]

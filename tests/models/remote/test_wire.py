"""Servers that are slow, endless, broken or hostile: each ends in time, and in words."""

from __future__ import annotations

import gzip
import json
import socket
import time
from typing import Any

import pytest

from tests.models.remote.hostile import Raw, answering, sending
from xtc_viz.errors import ServerError, SettingsError
from xtc_viz.models.remote import wire as wires
from xtc_viz.models.remote.wire import StatusError, Wire

KEY = "sk-0123456789abcdef"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def ask(address: str, key: str = "", **limits: Any) -> Any:
    wire = Wire(address, key)
    try:
        return wire.post("/x", {"a": 1}, **limits)
    finally:
        wire.close()


def test_an_answer_is_json_and_the_key_is_sent_as_servers_want_it() -> None:
    seen = []

    def answer(path: str, values: Any) -> Any:
        seen.append((path, values))
        return {"b": [1, 2.5, None]}

    with answering(answer) as address:
        assert ask(f"{address}/under", KEY) == {"b": [1, 2.5, None]}
    assert seen == [("/under/x", {"a": 1})]


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(
        ServerError, match=rf"127\.0\.0\.1:{port} cannot be reached: nothing listens"
    ):
        ask(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ((b"SSH-2.0-OpenSSH_9\r\n",), "speaks no HTTP"),
        ((), "ended the connection in the middle"),
        ((OK + b'Content-Length: 99\r\n\r\n{"a": ',), "ended the connection in the middle"),
        ((OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",), "in the middle, or speaks no HTTP"),
        ((OK + b"X: " + b"a" * 300_000 + b"\r\n\r\n",), "speaks no HTTP"),
        ((OK + b"\r\n<html>hello",), "with what is no JSON"),
        ((OK + b"\r\n" + b"[" * 100_000,), "with what is no JSON"),
        ((OK + b"\r\n\xff\xfe\x00",), "with what is no JSON"),
        ((OK + b"\r\n" + b"9" * 9000,), "with what is no JSON"),
        ((OK + b"\r\n",), "with what is no JSON"),
    ],
    ids=range(10),
)
def test_what_is_no_answer(pieces: tuple[bytes, ...], words: str) -> None:
    with sending(*pieces) as address, pytest.raises(ServerError, match=words):
        ask(address)


def test_one_that_never_answers_is_given_up() -> None:
    with sending(b"", pause=60.0) as address:
        begin = time.monotonic()
        with pytest.raises(ServerError, match=r"did not answer within 0\.3 seconds"):
            ask(address, seconds=0.3)
        assert time.monotonic() - begin < 10


@pytest.mark.parametrize("head", [[OK + b"\r\n"], [OK, b"X-A: "]], ids=["body", "head"])
def test_one_that_drips_is_given_up_too(head: list[bytes]) -> None:
    """Each piece comes in time, the whole never would."""
    with sending(*head, *[b" "] * 1000, pause=0.05) as address:
        begin = time.monotonic()
        with pytest.raises(ServerError, match=r"did not answer within 0\.4 seconds"):
            ask(address, seconds=0.4)
        assert time.monotonic() - begin < 10


def test_one_that_never_stops_is_cut_off() -> None:
    with (
        sending(OK + b"\r\n", *[b" " * 65536] * 1000) as address,
        pytest.raises(ServerError, match="answers with more than 300,000 bytes"),
    ):
        ask(address, most=300_000)


def test_a_packed_answer_is_not_opened() -> None:
    """A few kilobytes of it could be gigabytes."""
    bomb = gzip.compress(b" " * 10_000_000)
    with (
        answering(lambda path, values: Raw(bomb, Content_Encoding="gzip")) as address,
        pytest.raises(ServerError, match="packs its answers"),
    ):
        ask(address)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    asked = []

    def answer(path: str, values: Any) -> Any:
        asked.append(path)
        return Raw(b"", status, Location=f"http://169.254.169.254/{path}")

    with answering(answer) as address, pytest.raises(ServerError, match="which is not followed"):
        ask(address)
    assert asked == ["/x"]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {}, "wants a key, or another one"),
        (403, {"error": "no"}, "wants a key, or another one"),
        (404, {}, "answers /x with status 404"),
        (400, {"error": {"message": "too long"}}, "status 400: too long"),
        (500, {"detail": "a\nb\u202e" + "c" * 999}, "status 500: a\ufffdb\ufffdc+…"),
        (503, [1], "status 503"),
    ],
)
def test_a_refusal_gives_the_reason_in_a_line(status: int, body: Any, words: str) -> None:
    raw = Raw(json.dumps(body).encode(), status)
    with (
        answering(lambda path, values: raw) as address,
        pytest.raises(StatusError, match=words) as refusal,
    ):
        ask(address)
    assert refusal.value.status == status
    assert len(str(refusal.value)) < 500
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("status", [200, 400, 401])
def test_a_key_that_is_sent_back_goes_nowhere(status: int) -> None:
    raw = Raw(json.dumps({"error": f"not {KEY}", "a": KEY}).encode(), status)
    with (
        answering(lambda path, values: raw) as address,
        pytest.raises(ServerError, match="sends back the key") as refusal,
    ):
        ask(address, KEY)
    assert KEY not in str(refusal.value) + repr(refusal.value)


def test_a_short_key_is_left_out_of_a_refusal() -> None:
    raw = Raw(b'{"error": "not zq7"}', 400)
    with (
        answering(lambda path, values: raw) as address,
        pytest.raises(ServerError, match="status 400: not …"),
    ):
        ask(address, "zq7")


@pytest.mark.parametrize("key", ["a b", "a\nb", "é", "a\r\nHost: x"])
def test_a_key_that_no_header_holds_is_refused_unquoted(key: str) -> None:
    with pytest.raises(SettingsError, match="`key` must be printable") as refusal:
        Wire("http://127.0.0.1:1", key)
    assert key not in str(refusal.value)


def test_no_proxy_and_no_password_of_this_machine_is_used(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with answering(lambda path, values: {"ok": 1}) as address:
        assert ask(address) == {"ok": 1}
        client = Wire(address)._client
        assert "authorization" not in client.headers
        client.close()


def test_limits_are_sane() -> None:
    assert wires.CONNECT < wires.SHORT < wires.LONG <= 600

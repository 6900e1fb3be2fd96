"""Requests to a server: within time and size, and every failure in words.

A server is a stranger. It may be slow, endless, broken or hostile; nothing here trusts it. No
redirect is followed, no proxy or password of this machine is used, and the key, which a server
might send back, is in no message.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import httpx

from xtc_viz.errors import ServerError, SettingsError, Words, shortened
from xtc_viz.models.remote.deadline import watch

CONNECT = 5.0  # seconds
SHORT = 20.0  # for a question that takes no forward
LONG = 300.0  # for one that may have to read a long prompt
SMALL = 4 * 2**20  # bytes of an answer
SECRET = 8  # characters; a shorter key is none, as the `EMPTY` that some clients must send


class StatusError(ServerError):
    """An answer of another status than 200; `status` is it, `words` what the server says."""

    def __init__(self, message: str, status: int, words: str) -> None:
        super().__init__(message)
        self.status = status
        self.words = words


class NoJsonError(ServerError):
    """An answer that is no JSON, as a page of a website is."""


class Wire:
    """One server by its address. Safe to use from many threads."""

    def __init__(self, address: str, key: str = "") -> None:
        """Raises `SettingsError` for a key that no header can hold."""
        if not key.isascii() or not key.isprintable() or " " in key:
            raise SettingsError("key", "printable characters of ASCII without spaces", Words("not"))
        self.address = address
        self.where = urlsplit(address).netloc
        self._key = key
        headers = {"Accept-Encoding": "identity", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._client = httpx.Client(
            base_url=f"{address}/",
            headers=headers,
            follow_redirects=False,
            trust_env=False,
            timeout=httpx.Timeout(SHORT, connect=CONNECT),
        )

    def close(self) -> None:
        self._client.close()

    def get(self, path: str) -> Any:
        """Return the JSON at a path. Raises `ServerError`."""
        return self._ask("GET", path, None, SHORT, SMALL)

    def post(
        self, path: str, values: Mapping[str, Any], *, seconds: float = SHORT, most: int = SMALL
    ) -> Any:
        """Return the JSON that answers `values`, at most so many bytes. Raises `ServerError`."""
        body = json.dumps(values, separators=(",", ":"), allow_nan=False).encode()
        return self._ask("POST", path, body, seconds, most)

    def _ask(self, method: str, path: str, body: bytes | None, seconds: float, most: int) -> Any:
        with watch.within(seconds, self.cut) as deadline:
            late = f"did not answer within {seconds:g} seconds"
            try:
                status, data = self._answer(method, path, body, seconds, most)
            except httpx.ConnectTimeout:
                raise self.error(f"cannot be reached within {CONNECT:g} seconds") from None
            except httpx.TimeoutException:
                raise self.error(late) from None
            except httpx.ConnectError:
                raise self.error("cannot be reached: nothing listens there") from None
            except (httpx.ReadError, httpx.RemoteProtocolError):
                broken = "ended the connection in the middle, or speaks no HTTP"
                raise self.error(late if deadline.passed else broken) from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise self.error(f"cannot be asked ({type(error).__name__})") from None
        if deadline.passed:  # an answer without a length, cut off, looks complete
            raise self.error(late)
        if len(self._key) >= SECRET and self._key.encode() in data:
            # It would stand in messages, or as a token's text in traces.
            raise self.error("sends back the key that it was given")
        if status != 200:
            raise self._refused(path, status, data)
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            words = f"answers /{path.lstrip('/')} with what is no JSON"
            raise NoJsonError(self._words(words)) from None

    def _answer(
        self, method: str, path: str, body: bytes | None, seconds: float, most: int
    ) -> tuple[int, bytes]:
        with self._client.stream(
            method,
            path.lstrip("/"),
            content=body,
            headers={"Content-Type": "application/json"} if body is not None else {},
            timeout=httpx.Timeout(seconds, connect=CONNECT),
            extensions={"trace": self._trace},
        ) as reply:
            self._check_head(reply)
            return reply.status_code, self._read(reply, most)

    def _check_head(self, reply: httpx.Response) -> None:
        if reply.is_redirect:
            words = "redirects to another address, which is not followed: give that one"
            raise self.error(words)
        if reply.headers.get("content-encoding", "identity") != "identity":
            raise self.error("packs its answers, though it was asked not to")

    def _read(self, reply: httpx.Response, most: int) -> bytes:
        data = bytearray()
        for chunk in reply.iter_raw():
            data += chunk
            if len(data) > most:
                raise self.error(f"answers with more than {most:,} bytes")
        return bytes(data)

    def _trace(self, event: str, about: Mapping[str, Any]) -> None:
        """Remember the sockets: a timeout of httpx begins anew with every byte that comes."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._sockets.add(about["return_value"].get_extra_info("socket"))

    def cut(self) -> None:
        """End all requests that go on, each with a `ServerError`."""
        for each in list(self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _refused(self, path: str, status: int, data: bytes) -> StatusError:
        said = self._said(data)
        if status in (401, 403):
            words = "wants a key, or another one than it was given"
        else:
            words = f"answers /{path.lstrip('/')} with status {status}{said and f': {said}'}"
        return StatusError(self._words(words), status, said)

    def _said(self, data: bytes) -> str:
        """What a server gives as the reason, short and without the key."""
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return ""
        for name in ("error", "message", "detail"):
            if isinstance(values, dict) and isinstance(values.get(name), (dict, str)):
                values = values[name]
        text = values if isinstance(values, str) else ""
        return shortened(text.replace(self._key, "…") if self._key else text, 300)

    def error(self, words: str) -> ServerError:
        """Return the error that says of this server what is wrong."""
        return ServerError(self._words(words))

    def _words(self, words: str) -> str:
        return f"The server at {self.where} {words}."

"""Requests to a server: within time and size, and every failure in words.

A server is a stranger. It may be slow, endless, broken or hostile; nothing here trusts it. No
redirect is followed, no proxy or password of this machine is used, and the key, which a server
might send back, is in no message.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import httpx
import orjson

from xtc_viz.errors import ServerError, SettingsError, Words, shortened
from xtc_viz.models.remote.deadline import watch

CONNECT = 5.0  # seconds
SHORT = 20.0  # for a question that takes no forward
LONG = 300.0  # for one that may have to read a long prompt
SMALL = 4 * 2**20  # bytes of an answer
IDLE = 2.0
"""Seconds after which an idle connection is used no more. llama.cpp's server ends one after 5, and
a question sent at that very moment would be lost."""
SECRET = 8  # characters; a shorter key is none, as the `EMPTY` that some clients must send
NO_HEADERS: Mapping[str, str] = {}


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
            limits=httpx.Limits(keepalive_expiry=IDLE),
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
        return self._ask("POST", path, _body(values), seconds, most)

    def stream(
        self, path: str, values: Mapping[str, Any], *, seconds: float, most: int
    ) -> Generator[Any, None, None]:
        """Yield the JSON of every event that answers `values`, as they come: each within so many
        seconds, all together at most so many bytes. Closing this generator ends the answer.

        Raises `ServerError`.
        """
        with closing(self._lines(path, _body(values), seconds, most)) as lines:
            while True:
                with self._in_time(seconds):
                    line = next(lines, None)
                if line is None:
                    return
                self._check_secret(line)
                name, _, data = line.partition(b":")
                if name == b"error":
                    said = self._said(data)
                    raise self.error(f"breaks off{said and f': {said}'}")
                if name == b"data":
                    yield self._json(path, data)

    def _lines(
        self, path: str, body: bytes, seconds: float, most: int
    ) -> Generator[bytes, None, None]:
        """Yield the lines of an answer that have something in them."""
        # A server may end the connection behind a stream, a moment later.
        with self._sent("POST", path, body, seconds, {"Connection": "close"}) as reply:
            if reply.status_code != 200:
                raise self._refused(path, reply.status_code, self._read(reply, SMALL))
            size, rest = 0, b""
            for chunk in reply.iter_raw():
                size += len(chunk)
                if size > most:
                    raise self._too_long(most)
                *lines, rest = (rest + chunk).split(b"\n")
                yield from filter(None, map(bytes.strip, lines))
            if rest.strip():
                yield rest.strip()

    def _ask(self, method: str, path: str, body: bytes | None, seconds: float, most: int) -> Any:
        with self._in_time(seconds), self._sent(method, path, body, seconds) as reply:
            status, data = reply.status_code, self._read(reply, most)
        self._check_secret(data)
        if status != 200:
            raise self._refused(path, status, data)
        return self._json(path, data)

    @contextmanager
    def _in_time(self, seconds: float) -> Iterator[None]:
        """Cut off what the server does not do within so many seconds, and say what goes wrong."""
        with watch.within(seconds, self.cut) as deadline:
            late = f"did not answer within {seconds:g} seconds"
            try:
                yield
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

    def _check_secret(self, data: bytes) -> None:
        if len(self._key) >= SECRET and self._key.encode() in data:
            # It would stand in messages, or as a token's text in traces.
            raise self.error("sends back the key that it was given")

    def _json(self, path: str, data: bytes) -> Any:
        try:
            return _value(data)
        except (ValueError, RecursionError):
            words = f"answers /{path.lstrip('/')} with what is no JSON"
            raise NoJsonError(self._words(words)) from None

    @contextmanager
    def _sent(
        self,
        method: str,
        path: str,
        body: bytes | None,
        seconds: float,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Iterator[httpx.Response]:
        """Send a request and give its answer, whose head is there and can be read."""
        kind = {"Content-Type": "application/json"} if body is not None else {}
        with self._client.stream(
            method,
            path.lstrip("/"),
            content=body,
            headers={**kind, **headers},
            timeout=httpx.Timeout(seconds, connect=CONNECT),
            extensions={"trace": self._trace},
        ) as reply:
            self._check_head(reply)
            yield reply

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
                raise self._too_long(most)
        return bytes(data)

    def _too_long(self, most: int) -> ServerError:
        return self.error(f"answers with more than {most:,} bytes")

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
            values = _value(data)
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


def _value(data: bytes) -> Any:
    """Return what JSON says; raise `ValueError` or `RecursionError` where it is none."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(data)
    # Slower, but it reads what some servers write: infinities, and halves of characters.
    return json.loads(data)


def _body(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, separators=(",", ":"), allow_nan=False).encode()

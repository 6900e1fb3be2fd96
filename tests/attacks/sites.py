"""Requests as pages of other sites, strangers' names and old tools would send them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

HOSTS = (
    "127.evil.example", "127.0.0.1.evil.example", "localhost.", "localhost.evil.example",
    "evil.example", "0", "2130706433", "127.1", "a@127.0.0.1", "127.0.0.1 evil", "localhost,evil",
    "[::1", "::1", "", "xn--lcalhost-54a", "LOCALHOST.", "127.0.0.1.", "evil.example#127.0.0.1",
)  # fmt: skip
ORIGINS = (
    "null", "", "http://evil.example", "https://evil.example", "http://localhost:1",
    "http://127.0.0.1:1", "http://127.0.0.1", "http://localhost.:{port}", "file://",
    "http://evil.example:{port}", "http://127.evil.example:{port}", "chrome-extension://abc",
    "http://127.0.0.1:{port}.evil.example", "http://evil.example?127.0.0.1:{port}",
)  # fmt: skip
SITES = ("cross-site", "same-site", "CROSS-SITE", "nonsense")
KINDS = (
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
    "text/plain; charset=application/json", "application/jsonx", "text/json", "application/xml",
)  # fmt: skip
CLOSED = (
    "upload", "proxy=http://evil.example/", "file=/etc/passwd", "file=app.py", "run/generate",
    "api/generate", "stream/x", "stream/x/close", "process_recording", "vibe-edit", "vibe-code",
    "undo-vibe-edit", "deep_link", "monitoring", "run-history/records", "dev/reload", "user",
    "token", "openapi.json", "upload_progress", "custom_component/x/y/z/w", "call/run", "call/_run",
    "queue/status", "../etc/passwd", "profiling/traces", "runs",
)  # fmt: skip
SERVER = "/gradio_api/component_server/"
POSTS = (SERVER, "/gradio_api/queue/join", "/gradio_api/call/v2/generate", "/gradio_api/cancel")


class Request(NamedTuple):
    """A request that must not get through."""

    method: str
    path: str
    headers: dict[str, str]


def strangers(seed: int, count: int, port: int) -> Iterator[Request]:
    """Yield `count` requests to the page at `port`, each of which must be refused."""
    dice = random.Random(seed)
    json = {"content-type": "application/json"}
    for _ in range(count):
        kind, post = dice.randrange(5), dice.choice(POSTS)
        if kind == 0:
            host = dice.choice(HOSTS)
            path = dice.choice(("/", "/config", "/xtc_viz/start", *POSTS))
            method = "POST" if path in POSTS else "GET"
            yield Request(method, path, {**json, "host": dice.choice((host, f"{host}:{port}"))})
        elif kind == 1:
            yield Request("POST", post, {**json, "origin": dice.choice(ORIGINS).format(port=port)})
        elif kind == 2:
            origin = dice.choice((*ORIGINS, "http://127.0.0.1:{port}")).format(port=port)
            site = {"sec-fetch-site": dice.choice(SITES), "origin": origin}
            path = dice.choice((post, "/config", "/xtc_viz/start"))
            yield Request("POST" if path in POSTS else "GET", path, {**json, **site})
        elif kind == 3:
            yield Request("POST", post, {"content-type": dice.choice(KINDS)})
        else:
            path = f"/gradio_api/{dice.choice(CLOSED)}"
            yield Request(dice.choice(("GET", "POST", "PUT", "DELETE")), path, json)

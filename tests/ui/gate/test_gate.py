"""The gate in front of a small app: what gets through, and with which words the rest is refused."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.gate.gate import VISITOR, Gate
from xtc_viz.ui.gate.routes import AGENTS, FOR_AGENTS, ROUTES, START, Route
from xtc_viz.ui.gate.share import ASKED, GOING, Shares
from xtc_viz.ui.gate.token import HEADER, TOKEN

PAGE = "<html><script>let a = 1;</script><script type=module src='./x.js'></script></html>"
SERVER = "/gradio_api/component_server/"
JOIN = "/gradio_api/queue/join"
GENERATE = "/gradio_api/call/v2/generate"
SIGNED = {HEADER: TOKEN}
HOME = Entrance()
PUBLIC = Entrance(names=None, public=True)


def ask(
    method: str,
    path: str,
    entrance: Entrance = HOME,
    headers: dict[str, str] | None = None,
    host: str = "localhost:7860",
    routes: Sequence[Route] = ROUTES,
    **more: Any,
) -> httpx.Response:
    """The answer to one request, of an app that says what reached it."""
    app = FastAPI()

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse(PAGE)

    @app.api_route("/{path:path}", methods=["GET", "POST"])
    async def echo(path: str, request: Request) -> dict[str, object]:
        body = await request.body()
        forwarded = request.headers.get("x-forwarded-host")
        return {"bytes": len(body), "visitor": request.scope[VISITOR], "forwarded": forwarded}

    async def asked() -> httpx.Response:
        gate = Gate(app, entrance, routes)
        transport = httpx.ASGITransport(gate, client=("203.0.113.7", 4711))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.request(method, path, headers=headers, **more)

    return asyncio.run(asked())


def test_a_page_of_ours_gets_through() -> None:
    same = {"origin": "http://localhost:7860", "sec-fetch-site": "same-origin"}
    answer = ask("POST", SERVER, headers=SIGNED | same, json={"a": 1})
    assert answer.json() == {"bytes": 7, "visitor": "203.0.113.7", "forwarded": None}


@pytest.mark.parametrize("entrance", [HOME, PUBLIC])
def test_agents_ask_where_there_are_tools_and_pages_of_others_never(entrance: Entrance) -> None:
    tools = (*ROUTES, *FOR_AGENTS)
    assert ask("POST", AGENTS, entrance, json={}).status_code == 404
    for path in (AGENTS, f"{AGENTS}/"):
        assert ask("POST", path, entrance, routes=tools, json={}).status_code == 200
        assert ask("GET", path, entrance, routes=tools).status_code == 405
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        answer = ask("POST", AGENTS, entrance, headers, routes=tools, json={})
        assert answer.status_code == 403


def test_a_program_gets_through() -> None:
    assert ask("POST", GENERATE, json={}).status_code == 200
    assert ask("POST", JOIN, json={}).status_code == 200
    assert ask("GET", "/config").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "http://localhost:7860"},
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:3000"},
        {"origin": "http://localhost"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://localhost:3000", "x-forwarded-host": "localhost:3000"},
    ],
)
def test_a_page_of_another_site_does_not(headers: dict[str, str]) -> None:
    for method, path in (("POST", SERVER), ("POST", JOIN), ("POST", GENERATE), ("GET", "/config")):
        body = b"{}" if method == "POST" else b""
        kind = {"content-type": "application/json"}
        answer = ask(method, path, headers=headers | SIGNED | kind, content=body)
        assert answer.status_code == 403
        assert "Pages of other sites may not ask this one." in answer.text


def test_where_strangers_are_welcome_other_sites_may_call_the_public_endpoint_alone() -> None:
    other = {"origin": "https://blog.example", "sec-fetch-site": "cross-site"}
    assert ask("POST", GENERATE, PUBLIC, other, json={}).status_code == 200
    assert ask("GET", GENERATE + "/0123", PUBLIC, other).status_code == 200
    assert ask("POST", SERVER, PUBLIC, other | SIGNED, json={}).status_code == 403
    assert ask("POST", JOIN, PUBLIC, other, json={}).status_code == 403


def test_a_link_on_another_site_leads_to_the_page_and_nowhere_else() -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert ask("GET", "/", headers=link).status_code == 200
    assert ask("GET", "/config", headers=link).status_code == 403
    assert ask("GET", "/", headers=link | {"sec-fetch-mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("host", ["127.evil.example", "localhost.", "evil.example:7860"])
def test_a_name_that_is_not_the_pages_own(host: str) -> None:
    answer = ask("GET", "/", host=host)
    assert answer.status_code == 421
    assert answer.text == (
        f"This page does not answer to the name '{host}'. "
        "Its owner can allow it: --allowed-hosts NAME."
    )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/gradio_api/upload", 404),
        ("GET", "/gradio_api/proxy=http://evil.example", 404),
        ("GET", "/gradio_api/file=/etc/passwd", 404),
        ("POST", "/gradio_api/run/generate", 404),
        ("POST", "/gradio_api/stream/1", 404),
        ("GET", "/docs", 404),
        ("POST", "/", 405),
        ("PUT", SERVER, 405),
        ("GET", JOIN, 405),
    ],
)
def test_what_nobody_uses_is_closed(method: str, path: str, status: int) -> None:
    assert ask(method, path, headers=SIGNED).status_code == status


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/plain;application/json", "multipart/form-data", ""]
)
def test_nothing_but_json(kind: str) -> None:
    answer = ask("POST", SERVER, headers=SIGNED | {"content-type": kind}, content=b"{}")
    assert (answer.status_code, answer.json()) == (
        415,
        {"detail": "Only application/json is taken."},
    )


@pytest.mark.parametrize("headers", [{}, {HEADER: ""}, {HEADER: TOKEN[:-1]}, {HEADER: "é"}])
def test_a_question_carries_the_token_of_this_start(headers: dict[str, str]) -> None:
    raw = {k: v.encode() for k, v in headers.items()}
    answer = ask("POST", SERVER, headers=raw, json={})  # type: ignore[arg-type]
    assert answer.status_code == 403
    assert "from before the server's last start" in answer.text


def test_the_token_is_told_to_pages_of_ours() -> None:
    answer = ask("GET", START)
    assert answer.json() == {"token": TOKEN}
    assert answer.headers["cache-control"] == "no-store"
    assert ask("GET", START, headers={"sec-fetch-site": "cross-site"}).status_code == 403


def most(path: str) -> int:
    return next(r.most for r in ROUTES if r.path.fullmatch(path) and "POST" in r.methods)


@pytest.mark.parametrize("path", [JOIN, "/gradio_api/cancel"])
def test_a_body_is_refused_before_it_is_read(path: str) -> None:
    kind = {"content-type": "application/json"}
    fits = ask("POST", path, headers=kind, content=b"x" * most(path))
    assert fits.json()["bytes"] == most(path)
    long = ask("POST", path, headers=kind, content=b"x" * (most(path) + 1))
    words = f"This takes at most {most(path):,} bytes."
    assert (long.status_code, long.json()) == (413, {"detail": words})


def test_a_body_of_no_said_length_is_read_as_far_as_it_may_go() -> None:
    pulled = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal pulled
        while True:
            pulled += 1
            yield b"x" * 65_536

    path, kind = "/gradio_api/cancel", {"content-type": "application/json"}
    answer = ask("POST", path, headers=kind, content=endless())
    assert answer.status_code == 413
    assert pulled <= most(path) // 65_536 + 2


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 20, "x"])
def test_a_length_that_is_none(length: str) -> None:
    headers = {"content-type": "application/json", "content-length": length}
    assert ask("POST", JOIN, headers=headers, content=b"{}").status_code == 413


def test_what_browsers_are_told() -> None:
    answer = ask("GET", "/")
    assert answer.text == PAGE
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    policy = dict(part.split(" ", 1) for part in answer.headers[POLICY].split("; "))
    digest = base64.b64encode(hashlib.sha256(b"let a = 1;").digest()).decode()
    assert policy["script-src"] == f"'self' 'unsafe-eval' 'sha256-{digest}'"
    assert policy["frame-ancestors"] == policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"


def test_a_space_is_shown_in_the_frame_of_the_hub() -> None:
    answer = ask("GET", "/", Entrance(names=None, public=True, framed=True, proxies=None))
    assert "x-frame-options" not in answer.headers
    assert (
        "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
        in (answer.headers[POLICY])
    )


def test_a_refusal_has_the_headers_too() -> None:
    assert ask("GET", "/nothing").headers["x-content-type-options"] == "nosniff"


def test_behind_a_trusted_proxy_the_pages_own_name_is_what_it_forwards() -> None:
    entrance = Entrance(names=frozenset({"localhost", "xtc.example"}), proxies=1, public=True)
    headers = {"origin": "https://xtc.example", "x-forwarded-host": "xtc.example"}
    assert ask("POST", JOIN, entrance, headers, json={}).status_code == 200
    # What anybody can write there makes nobody the page's own.
    for origin, host in (
        ("http://evil.example", "evil.example"),
        ("http://192.0.2.7", "192.0.2.7"),
        ("null", ""),
        ("", ""),
        ("null", "null"),
    ):
        headers = {"origin": origin, "x-forwarded-host": host}
        for some in (entrance, PUBLIC, Entrance(names=None, public=True, proxies=None)):
            assert ask("POST", JOIN, some, headers, json={}).status_code == 403
            assert ask("GET", START, some, headers).status_code == 403
    assert ask("GET", START, entrance, {"origin": "null"}).status_code == 403


@pytest.mark.parametrize("host", ["[::", "a\x85b", "evil.example", "x" * 5000, ""])
def test_a_forwarded_name_that_is_not_ours_goes_no_further(host: str) -> None:
    entrance = Entrance(names=frozenset({"localhost", "xtc.example"}), proxies=1, public=True)
    raw = {"x-forwarded-host": host.encode("latin-1")}
    answer = ask("GET", "/config", entrance, raw)  # type: ignore[arg-type]
    assert answer.json()["forwarded"] == "localhost:7860"
    ours = ask("GET", "/config", entrance, {"x-forwarded-host": "xtc.example"})
    assert ours.json()["forwarded"] == "xtc.example"
    assert (
        ask("GET", "/config", HOME, {"x-forwarded-host": "xtc.example"}).json()["forwarded"]
        == "localhost:7860"
    )


@pytest.mark.parametrize("name", ["x" * 65, "\U0001f409", "", 5, ["a"], {"a": 1}, "a b", "a\n"])
@pytest.mark.parametrize("path", [JOIN, GENERATE, "/gradio_api/cancel", SERVER])
def test_a_session_has_a_name_and_no_more(path: str, name: object) -> None:
    answer = ask("POST", path, headers=SIGNED, json={"session_hash": name})
    assert (answer.status_code, answer.json()["detail"][:14]) == (422, "`session_hash`")
    assert ask("POST", path, headers=SIGNED, json={"session_hash": "k3-A_9"}).status_code == 200


def test_who_asks_for_many_runs_at_once_is_asked_to_wait() -> None:
    shares = Shares(now=iter([*([0.0] * (ASKED + 2)), 6.0, 6.0]).__next__)
    assert [shares.run("a") for _ in range(ASKED + 1)] == [True] * ASKED + [False]
    assert shares.run("b")
    assert shares.run("a")


def test_streams_that_are_open_take_no_share_of_the_questions() -> None:
    async def asked() -> list[int]:
        app, leave = FastAPI(), asyncio.Event()

        @app.api_route("/{path:path}", methods=["GET", "POST"])
        async def slow(path: str) -> str:
            await leave.wait()
            return path

        transport = httpx.ASGITransport(Gate(app, PUBLIC))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            streams = [client.get(f"/gradio_api/heartbeat/{k}") for k in range(GOING + 5)]
            going = [asyncio.create_task(stream) for stream in streams]
            await asyncio.sleep(0.05)
            questions = [client.post(SERVER, json={}, headers=SIGNED) for _ in range(GOING + 3)]
            going += [asyncio.create_task(question) for question in questions]
            await asyncio.sleep(0.2)
            leave.set()
            return [answer.status_code for answer in await asyncio.gather(*going)]

    codes = asyncio.run(asked())
    assert codes[: GOING + 5] == [200] * (GOING + 5)
    assert sorted(codes[GOING + 5 :]) == [200] * GOING + [429] * 3


def test_a_visitor_has_so_many_questions_under_way() -> None:
    shares = Shares()
    with ExitStack() as stack:
        free = [stack.enter_context(shares.question("a")) for _ in range(GOING + 2)]
        assert free == [True] * GOING + [False] * 2
        assert stack.enter_context(shares.question("b"))
    with shares.question("a") as again:
        assert again


def test_a_prefix_of_a_proxy_is_no_part_of_a_path() -> None:
    async def asked() -> int:
        app = FastAPI()

        @app.get("/config")
        def config() -> str:
            return "here"

        transport = httpx.ASGITransport(Gate(app, HOME), root_path="/tools/xtc")
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.get("/tools/xtc/config")).status_code

    assert asyncio.run(asked()) == 200


POLICY = "content-security-policy"

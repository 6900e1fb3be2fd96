"""Pages of other sites, open in the same browser, that try to drive a page of one's own.

As it was found: a page anywhere posted `text/plain` to the server's functions, with
`fetch(…, {mode: "no-cors"})` or a plain form, and switched the model; a name that begins with
`127.` and points here was taken for this machine; `localhost.` could be read by any page.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product

import httpx
import pytest
from playwright.sync_api import Browser, Playwright

from tests.attacks.conftest import Target
from tests.conftest import CHROMIUM

CHOOSE = ["choose_model", [{"id": "/nowhere"}]]
PUT_AWAY = ["put_away_model", []]
SERVER = "/gradio_api/component_server/"
TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "")


def component(target: Target) -> int:
    """The number of the page's component, which its configuration says."""
    config = httpx.get(f"{target.url}/config").json()
    ours = (c for c in config["components"] if c["props"].get("elem_id") == "xtc-viz")
    return int(next(ours)["id"])


def question(target: Target, name: str, values: object) -> str:
    body = {"session_hash": "abc", "component_id": component(target), "fn_name": name}
    return json.dumps({**body, "data": values})


def untouched(target: Target) -> bool:
    return target.host.resident is target.model and not target.host.load_ids


@pytest.mark.parametrize(("kind", "wish"), [*product(TYPES, (CHOOSE, PUT_AWAY))])
def test_a_simple_request_of_another_site(target: Target, kind: str, wish: list[object]) -> None:
    name, values = wish
    answer = httpx.post(
        target.url + SERVER,
        content=question(target, str(name), values),
        headers={"content-type": kind, "origin": "http://evil.example"},
    )
    assert answer.status_code == 403
    assert untouched(target)


@pytest.mark.parametrize("wish", [CHOOSE, PUT_AWAY])
def test_a_question_without_the_token(target: Target, wish: list[object]) -> None:
    name, values = wish
    body = question(target, str(name), values)
    answer = httpx.post(target.url + SERVER, content=body, headers={"content-type": JSON})
    assert answer.status_code == 403
    assert untouched(target)


@pytest.mark.parametrize(
    "name",
    ["127.evil.example", "127.0.0.1.evil.example", "localhost.", "localhost.evil.example", "1.2"],
)
def test_a_name_that_points_here(target: Target, name: str) -> None:
    for path in ("/", "/config", "/xtc_viz/start"):
        answer = httpx.get(target.url + path, headers={"host": f"{name}:{target.port}"})
        assert answer.status_code == 421
        assert "token" not in answer.text


def test_nothing_can_be_uploaded(target: Target) -> None:
    files = {"files": ("a.txt", b"x" * 100_000)}
    assert httpx.post(f"{target.url}/gradio_api/upload", files=files).status_code == 404


def test_programs_work_as_before(target: Target) -> None:
    start = f"{target.url}/gradio_api/call/v2/generate"
    event = httpx.post(start, json={"prompt": "Once", "max_new_tokens": 3}).json()["event_id"]
    with httpx.stream("GET", f"{start}/{event}", timeout=20) as answer:
        assert "event: complete" in answer.read().decode()


# In a real browser

EVIL = """<!doctype html><title>evil</title><iframe src="{url}/"></iframe><form method="post"
enctype="text/plain" action="{url}{server}" target="out"><input name='{body}' value=''></form>
<iframe name="out"></iframe><script>
const answers = {{}};
async function attempt(name, what) {{
  try {{ const a = await what(); answers[name] = a.type + " " + (await a.text()).slice(0, 90); }}
  catch (error) {{ answers[name] = "refused: " + error.message; }}
}}
window.attack = async () => {{
  const body = {quoted};
  const post = (kind, more) => fetch("{url}{server}",
    {{ method: "POST", body, headers: {{ "content-type": kind }}, ...more }});
  await attempt("no-cors", () => post("text/plain", {{ mode: "no-cors" }}));
  await attempt("json", () => post("application/json", {{}}));
  await attempt("signed", () => post("application/json", {{
    headers: {{ "content-type": "application/json", "x-xtc-viz-token": "guess" }} }}));
  await attempt("token", () => fetch("{url}/xtc_viz/start"));
  await attempt("config", () => fetch("{url}/config"));
  await attempt("page", () => fetch("{url}/"));
  document.forms[0].submit();
  try {{ answers.frame = frames[0].document.body.innerText.slice(0, 90); }}
  catch (error) {{ answers.frame = "refused: " + error.message; }}
  return answers;
}};
</script>"""


@pytest.fixture(scope="module")
def misled(playwright: Playwright) -> Iterator[Browser]:
    """A browser for which the attacker's names point to this machine."""
    rules = "MAP *.example 127.0.0.1, MAP localhost. 127.0.0.1"
    flags = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={rules}"]
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
    yield browser
    browser.close()


@contextmanager
def evil_site(page: str) -> Iterator[int]:
    """A site that shows one page at every path; yields its port."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.browser
@pytest.mark.parametrize("at", ["evil.example", "localhost", "127.0.0.1"])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "127.evil.example", "localhost."])
def test_a_page_of_another_site_in_a_real_browser(
    target: Target, misled: Browser, at: str, name: str
) -> None:
    """It sits on a foreign name, or on another port of this machine, and tries every way."""
    url = f"http://{name}:{target.port}"
    body = question(target, *CHOOSE)  # type: ignore[arg-type]
    evil = EVIL.format(url=url, server=SERVER, body=body, quoted=json.dumps(body))
    with evil_site(evil) as port:
        page = misled.new_page()
        page.goto(f"http://{at}:{port}/")
        answers = page.evaluate("attack()")
        page.wait_for_timeout(300)
        page.close()
    assert len(answers) == 7, "not all was tried"
    for way, answer in answers.items():
        assert re.search("^refused|Pages of other sites|This page does not", answer), (way, answer)
    assert untouched(target)


@pytest.mark.browser
def test_a_name_that_is_pointed_here_in_the_middle(target: Target, misled: Browser) -> None:
    """DNS rebinding: the page comes from the attacker's name, which then is this machine."""
    page = misled.new_page()
    answer = page.goto(f"http://127.evil.example:{target.port}/")
    assert answer
    assert answer.status == 421
    words = page.evaluate("fetch('/xtc_viz/start').then((a) => a.text())")
    assert "does not answer to the name" in words
    page.close()
    assert untouched(target)


JSON = "application/json"

"""The whole collection of attacks at running pages, beside a visitor who only wants to write.

    python -m tests.attacks            # all of it, at least 10,000 inputs, some minutes
    python -m tests.attacks --count 500

Two pages are attacked, each a process of its own on loopback: one of one's own by other sites, and
one for others, with limits and behind a proxy that is counted, by its visitors.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]
from playwright.sync_api import sync_playwright

from tests.attacks import browser
from tests.attacks.client import Visitor
from tests.attacks.report import LET_IN, MIXED, UNHANDLED, WORDLESS, Report
from tests.attacks.sites import KINDS, POSTS, SERVER, strangers
from tests.attacks.values import Attack, bad_values, complaint, named
from tests.attacks.visitors import request
from tests.conftest import CHROMIUM
from tests.process import Served, served

ROOT = Path(__file__).resolve().parents[2]
OWN = ("--model", "fake")
PUBLIC = (
    *("--model", "fake", "--trusted-proxies", "1", "--max-tokens", "400", "--max-lanes", "4"),
    *("--max-prompt", "4000", "--max-waiting", "8", "--max-per-visitor", "2"),
)
AT_ONCE = 6  # attackers
GHOSTS = 120
FAULTY = re.compile(r"Traceback|ERROR|failed\b")
PROMPT, TOKENS = "Once upon a time", 12


def campaign(count: int) -> Report:
    """Throw about `count` attacks at two pages and return what came of it."""
    report = Report()
    with page_of(OWN, report) as page:
        asyncio.run(_other_sites(page, count * 3 // 10, report))
    with page_of(PUBLIC, report) as page, memory_of(page, report), honest(page, report):
        asyncio.run(_visitors(page, count * 6 // 10, report))
        _in_a_browser(page, count // 10, report)
        asyncio.run(_ghosts(page, min(GHOSTS, count // 10), report))
    return report


@contextmanager
def page_of(flags: Sequence[str], report: Report) -> Iterator[Served]:
    """A page in a process of its own; what it prints of failures is in the report."""
    with served([sys.executable, "app.py", *flags], ROOT, strict=False) as page:
        yield page
    for line in page.printed:
        if FAULTY.search(line):
            report.fault(UNHANDLED, line.strip())


# Other sites


async def _other_sites(page: Served, count: int, report: Report) -> None:
    port = int(page.url.rpartition(":")[2])
    async with httpx.AsyncClient(base_url=page.url, timeout=30) as http:

        async def one(kind: str, method: str, path: str, headers: dict[str, str]) -> None:
            raw = [(name.encode(), value.encode()) for name, value in headers.items()]
            body = b"{}" if method == "POST" else None
            try:
                answer = await http.request(method, path, headers=raw, content=body)
            except httpx.HTTPError as error:
                report.fault(UNHANDLED, f"{method} {path} {headers}: {error!r}")
                return
            report.note(kind, refused=answer.status_code >= 400)
            if answer.status_code < 400:
                report.fault(LET_IN, f"{method} {path} {headers}")
            elif answer.status_code >= 500:
                report.fault(UNHANDLED, f"{answer.status_code} {method} {path} {headers}")

        await _all(
            (one("requests of other sites", *each) for each in strangers(1, count, port)), AT_ONCE
        )
        for kind in KINDS:
            await one("questions without the token", "POST", SERVER, {"content-type": kind})
        for path, pieces in product((*POSTS, "/gradio_api/reset"), (80, 2_000)):
            report.note("bodies that are too large", await _is_too_large(http, path, pieces))


async def _is_too_large(http: httpx.AsyncClient, path: str, pieces: int) -> bool:
    """Whether a body of so many megabytes, whose length nobody says, is refused on its way."""
    sent = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(pieces):
            sent += 1
            yield b"[],[]," * (2**20 // 6)

    kind = {"content-type": "application/json"}
    try:
        answer = await http.post(path, content=body(), headers=kind)
    except httpx.TransportError:  # the connection was closed in the middle
        return sent < pieces
    return answer.status_code >= 400


# Visitors


async def _visitors(page: Served, count: int, report: Report) -> None:
    async with Visitor(page.url, "203.0.113.1") as first:
        run = await first.id_of_a_run(PROMPT, TOKENS)
    attacks = list(bad_values(1, count))

    async def attacker(number: int) -> None:
        async with Visitor(page.url, f"198.51.100.{number}") as visitor:
            for attack in attacks[number::AT_ONCE]:
                await _one(visitor, Attack(attack.name, named(run, attack.data)), report)

    await asyncio.gather(*(attacker(number) for number in range(AT_ONCE)))


async def _one(visitor: Visitor, attack: Attack, report: Report) -> None:
    try:
        words = await visitor.attack(attack)
    except (httpx.HTTPError, ValueError) as error:
        report.fault(UNHANDLED, f"{attack.name} {attack.data!r:.200}: {error!r:.200}")
        return
    report.note("values of visitors", refused=bool(words))
    if words and (wrong := complaint(words)):
        report.fault(WORDLESS, f"{attack.name} {attack.data!r:.120}: {wrong}")


async def _ghosts(page: Served, count: int, report: Report) -> None:
    """Ask for runs whose stream nobody opens."""

    async def ghost(number: int) -> None:
        async with Visitor(page.url, f"192.0.2.{number}") as visitor:
            answer = await visitor.door.join(visitor.http, request(400, PROMPT))
            report.note("runs that nobody listens to", refused=answer.status_code >= 400)
            if answer.status_code >= 500 and answer.status_code != 503:
                report.fault(UNHANDLED, f"a run that nobody listens to: {answer.text[:200]}")

    await _all((ghost(number) for number in range(count)), AT_ONCE)
    await asyncio.sleep(8.0)  # the honest visitor goes on meanwhile


async def _all(every: Iterator[object], at_once: int) -> None:
    """Await all of them, so many at once."""

    async def worker() -> None:
        for each in every:
            await each  # type: ignore[misc]

    await asyncio.gather(*(worker() for _ in range(at_once)))


def _in_a_browser(page: Served, count: int, report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        browser.tokens(chromium, page.url, Path(folder), count, report)
        browser.links(chromium, page.url, max(10, count // 20), report)
        chromium.close()


# Beside it


@contextmanager
def honest(page: Served, report: Report) -> Iterator[None]:
    """A visitor who writes one short run after the other, and notes how long each takes."""

    ended = threading.Event()

    async def write() -> None:
        async with Visitor(page.url, "203.0.113.7", timeout=120.0) as visitor:
            expected = await visitor.text(PROMPT, TOKENS)
            while not ended.is_set():
                begin = time.monotonic()
                texts = await _patiently(visitor)
                report.waits.append(time.monotonic() - begin)
                if texts != expected:
                    report.fault(MIXED, f"{texts} instead of {expected}")
                await asyncio.sleep(0.3)

    def work() -> None:
        try:
            asyncio.run(write())
        except Exception as error:
            report.fault(UNHANDLED, f"the honest visitor: {error!r}")

    with _beside(work, ended):
        yield


async def _patiently(visitor: Visitor) -> list[str]:
    """The texts of a short run; who is turned away tries again in a moment."""
    while True:
        try:
            return await visitor.text(PROMPT, TOKENS)
        except RuntimeError as error:
            if "try again in a moment" not in str(error):
                raise
            await asyncio.sleep(1.0)


@contextmanager
def memory_of(page: Served, report: Report) -> Iterator[None]:
    """Watch how much memory the page and its processes take over what they had."""
    begin, ended = resident(page.pid), threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            report.memory = max(report.memory, resident(page.pid) - begin)

    with _beside(watch, ended):
        yield


@contextmanager
def _beside(work: Callable[[], None], ended: threading.Event) -> Iterator[None]:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(120)


def resident(pid: int) -> int:
    """The memory of a process and of those that it started, in bytes."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += each.memory_info().rss
    return total

"""The page in a headless Chromium, on a fake model that writes as fast as it is told.

Cold load (a fresh browser with an empty cache), bytes, the main thread's work while two lanes
stream 60 tokens/s each, and scrubbing over 1,000 tokens with the keys, one lane or two on show. The
work is the CPU time of the main thread as the DevTools protocol counts it, so that busy neighbours
hardly matter; the times of the cold load and of scrubbing are times on the wall. Needs playwright
and Chromium.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

# Read when gradio is imported: no figures are sent anywhere.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import torch
from playwright.sync_api import Browser, CDPSession, Page, Playwright, sync_playwright

from bench import chromium
from bench.timing import Result, main
from xtc_viz.models.fake import END, FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.app import build, launch_options

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
]
SIZE: Any = {"width": 1440, "height": 1000}
LOADS = 5
TOKENS = 1000
RATE = 60  # tokens/s of each of two lanes
WINDOW = 100  # tokens over which the work is averaged

# Runs before anything of the page: notes when lanes and inspector first stand, a frame later.
WATCH = """
window.firsts = {};
const marks = {
  lanes: '#lane-1 .t',
  inspector: '.inspector .content:not([data-loading]) .bars .row',
};
const look = () => {
  for (const [name, selector] of Object.entries(marks)) {
    if (name in firsts || !document.querySelector(selector)) continue;
    firsts[name] = null;
    requestAnimationFrame(() => setTimeout(() => {
      firsts[name] = performance.now() / 1000;
      if (firsts.lanes && firsts.inspector) observer.disconnect();
    }));
  }
};
const observer = new MutationObserver(look);
observer.observe(document, {childList: true, subtree: true, attributes: true});
"""
# One key a frame from the last token to the first; counts the steps that were drawn at once.
SCRUB = """async (count) => {
  const lane = document.querySelector('#lane-1');
  const content = document.querySelector('.inspector .content');
  const where = document.querySelector('.inspector h2');
  lane.focus();
  let drawn = 0, before = where.textContent;
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    await new Promise(requestAnimationFrame);
    lane.dispatchEvent(
      new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true, cancelable: true}));
    drawn += !content.hasAttribute('data-loading') && where.textContent !== before;
    before = where.textContent;
  }
  return [count / ((performance.now() - start) / 1000), drawn / count];
}"""
COUNT = """() => {
  window.counter?.disconnect();
  window.updates = 0;
  window.counter = new MutationObserver(() => { window.updates += 1; });
  window.counter.observe(document.querySelector('#lane-0'), {childList: true, subtree: true});
}"""


def measure() -> list[Result]:
    with served() as (url, model), sync_playwright() as playwright:
        loads = [cold_load(playwright, url) for _ in range(LOADS)]
        browser = start(playwright)
        visit = Visit(browser, url)
        visit.page.wait_for_selector("#lane-1 .t")
        visit.page.wait_for_timeout(2000)
        sight = len(visit.wire.hosts), visit.wire.total
        results = [*of_loads(loads), *streaming(visit, model), *scrubbing(visit)]
        strangers = visit.wire.hosts - {url.split("/")[2]}
        browser.close()
    return [
        *results[:2],
        Result("page, first sight: bytes on the wire", sight[1] / 1e6, "MB", at_most=0.8,
               detail=f"{visit.wire.requests} requests by the end"),
        *results[2:],
        Result("page, all of this: hosts asked beside the server", len(strangers), "",
               at_most=0, detail=", ".join(sorted(strangers))),
    ]  # fmt: skip


@contextmanager
def served() -> Iterator[tuple[str, FakeModel]]:
    """The page on a model whose texts end only at their length."""
    inner = FakeModel()

    def logits(ids: tuple[int, ...]) -> torch.Tensor:
        row = inner.logits(ids).clone()
        row[END] = -30.0
        return row

    model = FakeModel(logits=logits)
    page = build(ModelHost(model))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    _, url, _ = page.launch(prevent_thread_lock=True, server_port=port, **launch_options())
    try:
        yield url, model
    finally:
        page.close(verbose=False)


def start(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=chromium.PATH, args=FLAGS)


@dataclass
class Wire:
    """Bytes that came over the network, compressed as they came, and from which hosts."""

    session: CDPSession
    hosts: set[str] = field(default_factory=set)
    requests: int = 0
    _bytes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session.on("Network.requestWillBeSent", self._asked)
        self.session.on("Network.dataReceived", self._received)
        self.session.on("Network.loadingFinished", self._finished)
        self.session.send("Network.enable")

    @property
    def total(self) -> int:
        return sum(self._bytes.values())

    def _asked(self, event: dict[str, Any]) -> None:
        url = event["request"]["url"]
        if not url.startswith(("data:", "blob:")):
            self.hosts.add(url.split("/")[2])
            self.requests += 1

    def _received(self, event: dict[str, Any]) -> None:
        length = event["encodedDataLength"] or event["dataLength"]
        self._bytes[event["requestId"]] = self._bytes.get(event["requestId"], 0) + length

    def _finished(self, event: dict[str, Any]) -> None:
        self._bytes[event["requestId"]] = int(event["encodedDataLength"])


class Visit:
    """A fresh page, and what the DevTools protocol tells of it."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.page: Page = browser.new_context(viewport=SIZE).new_page()
        self.session = self.page.context.new_cdp_session(self.page)
        # CPU time of the thread in place of time on the wall, for scripts, layout and style too.
        self.session.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
        self.session.send("Performance.enable")
        self.wire = Wire(self.session)
        self.page.add_init_script(WATCH)
        self.page.goto(url)

    def work(self) -> Work:
        """The main thread's work so far."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        values = {metric["name"]: float(metric["value"]) for metric in metrics}
        names = ("ThreadTime", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
        return Work(time.perf_counter(), *(values[name] for name in names))


@dataclass(frozen=True, slots=True)
class Work:
    """Seconds: the time on the wall, and how much of it the main thread has worked, and at what."""

    wall: float
    task: float
    script: float
    layout: float
    style: float

    def since(self, before: Work) -> Work:
        return Work(*(getattr(self, n) - getattr(before, n) for n in self.__slots__))

    def per(self, count: float) -> str:
        """In milliseconds of each of `count` updates or steps."""
        script, layout, style = (1e3 * s / count for s in (self.script, self.layout, self.style))
        return f"script {script:.1f}, layout {layout:.1f}, style {style:.1f} ms"


def cold_load(playwright: Playwright, url: str) -> tuple[float, float, float]:
    """Return seconds to the lanes and to the inspector, and the main thread's work until then."""
    browser = start(playwright)
    visit = Visit(browser, url)
    visit.page.wait_for_function("firsts.lanes && firsts.inspector")
    firsts = visit.page.evaluate("firsts")
    work = visit.work().task
    browser.close()
    return firsts["lanes"], firsts["inspector"], work


def of_loads(loads: Sequence[tuple[float, float, float]]) -> list[Result]:
    lanes, inspector, work = zip(*loads, strict=True)
    return [
        Result(f"page, cold load: {name}", median(times), "s", at_most=limit,
               detail=f"worst of {len(times)} {max(times):.2f} s; main thread {median(work):.2f} s")
        for name, times, limit in (("lanes usable", lanes, 1), ("inspector ready", inspector, 1.5))
    ]  # fmt: skip


def streaming(visit: Visit, model: FakeModel) -> list[Result]:
    """Stream a run of two lanes, and look at its work near 100 and near 1,000 tokens."""
    page, before = visit.page, visit.wire.total
    model.delay = 1 / RATE - 0.002  # what a step takes beside
    # Without a cutoff every step has ten bars and more.
    page.get_by_label("Base for all lanes").select_option(label="plain sampling")
    page.locator(".extras summary").click()
    page.fill(".composer [data-field=max_new_tokens]", str(TOKENS))
    page.get_by_role("button", name="Generate", exact=True).click()
    page.wait_for_selector(".composer[data-phase=writing]")
    results = []
    for middle in (100, TOKENS - WINDOW):
        reached(page, middle - WINDOW // 2)
        page.evaluate(COUNT)
        begin, tokens = visit.work(), page.locator("#lane-0 .t").count()
        reached(page, middle + WINDOW // 2)
        spent, updates = visit.work().since(begin), page.evaluate("updates")
        rate = (page.locator("#lane-0 .t").count() - tokens) / spent.wall
        share = spent.task / spent.wall
        where = f"page, streaming two lanes at {middle} tokens"
        results += [
            # Where the machine is too busy to write at the full rate, the share is scaled to it.
            Result(f"{where}, {RATE} tokens/s: main thread", 100 * share * max(1, RATE / rate), "%",
                   at_most=20, detail=f"here {share:.0%} at {rate:.0f} tokens/s"),
            Result(f"{where}: an update's work", 1e3 * spent.task / updates, "ms",
                   detail=f"{updates / spent.wall:.0f} updates/s; {spent.per(updates)}"),
        ]  # fmt: skip
    page.wait_for_selector(".xtc[data-done='1']", timeout=60_000)
    tokens = page.locator(".lane .t").count()
    assert tokens == 2 * TOKENS
    each = (visit.wire.total - before) / tokens
    return [*results, Result("page: bytes on the wire for each streamed token", each, "B")]


def reached(page: Page, tokens: int) -> None:
    # Now and then: by default playwright looks at every frame, and so has every frame drawn.
    page.wait_for_function(
        "(n) => document.querySelectorAll('#lane-0 .t').length >= n",
        arg=tokens,
        polling=200,
        timeout=120_000,
    )


def scrubbing(visit: Visit) -> list[Result]:
    """Walk with the keys from the last token to the first, fetching what is met on the way."""
    return [*_scrub(visit, "one lane"), *_scrub(visit, "two lanes side by side", "b")]


def _scrub(visit: Visit, view: str, key: str | None = None) -> list[Result]:
    page = visit.page
    page.locator("#lane-1 .t").last.click()
    if key:
        page.keyboard.press(key)
    page.wait_for_function("!document.querySelector('.inspector .content[data-loading]')")
    page.wait_for_timeout(1000)
    begin = visit.work()
    rate, drawn = page.evaluate(SCRUB, TOKENS - 1)
    spent = visit.work().since(begin)
    each = 1e3 * spent.task / (TOKENS - 1)
    return [
        Result(f"page, scrubbing 1,000 tokens, {view}: steps", rate, "/s", at_least=55,
               detail=f"one key a frame, {drawn:.1%} drawn within its frame"),
        Result(f"page, scrubbing, {view}: a step's work", each, "ms",
               detail=spent.per(TOKENS - 1)),
    ]  # fmt: skip


if __name__ == "__main__":
    main(measure, __doc__)

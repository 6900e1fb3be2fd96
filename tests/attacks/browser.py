"""Injections in a real Chromium: in every text of a run, in prompts, links, replays and figures."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.attacks.injections import injections, trace_of
from tests.attacks.report import FOREIGN, SCRIPTS, Report
from tests.browser.driver import keep_file

A_TRACE = 200  # injections
STEPS = 20  # looked at in each
WATCH = """
window.__ran = [];
window.xtcRan = () => window.__ran.push("called");
document.addEventListener("securitypolicyviolation", (event) => {
  if (event.violatedDirective.startsWith("script")) window.__ran.push("stopped by the policy");
});
"""


@contextmanager
def watched(browser: Browser, home: str, report: Report) -> Iterator[Page]:
    """A page that notes every script that would run, every dialog and every foreign request."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.on("dialog", lambda dialog: report.fault(SCRIPTS, f"dialog {dialog.message}"))
    page.on("pageerror", lambda error: report.fault(SCRIPTS, f"page error {error}"))
    page.on("popup", lambda popup: report.fault(SCRIPTS, f"popup {popup.url}"))

    def asked(url: str) -> None:
        if not url.startswith((home, "data:", "blob:", "file:")):
            report.fault(FOREIGN, url)

    page.on("request", lambda request: asked(request.url))
    yield page
    for ran in page.evaluate("window.__ran"):
        report.fault(SCRIPTS, str(ran))
    context.close()


def tokens(browser: Browser, url: str, folder: Path, count: int, report: Report) -> None:
    """Open traces that are full of injections, look around in them, and keep what they become."""
    texts = injections(1, count)
    for begin in range(0, count, A_TRACE):
        some = texts[begin : begin + A_TRACE]
        path = folder / "trace.json"
        path.write_text(trace_of(some), encoding="utf-8")
        with watched(browser, url, report) as page:
            page.goto(url)
            page.set_input_files("input[type=file]", path)
            expect(page.locator("#lane-0 .t")).to_have_count(len(some) // 2)
            page.locator("#lane-1 .t").first.click()
            for _ in range(STEPS):
                page.keyboard.press("ArrowRight")
            page.keyboard.press("b")
            page.keyboard.press("ArrowRight")
            replay = keep_file(page, "Replay to open offline", folder)
        with watched(browser, "file:", report) as page:
            page.goto(replay.as_uri())
            expect(page.locator("#lane-0 .t")).to_have_count(len(some) // 2)
            page.locator("#lane-0 .t").nth(3).click()
            page.keyboard.press("ArrowRight")
        for _ in some:
            report.note("injections in a run", refused=False)


def links(browser: Browser, url: str, count: int, report: Report) -> None:
    """Open links that were made by hand, and make a run after each."""
    for link in bad_links(2, count):
        with watched(browser, url, report) as page:
            page.goto(f"{url}/{link}")
            page.wait_for_selector(".xtc .composer", state="attached")
            expect(page.locator(".lanes")).to_be_visible()
            report.note("links", refused=bool(page.get_by_test_id("error").inner_text()))


def bad_links(seed: int, count: int) -> Iterator[str]:
    """Yield links whose request is broken, of other kinds, or full of injections."""
    dice = random.Random(seed)
    texts = injections(seed, 50)
    for _ in range(count):
        text = dice.choice(texts)
        draft: Any = dice.choice(
            (
                None, 7, [], {}, {"prompt": text}, {"prompt": text, "settings": {"lanes": []}},
                {"prompt": text, "settings": {"lanes": [{"name": text, "sampler": {}}]}},
                {"prompt": {"a": text}, "settings": {"lanes": [None]}},
                {"prompt": text, "settings": {"lanes": [{}] * 50, "seed": text}},
            )
        )  # fmt: skip
        request = {"v": dice.choice((1, 1, 1, 2, "1")), "draft": draft, "selected": text}
        whole = base64.urlsafe_b64encode(json.dumps(request).encode()).decode().rstrip("=")
        cut = whole[: dice.randrange(len(whole))]
        yield "#run=" + dice.choice((whole, whole, cut, "garbage", "%00", text.replace("\x00", "")))

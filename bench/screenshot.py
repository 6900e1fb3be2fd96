"""Take the README's picture from the real page: a run of the story model, one token chosen.

Needs the development requirements and Chromium; writes assets/screenshot.png.
"""

from __future__ import annotations

import socket

from playwright.sync_api import sync_playwright

from bench import chromium
from tests.browser import driver
from xtc_viz.assets import STORY_MODEL, asset
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local.model import LocalModel
from xtc_viz.ui.app import build, launch_options

PICTURE = asset("screenshot.png")
PROMPT = "Once upon a time"


def main() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    blocks = build(ModelHost(LocalModel.load(str(STORY_MODEL))))
    _, url, _ = blocks.launch(prevent_thread_lock=True, server_port=port, **launch_options())
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium.PATH, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
            page.goto(url)
            page.wait_for_selector(".xtc .composer")
            page.locator("[data-field=seed]").fill("51")
            driver.run(page, PROMPT, 150)
            page.locator("#lane-1 .t.changed").first.click()
            driver.inspector(page)
            page.mouse.move(0, 0)
            page.wait_for_timeout(600)  # what moves has come to rest
            page.screenshot(path=PICTURE)
            browser.close()
    finally:
        blocks.close(verbose=False)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()

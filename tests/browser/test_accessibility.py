"""axe-core finds nothing to complain about in any state of the page, light and dark, wide and
narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, Server, Visit, free_port, serve
from tests.browser.driver import chips, finished, generate, inspector, run, setting, unfold, writing
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.access import May
from xtc_viz.ui.app import launch_options
from xtc_viz.ui.playground import build_playground, script_of
from xtc_viz.ui.refusals import Page as Blocks
from xtc_viz.ui.service import Service

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations.map(
  (v) => [v.id, v.help, v.nodes.map((n) => `${n.target.join(' ')}  ${n.any.concat(n.all, n.none)
    .map((check) => check.message).join('; ')}`)])"""
LOOKS = [
    pytest.param(dark, width, id=f"{'dark' if dark else 'light'}-{width}")
    for dark in (False, True)
    for width in (1440, 390)
]


@cache
def axe() -> str:
    if not AXE.is_file():
        pytest.fail(f"{AXE.relative_to(ROOT)} is missing: `make test` (or `npm install`) gets it")
    return AXE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe finds now, a line for each element; animations are let come to their end."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe())
    page.evaluate("Promise.all(document.getAnimations().map((a) => a.finished.catch(() => 0)))")
    return [
        f"{rule} ({words}): {node}" for rule, words, nodes in page.evaluate(RUN) for node in nodes
    ]


@pytest.fixture
def look(visit: Visit) -> Callable[..., Page]:
    """Open a page in light or dark, wide or narrow."""

    def open_page(server: Server, dark: bool, width: int) -> Page:
        scheme = "dark" if dark else "light"
        page = visit(server, width=width, height=900, color_scheme=scheme, reduced_motion="reduce")
        page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
        return page

    return open_page


Look = Callable[..., Page]


@pytest.fixture(scope="module")
def bare() -> Iterator[Server]:
    """A page without a recorded run: nothing to look at yet."""
    host = ModelHost(FakeModel())
    script = script_of()
    blocks = Blocks(title="xtc_viz", analytics_enabled=False, fill_width=True)
    blocks.scripts = {"": script}
    with blocks:
        build_playground(Service(host), script)
    _, url, _ = blocks.launch(prevent_thread_lock=True, server_port=free_port(), **launch_options())
    yield Server(url, host, None)
    blocks.close(verbose=False)


def test_what_is_wrong_would_be_found(look: Look, fake: Server) -> None:
    page = look(fake, False, 1440)
    page.evaluate("document.querySelector('.lane').append(document.createElement('button'))")
    page.evaluate("document.querySelector('.lane h2').style.color = '#eeeeee'")
    found = "\n".join(violations(page))
    assert "button-name" in found
    assert "color-contrast" in found


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_at_first(look: Look, bare: Server, fake: Server, dark: bool, width: int) -> None:
    page = look(bare, dark, width)
    expect(page.locator(".xtc[data-empty]")).to_be_attached()
    assert violations(page) == []
    page = look(fake, dark, width)
    inspector(page)  # of the recorded run
    assert violations(page) == []


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_during_a_run_and_after_it(look: Look, fake: Server, dark: bool, width: int) -> None:
    page = look(fake, dark, width)
    fake.model.delay = 0.3
    generate(page, "Once upon", length=200)
    writing(page, 3)
    assert violations(page) == []
    page.keyboard.press("Escape")
    finished(page)
    fake.model.delay = 0.0
    run(page, length=60)
    chips(page, 1).nth(5).click()
    shown = inspector(page)
    for summary in shown.locator("summary").all():
        summary.click()
    assert violations(page) == []
    for _ in range(5):
        page.keyboard.press("c")
        assert violations(page) == []


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_when_something_is_wrong(look: Look, fake: Server, dark: bool, width: int) -> None:
    page = look(fake, dark, width)
    setting(page, "tau", "3")
    generate(page, "Something")
    expect(page.get_by_text("τ floor must be in (0, 1), but is 3")).to_be_visible()
    assert violations(page) == []
    setting(page, "tau", "0.7")
    page.fill("#prompt", "")
    generate(page)
    expect(page.get_by_test_id("error")).to_have_text("Type a beginning first.")
    assert violations(page) == []


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_with_everything_open(look: Look, fake: Server, dark: bool, width: int) -> None:
    page = look(fake, dark, width)
    unfold(page)
    # The menus and More lie over the page, one at a time.
    over = "summary:is(.menu > *, .extras > *)"
    for summary in page.locator(f"summary:not({over.removeprefix('summary')}):visible").all():
        if summary.evaluate("(node) => !node.parentElement.open"):
            summary.click()
    assert violations(page) == []
    for summary in page.locator(f"{over}:visible").all():
        summary.click()
        assert violations(page) == []
        summary.click()
    page.locator(".lane-chips button").first.click()
    expect(page.locator("dialog.editor")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator("#lane-1").focus()
    page.keyboard.press("?")
    expect(page.locator("dialog.help")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize(("dark", "width"), [*LOOKS, (False, 1024)])
def test_what_if_and_step_by_step(look: Look, fake: Server, dark: bool, width: int) -> None:
    page = look(fake, dark, width)
    run(page, "Once upon", length=30)
    setting(page, "tau", "0.3")
    setting(page, "rho", "1")
    expect(page.locator(".t.imagined").first).to_be_attached()
    assert violations(page) == []
    run(page)
    page.locator("#lane-1").focus()
    page.keyboard.press("s")
    assert violations(page) == []
    page.keyboard.press("s")
    assert violations(page) == []


@pytest.fixture(scope="module")
def choosing() -> Iterator[Server]:
    yield from serve(FakeModel(), may=May.ALL)


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_the_models(look: Look, choosing: Server, fake: Server, dark: bool, width: int) -> None:
    page = look(choosing, dark, width)
    page.get_by_test_id("model").get_by_role("button").click()
    dialog = page.get_by_role("dialog", name="Choose a model")
    expect(dialog.locator("li").first).to_be_visible()
    dialog.locator("summary").click()
    assert violations(page) == []
    dialog.get_by_label("Hub id or folder").fill("/nowhere")
    dialog.locator(".free").get_by_role("button", name="Load").click()
    expect(page.get_by_test_id("model-wrong")).to_contain_text("There is no folder")
    assert violations(page) == []
    page = look(fake, dark, width)
    page.get_by_test_id("model").get_by_role("button").click()
    expect(page.get_by_role("dialog", name="The model")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_two_lanes_side_by_side(look: Look, fake: Server, dark: bool, width: int) -> None:
    page = look(fake, dark, width)
    inspector(page)  # of the recorded run
    page.get_by_role("button", name="Beside Baseline").click()
    expect(page.get_by_test_id("pair")).to_be_attached()
    for summary in inspector(page).locator("summary").all():
        summary.click()
    assert violations(page) == []
    page.locator("#lane-1").focus()
    page.keyboard.press("s")
    page.keyboard.press("s")
    expect(page.locator(".bars .head.own")).to_have_text("XTC")
    assert violations(page) == []

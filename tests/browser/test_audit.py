"""The audit in the model's dialog, with a real server of llama.cpp behind the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.test_accessibility import LOOKS, Look, look, violations
from tests.browser.test_models import picker
from tests.models.remote.llama import serving, write_story_model
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import LoaderByKind
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.remote.loader import RemoteLoader
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.ui.access import May

__all__ = ["look"]  # a fixture
pytestmark = pytest.mark.engines

LONG = 120_000  # milliseconds


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(write_story_model(tmp_path_factory.mktemp("gguf") / "story.gguf")) as where:
        yield where


def host(address: str) -> ModelHost:
    loader = LoaderByKind({LocalSpec: LocalLoader(), RemoteSpec: RemoteLoader()})
    return ModelHost(RemoteModel.connect(address), loader)


@pytest.fixture
def remote(address: str, visit: Visit) -> Iterator[Server]:
    """A page of one's own on a server's model."""
    own = host(address)
    for server in serve(own.resident, own, May.OWN):
        yield server
        visit.leave()


def section(page: Page) -> Locator:
    return picker(page).get_by_role("region", name="Audit")


def said(audit: Locator) -> Locator:
    return audit.get_by_test_id("audit-said")


def stop(audit: Locator) -> None:
    """Stop it and wait for its end, so that nothing is asked of a server that ends."""
    audit.get_by_role("button", name="Stop").click()
    expect(audit.get_by_role("button", name="Audit")).to_be_visible(timeout=LONG)


def test_it_grows_and_says_what_it_found(
    remote: Server, visit: Visit, keep: Callable[..., None]
) -> None:
    page = visit(remote)
    audit = section(page)
    audit.get_by_label("ρ that").fill("1")
    audit.get_by_role("button", name="Audit").click()
    expect(audit.get_by_role("button", name="Stop")).to_be_visible()
    expect(said(audit)).to_contain_text("XTC acts with ρ = 1.00", timeout=LONG)
    expect(audit.get_by_role("button", name="Audit")).to_be_visible(timeout=LONG)
    expect(said(audit)).to_contain_text("before temperature, as it was asked to: ρ = 1 at τ = 0.1.")
    keep(page, "found", full=False)
    page.keyboard.press("Escape")
    expect(said(section(page))).to_contain_text("before temperature")


def test_it_can_be_stopped_and_started_again(remote: Server, visit: Visit) -> None:
    page = visit(remote)
    audit = section(page)
    audit.get_by_role("button", name="Audit").click()
    expect(said(audit)).to_contain_text("not clear yet", timeout=LONG)
    audit.get_by_role("button", name="Stop").click()
    expect(said(audit)).to_contain_text("Stopped.", timeout=LONG)
    expect(said(audit)).to_contain_text("more would tell")
    audit.get_by_role("button", name="Audit").click()
    expect(said(audit)).not_to_contain_text("Stopped.")
    stop(audit)


def test_its_dice(remote: Server, visit: Visit, keep: Callable[..., None]) -> None:
    audit = section(visit(remote))
    audit.get_by_role("button", name="Its dice").click()
    expect(said(audit)).to_contain_text("its coin is the number that drew", timeout=LONG)
    expect(audit.get_by_role("button", name="Its dice")).to_be_visible(timeout=LONG)
    picture = audit.get_by_test_id("audit-dice")
    expect(picture.locator("tbody tr")).to_have_count(12)
    expect(picture.locator("line")).to_have_count(6)  # tokens 2, 4, … 12
    picture.scroll_into_view_if_needed()
    keep(audit.page, "dice", full=False)


def test_what_cannot_be_asked_is_said(remote: Server, visit: Visit) -> None:
    audit = section(visit(remote))
    for value, words in (("0.7", "[0.001, 0.5]"), ("", "a number")):
        audit.get_by_label("τ that").fill(value)
        audit.get_by_role("button", name="Audit").click()
        expect(audit.get_by_role("alert")).to_contain_text(words)
        expect(audit.get_by_role("button", name="Audit")).to_be_visible()


def test_a_model_of_this_process_has_none(visit: Visit) -> None:
    for server in serve(FakeModel(), may=May.OWN):
        dialog = picker(visit(server))
        expect(dialog.get_by_role("region", name="Audit")).to_be_hidden()
        visit.leave()


def test_where_the_model_is_fixed_there_is_none(address: str, visit: Visit) -> None:
    own = host(address)
    for server in serve(own.resident, own, May.FIXED):
        page = visit(server)
        page.get_by_test_id("model").get_by_role("button").click()
        dialog = page.get_by_role("dialog", name="The model")
        expect(dialog.get_by_text("cannot be changed")).to_be_visible()
        expect(dialog.get_by_role("region", name="Audit")).to_be_hidden()
        visit.leave()


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_axe_finds_nothing(
    look: Look, remote: Server, dark: bool, width: int, keep: Callable[..., None]
) -> None:
    page = look(remote, dark, width)
    audit = section(page)
    audit.get_by_role("button", name="Audit").click()
    expect(said(audit)).to_contain_text("not clear yet", timeout=LONG)
    assert violations(page) == []
    keep(page, f"{'dark' if dark else 'light'}-{width}", full=False)
    needed, there = audit.evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert needed <= there
    stop(audit)

"""A run that the model's server draws, with a real server of llama.cpp behind the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.driver import chips, keep_file, more, run, unfold
from tests.browser.test_accessibility import LOOKS, Look, look, violations
from tests.models.remote.llama import serving, write_story_model
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import LoaderByKind
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.remote.loader import RemoteLoader
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.records import tracefile

__all__ = ["look"]  # a fixture
pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = write_story_model(tmp_path_factory.mktemp("gguf") / "story.gguf")
    with serving(path) as where:
        loader = LoaderByKind({LocalSpec: LocalLoader(), RemoteSpec: RemoteLoader()})
        host = ModelHost(RemoteModel.connect(where), loader)
        yield from serve(host.resident, host)


def let_the_server_draw(page: Page) -> None:
    unfold(page)
    page.get_by_label("Drawn by").select_option("server")


def test_every_step_can_be_looked_at_and_the_trace_says_who_drew(
    remote: Server, visit: Visit, keep: Callable[..., None], tmp_path: Path
) -> None:
    page = visit(remote)
    let_the_server_draw(page)
    run(page, "Once upon a time", 30)
    expect(page.get_by_test_id("dice")).to_contain_text("Drawn by the model's server")
    chips(page, 1).nth(5).click()
    inspector = page.get_by_test_id("inspector")
    expect(inspector).to_contain_text("token 6")
    expect(inspector.get_by_role("img", name="Probabilities before and after")).to_be_visible()
    keep(page, "run", full=False)
    # No other word, no more tokens and no other settings: its dice cannot be taken up.
    expect(page.get_by_test_id("fork")).to_contain_text("it takes no other word")
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Strong", exact=True).click()
    expect(page.get_by_test_id("note")).to_contain_text("press Generate")
    expect(page.get_by_test_id("what-if")).to_be_hidden()
    trace = tracefile.load(keep_file(page, "Trace (JSON)", tmp_path))
    assert trace.settings.server_draws
    assert [len(lane.steps) for lane in trace.lanes] == [30, 30]


def test_its_dice_stand_beside_it(remote: Server, visit: Visit, keep: Callable[..., None]) -> None:
    page = visit(remote)
    let_the_server_draw(page)
    run(page, "Once upon a time", 30)
    chips(page, 1).first.click()
    page.get_by_text("The server's dice").click()
    dice = page.get_by_test_id("dice-of-lane")
    expect(dice.locator("tbody tr")).to_have_count(16)
    links = dice.locator("line").count()
    assert 1 <= links <= 8
    expect(dice.get_by_text("the draw of token")).to_have_count(links)
    dice.scroll_into_view_if_needed()
    keep(page, "dice", full=False)
    chips(page, 0).first.click()
    expect(dice).to_contain_text("tossed no coin")


def test_what_the_server_cannot_draw_is_said(remote: Server, visit: Visit) -> None:
    page = visit(remote)
    let_the_server_draw(page)
    more(page)
    page.locator(".composer [data-field=temperature]").fill("0")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.locator(".composer").get_by_text("must be above 0")).to_be_visible()


def test_a_model_of_this_process_is_drawn_here_alone(visit: Visit) -> None:
    for server in serve(FakeModel()):
        page = visit(server)
        run(page, "Once", 5)
        unfold(page)
        expect(page.get_by_label("Drawn by")).to_be_hidden()
        expect(page.get_by_text("The server's dice")).to_be_hidden()
        visit.leave()


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_axe_finds_nothing(
    look: Look, remote: Server, dark: bool, width: int, keep: Callable[..., None]
) -> None:
    page = look(remote, dark, width)
    let_the_server_draw(page)
    run(page, "Once upon a time", 24)
    chips(page, 1).nth(1).click()
    page.get_by_text("The server's dice").click()
    dice = page.get_by_test_id("dice-of-lane")
    expect(dice.locator("tbody tr")).to_have_count(16)
    dice.scroll_into_view_if_needed()
    assert violations(page) == []
    keep(page, f"{'dark' if dark else 'light'}-{width}", full=False)
    needed, there = dice.evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert needed <= there

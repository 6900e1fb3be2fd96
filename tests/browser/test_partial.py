"""A model that shows only its most probable tokens: the page says what is a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.driver import chips, inspector, plain, run
from xtc_viz.models.fake import FakeModel


@pytest.fixture(scope="module")
def partly() -> Iterator[Server]:
    yield from serve(FakeModel(candidates=12))


def test_a_run_that_is_seen_in_part_says_so(
    partly: Server, visit: Visit, keep: Callable[..., None]
) -> None:
    page = visit(partly)
    plain(page)
    run(page, "Once upon", 40)
    expect(page.get_by_text("seen in part").first).to_be_visible()
    chips(page, 1).nth(3).click()
    notes = inspector(page).locator(".notes .note")
    expect(notes.filter(has_text="most probable words")).to_have_count(1)
    keep(page, "inspector")

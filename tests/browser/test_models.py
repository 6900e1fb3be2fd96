"""The model picker: choose, watch it load, stop it, hear what went wrong, put away, come back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.driver import chips, finished, generate, run, writing
from tests.models import tiny
from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import Progress
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.spec import ModelSpec
from xtc_viz.ui.access import May

Keep = Callable[..., None]

LOADED = 120_000  # ms for a model from a folder, whose files another process looks at first


class Slow(LocalLoader):
    """The real loader, held up at 42 % of a download for as long as a test wants."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LocalModel]:
        while not self.go.wait(0.02):
            progress(f"downloading {spec.short_name}", 0.42)
        return super().fetch(spec, progress)


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.go.set()


@pytest.fixture
def choosing(slow: Slow, visit: Visit) -> Iterator[Server]:
    """A page on the fake model where any other one may be chosen."""
    model = FakeModel()
    for server in serve(model, ModelHost(model, slow), May.ALL):
        yield server
        visit.leave()


@pytest.fixture
def own(visit: Visit) -> Iterator[Server]:
    """A page as `python app.py` makes it for this machine."""
    for server in serve(FakeModel(), may=May.OWN):
        yield server
        visit.leave()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_model("llama", tmp_path_factory.mktemp("own") / "tiny-llama")


def picker(page: Page) -> Locator:
    """Open the dialog, and wait for its list."""
    page.get_by_test_id("model").get_by_role("button").click()
    found = page.get_by_role("dialog", name="Choose a model")
    expect(found.locator("li").first).to_be_visible()
    return found


def load(dialog: Locator, what: object) -> None:
    dialog.get_by_label("Hub id or folder").fill(str(what))
    dialog.locator(".free").get_by_role("button", name="Load").click()


def close(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_the_story_of_choosing_a_model(
    visit: Visit, choosing: Server, slow: Slow, folder: Path, tmp_path: Path, keep: Keep
) -> None:
    page = visit(choosing)
    other, third = visit(choosing), visit(choosing)
    expect(third.get_by_test_id("model")).to_contain_text("fake")
    head = page.get_by_test_id("model")
    expect(head).to_contain_text("fake")
    run(page, "Once", length=6)
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_visible()

    # A tiny model from a folder; the download is slow enough to be seen.
    slow.go.clear()
    dialog = picker(page)
    load(dialog, folder)
    expect(dialog.locator(".loading")).to_contain_text("Downloading tiny-llama · 42 %")
    expect(dialog.locator("progress")).to_have_attribute("value", "0.42")
    expect(head).to_contain_text("fake · Downloading tiny-llama · 42 %")
    expect(dialog.locator("li").first.get_by_role("button")).to_be_disabled()
    keep(page, "loading", full=False)
    slow.go.set()
    expect(page.get_by_test_id("model-said")).to_have_text(
        "tiny-llama is loaded and in use.", timeout=LOADED
    )
    expect(dialog.locator(".now")).to_have_text("tiny-llama in use")
    close(dialog)
    expect(head).to_contain_text("tiny-llama")
    # What the former model wrote stays, and cannot be gone on with.
    assert chips(page, 0).count() == 6
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_hidden()
    # The composer has learnt that this one knows a chat.
    page.locator(".extras summary").click()
    expect(page.get_by_label("Chat template")).to_be_visible()
    run(page, "Once", length=5)
    assert chips(page, 1).count() == 5
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_visible()

    # Other sessions learn of it when someone looks at their page again, or from a run.
    third.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(third.get_by_test_id("model")).to_contain_text("tiny-llama")
    expect(other.get_by_test_id("model")).to_contain_text("fake")
    run(other, "Once", length=4)
    expect(other.get_by_test_id("origin")).to_have_text(
        "Written by tiny-llama, which was loaded meanwhile."
    )
    expect(other.get_by_test_id("model")).to_contain_text("tiny-llama")

    # A broken folder.
    broken = tmp_path / "broken"
    broken.mkdir()
    dialog = picker(page)
    load(dialog, broken)
    wrong = page.get_by_test_id("model-wrong")
    expect(wrong).to_have_text(
        "broken is no model folder: it has no config.json. tiny-llama stays in use."
    )
    keep(page, "broken", full=False)

    # A load that is stopped.
    slow.go.clear()
    dialog.get_by_role("button", name="Load story-model").click()
    expect(wrong).to_be_empty()
    dialog.get_by_role("button", name="Stop").click()
    expect(page.get_by_test_id("model-said")).to_have_text(
        "Loading story-model was stopped. tiny-llama stays in use."
    )
    slow.go.set()

    # Put away, and back with the next run.
    dialog.get_by_role("button", name="Put away").click()
    expect(dialog.locator(".about")).to_contain_text("It rests")
    expect(dialog.get_by_role("button", name="Put away")).to_be_hidden()
    keep(page, "resting", full=False)
    close(dialog)
    expect(head).to_contain_text("tiny-llama · resting")
    run(page, "Once", length=3)
    assert chips(page, 0).count() == 3
    expect(head).not_to_contain_text("resting")


def test_a_load_during_a_run_waits_for_it_and_the_run_goes_on(
    visit: Visit, choosing: Server, folder: Path
) -> None:
    choosing.model.delay = 0.05
    writer, chooser = visit(choosing), visit(choosing)
    generate(writer, "Once", length=3000)
    writing(writer)
    dialog = picker(chooser)
    load(dialog, folder)
    expect(dialog.locator(".loading")).to_contain_text(
        "waiting for the model to be free", timeout=LOADED
    )
    dialog.get_by_role("button", name="Stop").click()
    expect(chooser.get_by_test_id("model-said")).to_contain_text("fake stays in use")
    expect(writer.locator(".composer[data-phase=writing]")).to_be_attached()
    load(dialog, folder)
    expect(dialog.locator(".loading")).to_contain_text(
        "waiting for the model to be free", timeout=LOADED
    )
    writer.keyboard.press("Escape")
    finished(writer)
    assert chips(writer, 0).count() > 0
    expect(chooser.get_by_test_id("model-said")).to_have_text(
        "tiny-llama is loaded and in use.", timeout=LOADED
    )


def test_two_choose_at_once_and_each_stops_its_own(
    visit: Visit, choosing: Server, slow: Slow, folder: Path
) -> None:
    slow.go.clear()
    first, second = visit(choosing), visit(choosing)
    one, two = picker(first), picker(second)
    load(one, folder)
    expect(one.locator(".loading")).to_contain_text("42 %")
    two.get_by_role("button", name="Load story-model").click()
    expect(two.locator(".loading")).to_contain_text(
        "story-model waits: another model is being loaded first."
    )
    two.get_by_role("button", name="Stop").click()
    expect(second.get_by_test_id("model-said")).to_contain_text("story-model was stopped")
    expect(one.locator(".loading")).to_contain_text("42 %")
    slow.go.set()
    expect(first.get_by_test_id("model-said")).to_have_text(
        "tiny-llama is loaded and in use.", timeout=LOADED
    )
    expect(second.get_by_test_id("model")).to_contain_text("tiny-llama")


def test_the_list_is_narrowed_by_typing_and_by_the_keyboard_alone(
    visit: Visit, choosing: Server
) -> None:
    page = visit(choosing)
    page.get_by_test_id("model").get_by_role("button").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Choose a model")
    search = dialog.get_by_label("Find a model")
    expect(search).to_be_focused()
    rows = dialog.locator("li:visible")
    expect(rows.first).to_contain_text("story-model")
    whole = rows.count()
    page.keyboard.type("qwen chat")
    expect(rows.first).to_contain_text("Qwen3-0.6B")
    assert 3 < rows.count() < whole
    search.fill("nemo base")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("may ask for consent first")
    search.fill("no such thing")
    expect(dialog.locator(".none")).to_be_visible()
    search.fill("70b")
    expect(rows).to_contain_text("does not fit")
    expect(rows.get_by_role("button")).to_have_count(0)
    before = rows.locator(".need").inner_text()
    dialog.get_by_label("Precision").select_option("bfloat16")
    expect(rows.locator(".need")).not_to_have_text(before)
    page.keyboard.press("Escape")  # empties a search first, as everywhere
    expect(rows).to_have_count(whole)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_test_id("model").get_by_role("button")).to_be_focused()


@pytest.fixture
def story_of_choice(visit: Visit) -> Iterator[Server]:
    for server in serve(LocalModel.load(str(STORY_MODEL)), may=May.ALL):
        yield server
        visit.leave()


def test_a_model_in_use_is_loaded_anew_only_in_another_way(
    visit: Visit, story_of_choice: Server
) -> None:
    dialog = picker(visit(story_of_choice))
    used = dialog.locator("li[data-used]")
    expect(used).to_contain_text("story-model")
    expect(used).to_contain_text("in use")
    expect(used.get_by_role("button")).to_have_count(0)
    dialog.get_by_label("Precision").select_option("bfloat16")
    expect(used.get_by_role("button", name="Load anew story-model")).to_be_visible()
    dialog.get_by_label("Precision").select_option("auto")
    expect(used.get_by_role("button")).to_have_count(0)
    assert "ight" not in (dialog.locator(".memory").text_content() or "")


def test_a_fixed_server_only_tells_about_its_model(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.get_by_test_id("model").get_by_role("button").click()
    dialog = page.get_by_role("dialog", name="The model")
    expect(dialog).to_contain_text("fake in use")
    expect(dialog).to_contain_text("cannot be changed")
    expect(dialog.locator("li, .free:visible, .how:visible")).to_have_count(0)


def test_a_page_of_ones_own_is_closed_to_who_comes_through_a_proxy(
    visit: Visit, own: Server
) -> None:
    page = visit(own)
    picker(page)
    far = visit(own, extra_http_headers={"X-Forwarded-For": "192.0.2.7"})
    far.get_by_test_id("model").get_by_role("button").click()
    expect(far.get_by_role("dialog", name="The model")).to_contain_text("cannot be changed")


def test_a_folder_is_asked_for_with_an_address_on_a_page_of_ones_own(
    visit: Visit, own: Server, choosing: Server
) -> None:
    for server, asked in ((own, True), (choosing, False)):
        dialog = picker(visit(server))
        tokenizer = dialog.get_by_label("Folder of the tokenizer")
        expect(tokenizer).to_be_hidden()
        dialog.get_by_label("Hub id or folder, or address").fill("http://127.0.0.1:9")
        expect(dialog.get_by_label("Key of the server")).to_be_visible()
        expect(tokenizer).to_be_visible(visible=asked)


def test_a_phone(visit: Visit, choosing: Server, folder: Path, keep: Keep) -> None:
    page = visit(choosing, width=390, height=844, has_touch=True, is_mobile=True)
    dialog = picker(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert dialog.evaluate("box => box.scrollWidth <= box.clientWidth")
    keep(page, "phone", full=False)
    load(dialog, folder)
    expect(page.get_by_test_id("model-said")).to_have_text(
        "tiny-llama is loaded and in use.", timeout=LOADED
    )

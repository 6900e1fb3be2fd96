"""The report: whole, well-formed, true to the table, and unmoved by what strangers wrote."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.lab.report import hostile
from tests.lab.report.parsed import Document
from xtc_viz.lab import table
from xtc_viz.lab.mechanism import QUANTITIES
from xtc_viz.lab.reading import find_run
from xtc_viz.lab.report import again
from xtc_viz.lab.report.content import Report, report
from xtc_viz.lab.report.markdown import fenced, markdown, plain
from xtc_viz.lab.report.page import html
from xtc_viz.lab.report.sidebyside import divided
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.lab.wording import number, with_ends
from xtc_viz.models.fake import FakeModel
from xtc_viz.texts import is_silent

READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def main(folder: Path) -> Iterator[Report]:
    with Store(folder / "main.sqlite") as store:
        for _ in run(hostile.STORY, load_suite("story"), FakeModel(), store):
            pass
        yield report(store, find_run(store, "main"))


@pytest.fixture(scope="module")
def attacked(folder: Path) -> Iterator[Report]:
    hostile.write(folder / "hostile.sqlite")
    with Store(folder / "hostile.sqlite") as store:
        yield report(store, store.runs()[0])


@pytest.fixture(scope="module")
def page(main: Report) -> Document:
    return Document(html(main))


@pytest.fixture(scope="module")
def attacked_page(attacked: Report) -> Document:
    return Document(html(attacked))


@pytest.mark.slow
def test_the_page_is_well_formed(page: Document, attacked_page: Document) -> None:
    for document in (page, attacked_page):
        assert document.faults == []
        ids = [own["id"] for _, own in document.elements if "id" in own]
        assert len(set(ids)) == len(ids)
        links = [own["href"] or "" for tag, own in document.elements if tag == "a"]
        assert links
        assert {link.removeprefix("#") for link in links} <= {*ids}


def test_every_number_of_the_table_is_there(main: Report, page: Document) -> None:
    text = page.texts["tables"]
    for metric, rows in table.rows(main.results).items():
        assert metric.label in text
        for row in rows:
            for column in table.COLUMNS:
                assert row[column] in text, (metric.name, row)


def test_the_mechanism_is_there(main: Report, page: Document) -> None:
    text = page.texts["mechanism"]
    for own in main.results.observed.values():
        for quantity in QUANTITIES:
            value = own.whole.values[quantity.name]
            assert value is None or number(value) in text


def test_what_was_run_is_there(main: Report, page: Document) -> None:
    everything = "".join(page.texts.values())
    assert main.results.experiment.question in everything
    assert main.run.name in page.texts["made"]
    for name, version in main.versions.items():
        assert name in page.texts["made"].lower() or name in page.texts["made"]
        assert version in page.texts["made"]
    assert "tau = 0.1" in page.texts["settings"]
    for count in main.counts:
        assert count.condition in page.texts["settings"]
        assert f"{count.total:,}" in page.texts["settings"]
    for one in main.figures:
        assert one.sentence in page.texts["figures"]
    assert not main.partial
    assert "not complete" not in everything


def test_each_figure_is_data_that_plotly_takes(main: Report, page: Document) -> None:
    data = page.data()
    assert [*data] == [f"data-{one.name}" for one in main.figures]
    for text in data.values():
        figure = json.loads(text)
        assert figure["data"]
        assert figure["layout"]
        assert not re.search("[<>&]", text)


def test_samples_stand_side_by_side(main: Report, page: Document) -> None:
    genres = [one.prompt.genre for one in main.samples]
    assert len(genres) == len(set(genres))
    assert {*genres} == {prompt.genre for prompt in main.results.prompts.values()}
    for one in main.samples:
        assert len(one.texts) == len(main.results.conditions)
        assert one.texts[0].condition == main.results.baseline
        assert [text.condition for text in one.texts[1:4]] == [
            "XTC light", "XTC medium", "XTC strong",
        ]  # fmt: skip
        for text in one.texts[1:]:
            assert one.texts[0].text.startswith(text.same)
    marks = sum(1 for tag, _ in page.elements if tag == "mark")
    assert marks - 1 == sum(bool(text.first) for one in main.samples for text in one.texts)


def test_the_paper_stands_beside(main: Report, page: Document) -> None:
    assert main.beside.rows
    for row in main.beside.rows:
        assert row.statement.at.place in page.texts["paper"]
        assert str(row.verdict) in page.texts["paper"]
        assert number(row.level.mean) in page.texts["paper"]


@pytest.mark.parametrize("which", ["page", "attacked_page"])
def test_only_our_two_scripts_may_run(which: str, request: pytest.FixtureRequest) -> None:
    document: Document = request.getfixturevalue(which)
    scripts = document.scripts()
    assert len(scripts) == 2
    metas = [own for tag, own in document.elements if tag == "meta"]
    (policy,) = [own["content"] or "" for own in metas
                 if own.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    allowed = {
        f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'" for text in scripts
    }
    assert {*rules["script-src"].split()} == allowed
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    # Nothing before the policy could have run.
    first = [tag for tag, _ in document.elements]
    assert first.index("script") > 5


def test_strangers_texts_are_texts(page: Document, attacked_page: Document) -> None:
    tags = {tag for tag, _ in attacked_page.elements}
    assert tags <= {tag for tag, _ in page.elements} | {"p", "dl", "dt", "dd"}
    assert not tags & {"img", "b", "svg", "i"} - {"b"}
    for tag, own in attacked_page.elements:
        assert not [name for name in own if name.startswith("on")], tag
        assert not {"src", "srcdoc", "style", "action"} & own.keys(), tag
    everything = "".join(attacked_page.texts.values())
    assert hostile.OWNED in everything
    assert "{{ 7*7 }}" in everything
    silent = {sign for sign in everything if is_silent(sign)}
    assert silent == {"\n"}
    assert r"\u202eright to left\u202c" in everything
    assert r"\ud800" in everything


def test_the_file_can_be_written(attacked: Report) -> None:
    html(attacked).encode("utf-8")
    markdown(attacked).encode("utf-8")


@pytest.mark.slow
def test_a_run_that_is_not_whole_says_so(folder: Path) -> None:
    with Store(folder / "half.sqlite") as store:
        writing = run(hostile.STORY, load_suite("story"), FakeModel(), store, rows=1)
        for progress in writing:
            if progress.done == 90:
                break
        writing.close()
        half = report(store, find_run(store, "main"))
    assert half.done < half.total
    words = f"{half.total - half.done} of {half.total} texts are not there"
    assert words in half.partial
    document = Document(html(half))
    assert document.faults == []
    assert words in "".join(document.texts.values())
    assert words in markdown(half)


# Markdown


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of all tables as a reader of Markdown sees them."""
    rows: list[list[str]] = []
    for token in READER.parse(text):
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline" and rows and token.level == 4 + (token.level > 4):
            rows[-1].append(token.content)
    return rows


@pytest.mark.parametrize("which", ["main", "attacked"])
def test_markdown_is_read_as_it_is_meant(which: str, request: pytest.FixtureRequest) -> None:
    content: Report = request.getfixturevalue(which)
    tokens = READER.parse(markdown(content))
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 1
    assert kinds.count("heading_open") == 1
    assert "html_block" not in kinds
    inline = {one.type for token in tokens for one in token.children or ()}
    assert inline <= {"text", "strong_open", "strong_close", "softbreak", "text_special",
                      "code_inline"}  # fmt: skip
    assert kinds.count("tr_open") == 1 + len(content.results.conditions)
    assert kinds.count("td_open") == len(content.results.conditions) * (1 + len(content.main))


def test_markdown_holds_the_main_metrics(main: Report) -> None:
    text = markdown(main)
    for name in main.main:
        for condition in main.results.conditions:
            mean = main.results.means[name][condition]
            assert with_ends(mean) in text
    assert again.command(main.run) in text
    for one in main.figures:
        assert plain(one.sentence) in text


def read(text: str) -> str:
    """Return a line of Markdown as a reader shows it."""
    tokens = READER.parseInline(text)[0].children or []
    assert {one.type for one in tokens} <= {"text", "text_special", "softbreak"}
    return "".join(one.content for one in tokens)


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=60))
def test_plain_reads_as_the_text(text: str) -> None:
    line = plain(text)
    assert "\n" not in line
    assert "<" not in line
    blocks = READER.parse(line)
    assert [token.type for token in blocks] == ["paragraph_open", "inline", "paragraph_close"]
    shown = " ".join("".join(c for c in text if not is_silent(c)).split())
    kept = "".join(read(line).split())
    if not any(is_silent(c) for c in text) and shown:
        assert kept == "".join(shown.split())
    cell = READER.parse(f"| a | b |\n|---|---|\n| {line} | x |\n")
    assert [token.type for token in cell].count("td_open") == 2
    assert [token.content for token in cell if token.type == "inline"][3] == "x"


@given(st.text("`~ a\n", max_size=30))
def test_a_fence_is_longer_than_any_in_it(code: str) -> None:
    tokens = READER.parse(fenced(code, "sh"))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content.strip() == code.strip()


# Its parts


@pytest.mark.parametrize(
    ("base", "text", "parts"),
    [
        ("a big dog", "a big cat", ("a big ", "cat", "")),
        ("a big dog", "a bigger dog", ("a ", "bigger", " dog")),
        ("a big", "a big dog", ("a big", " dog", "")),
        ("a big dog", "a big dog", ("a big dog", "", "")),
        ("a big dog", "a big", ("a big", "", "")),
        ("", "dog runs", ("", "dog", " runs")),
        ("a\n\nb", "a\nb", ("a\n", "b", "")),
    ],
)
def test_the_first_word_that_differs(base: str, text: str, parts: tuple[str, str, str]) -> None:
    assert divided(base, text) == parts


@given(st.text("ab \n", max_size=20), st.text("ab \n", max_size=20))
def test_the_parts_are_the_text(base: str, text: str) -> None:
    same, first, rest = divided(base, text)
    assert same + first + rest == text
    assert base.startswith(same)
    assert bool(first) == (not base.startswith(text))


def test_a_run_is_called_as_it_was_run(main: Report, attacked: Report) -> None:
    # The sizes are others than those that come with the app.
    assert (
        again.command(main.run) == f"xtc-viz lab run {again.FILE} --model {main.run.identity.name}"
    )
    assert again.needs_file(main.run)
    assert "samples = 2" in again.toml(main.run)
    assert again.needs_file(attacked.run)

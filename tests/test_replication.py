"""docs/replication.md: its marks, its figures, and what fills them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import replication
from tests.lab.report.hostile import STORY
from xtc_viz.lab.beside import Verdict
from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.figures import FIGURES
from xtc_viz.lab.report.content import Report
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.lab.wording import number, with_ends
from xtc_viz.models.fake import FakeModel


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    small = replace(EXPERIMENTS["strategies"], suite="story", prompts=4, samples=2, length=12)
    with Store(tmp_path_factory.mktemp("replication") / "a.sqlite") as store:
        for experiment in (STORY, small):
            for _ in run(experiment, load_suite("story"), FakeModel(), store):
                pass
        return replication.reports(store)


@pytest.mark.slow
def test_what_was_run_is_found(found: dict[str, Report]) -> None:
    assert [*found] == ["main", "strategies"]


def test_the_head_counts_each_statement_once(found: dict[str, Report]) -> None:
    text = replication.head(found)
    for name, one in found.items():
        assert f"| {name} |" in text
        assert f"{one.done:,}" in text
    once = {row.statement for one in found.values() for row in one.beside.rows}
    last = re.findall(r"\*\*(\d+)\*\*", text)
    assert sum(map(int, last)) == len(once)


def test_a_section_holds_means_and_verdicts(found: dict[str, Report]) -> None:
    one = found["main"]
    text = replication.section("main", one, [("A figure", "a.svg", "It shows | nothing.")])
    for condition, mean in one.results.means["distinct_2"].items():
        assert number(mean.mean) in text
        if own := one.results.comparison("distinct_2", condition):
            shown = with_ends(own.difference, signed=True)
            assert (f"**{shown}**" in text) == own.difference.excludes_zero
    assert "![A figure](figures/a.svg)\n\nIt shows \\| nothing." in text
    assert "Fired" in text
    counts = re.findall(r"([a-z][a-z ]+) (\d+)(?=[;\s|])", text.split("Beside the paper:")[1])
    for verdict in Verdict:
        n = sum(int(n) for words, n in counts if words.strip() == verdict)
        assert n == one.beside.counts().get(verdict, 0), verdict


def test_sections_go_between_their_marks() -> None:
    page = "# A\n<!-- a -->\nold\n<!-- /a -->\nwords\n<!-- b --><!-- /b -->\n"
    assert replication.put(page, {"a": "new"}) == (
        "# A\n<!-- a -->\n\nnew\n\n<!-- /a -->\nwords\n<!-- b -->\n\nNot run.\n\n<!-- /b -->\n"
    )
    with pytest.raises(KeyError):
        replication.put(page, {"c": "x"})


def test_the_page_has_a_mark_for_each_experiment_and_its_figures_are_there() -> None:
    text = replication.PAGE.read_text(encoding="utf-8")
    for name in ("head", *replication.SHOWN):
        assert f"<!-- {name} -->" in text
        assert f"<!-- /{name} -->" in text
    assert {*replication.SHOWN} <= {*EXPERIMENTS}
    assert {name for names in replication.SHOWN.values() for name in names} <= {*FIGURES}
    pictures = {*re.findall(r"\(figures/([\w.-]+)\)", text)}
    there = {path.name: path for path in Path(replication.FIGURES).glob("*")}
    assert pictures == {*there}
    for path in there.values():
        assert path.stat().st_size < 60_000, path.name
        assert ElementTree.parse(path).getroot().tag.endswith("svg")

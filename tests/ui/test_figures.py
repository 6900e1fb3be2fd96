"""A view of a run as an interactive file: what may be asked, and what comes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.ui.factories import decode
from xtc_viz.errors import SettingsError
from xtc_viz.knobs import KNOBS
from xtc_viz.settings import XTCSettings
from xtc_viz.ui import figures, whatif
from xtc_viz.ui.dialects import LABELS
from xtc_viz.ui.figures import Wanted
from xtc_viz.ui.run import Run

PLAIN: dict[str, Any] = {
    "view": "bars",
    "lane": 1,
    "i": 3,
    "mate": 0,
    "candidates": 10,
    "log": False,
    "part": "rule",
    "which": "fired",
    "width": 720,
    "name": "xtc-bars",
    "caption": ["“Once” … token 4", "XTC: ρ 0.50"],
}


@pytest.fixture(scope="module")
def run() -> Run:
    return Run.of(decode(length=30)[0], "done")


@pytest.mark.parametrize("view", figures.VIEWS)
def test_every_view_is_one_file_that_asks_for_nothing(run: Run, view: str) -> None:
    page = figures.interactive(run, Wanted.parse(PLAIN | {"view": view}, run), {})
    assert len(page) < 6_000_000
    head, caption = page[:2000], page[page.index("<figcaption>") :]
    assert "default-src 'none'" in head
    assert "<title>“Once” … token 4</title>" in head
    assert "XTC: ρ 0.50" in caption
    outside = re.sub(r"<script\b[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""\b(src|href)\s*=""", outside)


@pytest.mark.parametrize("view", ["timeline", "text"])
def test_a_what_if_is_drawn_as_what_it_would_be(run: Run, view: str) -> None:
    def marks(others: dict[int, XTCSettings]) -> set[str]:
        wanted = Wanted.parse(PLAIN | {"view": view}, run)
        trace = whatif.imagined(run.trace(), others)
        figure = figures._figure(run, trace, wanted, set(others))
        # Of the second lane alone; the first has no XTC.
        return {part.name for part in figure.data if part.name and len(part.x or ()) > 0}

    fired = {"timeline": "removed mass", "text": "XTC fired"}[view]
    changed = {"timeline": "changed the word", "text": "… and changed the word"}[view]
    assert {fired, changed} <= marks({})
    assert changed not in marks({1: XTCSettings(rho=1.0, tau=0.05)})
    off = marks({1: XTCSettings(rho=0.0, tau=0.1)})
    assert not off & {fired, changed}


@pytest.mark.parametrize("part", figures.PARTS)
@pytest.mark.parametrize("which", figures.WHICH)
def test_engines_are_drawn_as_the_page_compares_them(run: Run, part: str, which: str) -> None:
    """The strips have the numbers that the page draws, and every engine is named in one of them."""
    trace = run.trace()
    wanted = Wanted.parse(PLAIN | {"view": "engines", "part": part, "which": which}, run)
    figure = figures._figure(run, trace, wanted, set())
    strips = run.engines(1, 3, None)[part][which]
    names = [
        note.text.removeprefix("<b>").removesuffix("</b>") for note in figure.layout.annotations
    ]
    assert len(names) == len(strips["groups"])
    assert sorted(", ".join(names).split(", ")) == sorted(
        LABELS.get(engine, engine) for group in strips["groups"] for engine in group["engines"]
    )
    for k, group in enumerate(strips["groups"]):
        bars = [trace for trace in figure.data if trace.yaxis == (f"y{k + 1}" if k else "y")]
        drawn = {
            i: y
            for each in bars
            if each.text[0] != "✕"
            for i, y in zip(each.x, each.y, strict=True)
        }
        left = {i: p for i, p in enumerate((*group["probs"], group["rest"])) if i in drawn}
        assert drawn == left
        assert sum(drawn.values()) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("view", figures.VIEWS)
def test_any_view_can_be_of_a_what_if(run: Run, view: str) -> None:
    others = {1: XTCSettings(rho=1.0, tau=0.03)}
    assert figures.interactive(run, Wanted.parse(PLAIN | {"view": view}, run), others)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"view": "film"}, "view"),
        ({"view": ["bars"]}, "view"),
        ({"lane": 2}, "lane"),
        ({"lane": "1"}, "lane"),
        ({"view": "pair", "mate": 9}, "mate"),
        ({"i": 30}, "i"),
        ({"candidates": -1}, "candidates"),
        ({"log": 1}, "log"),
        ({"part": "half"}, "part"),
        ({"which": ["own"]}, "which"),
        ({"name": None}, "name"),
        ({"name": "x" * 2001}, "name"),
        ({"caption": "x"}, "caption"),
        ({"caption": ["x"] * 21}, "caption"),
        ({"caption": [5]}, "caption"),
        ({"width": 20}, "figure_width"),
        ({"width": "wide"}, "figure_width"),
        ({"more": 1}, "figure"),
    ],
)
def test_a_wrong_wish_is_named(run: Run, change: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingsError) as error:
        Wanted.parse(PLAIN | change, run)
    assert error.value.parameter == field


def test_the_bounds_of_the_width_stand_in_one_place(run: Run) -> None:
    knob = KNOBS["figure_width"]
    for width in (knob.low, knob.default, knob.high):
        assert Wanted.parse(PLAIN | {"width": width}, run).width == width
    with pytest.raises(SettingsError, match=re.escape(knob.interval)):
        Wanted.parse(PLAIN | {"width": knob.high + 1}, run)


def test_what_nobody_needs_to_point_at_is_left_alone(run: Run) -> None:
    assert Wanted.parse(PLAIN | {"candidates": 10_000}, run).candidates == figures.MAX_CANDIDATES
    far = PLAIN | {"view": "timeline", "i": 999}
    assert Wanted.parse(far, run).view == "timeline", "a step matters only to the views of one"


def test_a_run_that_is_too_long_to_draw(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MAX_STEPS", 20)
    for view in ("timeline", "text", "map"):
        with pytest.raises(SettingsError, match="at most 20 tokens"):
            Wanted.parse(PLAIN | {"view": view}, run)
    assert Wanted.parse(PLAIN, run).view == "bars"

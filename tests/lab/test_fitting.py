"""Texts and panels within a width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.test_lab_figures import drawn, results
from xtc_viz.errors import SettingsError
from xtc_viz.lab.figures.fitting import LETTER, line_count, pixels, wrapped
from xtc_viz.lab.figures.panels import Grid
from xtc_viz.lab.figures.view import Options


def test_a_text_is_broken_at_its_spaces() -> None:
    assert wrapped("XTC medium and more", 10 * LETTER) == "XTC medium<br>and more"
    assert wrapped("<b>Distinct-2</b> up", 10 * LETTER) == "<b>Distinct-2</b><br>up"
    assert line_count("a<br>b") == 2
    assert pixels("<b>a &lt; b</b>") == 5 * LETTER


@given(st.lists(st.text("abc", min_size=1), min_size=1), st.integers(1, 300))
def test_no_line_is_wider_but_one_word(words: list[str], width: int) -> None:
    found = wrapped(" ".join(words), width)
    assert found.replace("<br>", " ").split() == words
    assert all(pixels(line) <= width or " " not in line for line in found.split("<br>"))


def test_panels_stand_below_each_other_where_it_is_narrow() -> None:
    assert [Grid(width, 6, 100, margin=100).wide for width in (240, 358, 640, 1000)] == [1, 1, 3, 3]
    assert Grid(1000, 4, 100).wide == 2


@pytest.mark.parametrize("name", ["main", "grid"])
def test_panels_of_every_figure_are_wide_enough(name: str) -> None:
    for width in (288, 358):
        for figure, one in drawn(results(name), Options(width=width)).items():
            shown = one.to_plotly_json()["layout"]
            starts = {axis["domain"][0] for k, axis in shown.items() if k.startswith("xaxis")}
            assert len(starts) <= 1, figure


def test_a_width_that_no_figure_has_is_refused() -> None:
    for width in (None, 0, 100_000, "358", True):
        with pytest.raises(SettingsError, match="width"):
            Options(width=width)  # type: ignore[arg-type]

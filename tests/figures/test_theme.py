"""One meaning, one colour: the figures and the page say the same."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest

from xtc_viz.assets import asset
from xtc_viz.figures.theme import DARK, LIGHT, Theme, bar

STYLE = asset("web/core/base.css")


def variables(selector: str) -> dict[str, str]:
    """The custom properties of the page's first rule for `selector`."""
    css = STYLE.read_text(encoding="utf-8")
    rule = re.search(rf"^{re.escape(selector)} \{{([^}}]*)\}}", css, re.MULTILINE)
    assert rule, selector
    return dict(re.findall(r"--([\w-]+): ([^;]+);", rule[1]))


@pytest.mark.parametrize(("theme", "dark"), [(LIGHT, False), (DARK, True)])
def test_the_colours_are_those_of_the_page(theme: Theme, dark: bool) -> None:
    page = variables(".xtc") | (variables(".dark .xtc") if dark else {})
    mine = {name.replace("_", "-"): colour for name, colour in asdict(theme).items()}
    assert mine == {name: page[name] for name in mine}


def test_the_light_colours_of_meanings_are_the_design() -> None:
    assert LIGHT.eligible.upper() == "#0072B2"
    assert LIGHT.removed.upper() == "#D55E00"
    assert LIGHT.kept.upper() == "#009E73"
    assert LIGHT.changed.upper() == "#CC79A7"
    assert LIGHT.skipped.upper() == "#56B4E9"
    assert LIGHT.protected.upper() == "#E69F00"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_bars_differ_without_their_colour(theme: Theme) -> None:
    colourless = set()
    for kind in ("eligible", "removed", "kept", "protected", "rest"):
        look = bar(kind, theme)
        shape = look.get("pattern", {}).get("shape", "")
        colourless.add((shape, look.get("line", {}).get("width", 0), look["color"] == theme.paper))
    assert len(colourless) == 5
    assert bar("removed", theme)["pattern"]["shape"] == "/"
    assert bar("kept", theme)["line"] == {"color": theme.ink, "width": 2}

"""The exported file needs nothing but itself."""

from __future__ import annotations

import re

import plotly.graph_objects as go

from tests.ui.factories import TEXTS, make_step, sampler
from xtc_viz.figures.export import html
from xtc_viz.figures.step import step_figure
from xtc_viz.figures.theme import DARK, LIGHT, layout


def test_the_file_is_whole_and_asks_for_nothing() -> None:
    texts = {**TEXTS, 11: "</script><img src=x onerror=alert(1)>"}
    page = html(
        step_figure(make_step(sampler()), sampler(), texts),
        ["“</b><script>alert(1)</script>”", "XTC: ρ 0.50 & more"],
        name="xtc-bars",
        width=640,
    )
    assert page.lstrip().startswith("<!doctype html>")
    assert "Plotly.newPlot" in page
    assert len(page) > 1_000_000, "plotly.js is inside"
    outside = re.sub(r"<script\b[^>]*>.*?</script>", "<script>", page, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)\s*=", outside)
    assert not re.search(r"<script[^>]*\bsrc", page[:2000] + page[-20_000:])
    assert "onerror" not in outside, "token text ends no script"
    assert '"format": "svg"' in page
    assert '"filename": "xtc-bars"' in page
    assert "default-src 'none'" in page
    assert "max-width: 640px" in page
    caption = page[page.index("<figcaption>") :]
    assert (
        "<b>“&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;”</b><br>XTC: ρ 0.50 &amp; more"
        in caption
    )


def test_no_text_ends_the_script() -> None:
    hostile = "</script><script>alert(1)</script>"
    figure = go.Figure().add_scatter(x=[1], y=[1], text=[hostile], mode="text")
    assert "<script>alert" not in html(figure, [hostile, hostile], name=hostile)


def test_a_dark_figure_stands_on_dark_paper() -> None:
    for theme in (LIGHT, DARK):
        page = html(go.Figure(layout=layout(theme, 300)), ["caption"])
        style = page[page.index("<style>") : page.index("</style>")]
        assert f"background: {theme.paper}; color: {theme.ink};" in style

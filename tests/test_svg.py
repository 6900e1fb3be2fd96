"""Pictures of plotly as small files: nothing that shows is lost."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest
from playwright.sync_api import Playwright

from bench.svg import lighter, svgs
from xtc_viz.figures.labels import escaped


def test_a_picture_gets_lighter_and_its_texts_stay() -> None:
    drawn = (
        '<svg width="9"><defs id="defs-a1b2"></defs><g class="x" data-unformatted="eta"></g>'
        '<path transform="translate(1.23456,2)" d="M0,0H-0V-0H0Z"/>'
        '<path d="M1.2345,2L3,4" style="vector-effect: none; opacity: 1; fill: rgb(0, 114, 178);"/>'
        "<text clip-path=\"url('#clipa1b2')\">eta .0003, rgb(1, 2, 3) opacity: 1; &lt;g/></text>"
        "</svg>"
    )
    light = lighter(drawn)
    root = ElementTree.fromstring(light)
    assert "".join(root.itertext()).strip() == "eta .0003, rgb(1, 2, 3) opacity: 1; <g/>"
    assert [*light.split("<path")][1:] == [
        light[light.index(' d="M1.2,2L3,4" style="fill: #0072b2;"/>') :]
    ]
    assert "url('#clip0')" in light
    assert "class" not in light


@pytest.mark.browser
def test_pictures_are_whole_and_always_the_same(playwright: Playwright) -> None:
    names = ["baseline", "eta .0003", "<b>&amp;"]
    bars = go.Figure(go.Bar(x=[escaped(name) for name in names], y=[1, 2.34567, 3]))
    bars.update_traces(marker={"pattern": {"shape": "/"}}, text=["0.123456"] * 3)
    pictures = dict(svgs({"one": bars, "two": bars}, playwright))
    # Up to the order of attributes, which hangs on what comes first in the browser.
    same = {ElementTree.canonicalize(svg) for svg in pictures.values()}
    assert len(same) == 1
    root = ElementTree.fromstring(pictures["one"])
    texts = "".join(root.itertext())
    for text in (*names, "0.123456"):
        assert text in texts
    for link in re.findall(r"url\('?#([\w-]+)'?\)", pictures["one"]):
        assert f'id="{link}"' in pictures["one"]

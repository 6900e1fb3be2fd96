"""Figures of plotly as small SVG files, drawn by plotly.js in a Chromium without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

import plotly.graph_objects as go
from playwright.sync_api import Playwright
from plotly.offline import get_plotlyjs

from bench import chromium
from xtc_viz.figures.theme import FONT

WIDTH = 860
LONG = 1_000  # characters of a path
_POINT = r"(?:[MHVLZ,]|-?0(?![.\d])|A0,0 0 \d,\d )+"
"""A path that goes nowhere: a marker of size 0."""


def svgs(figures: Mapping[str, go.Figure], playwright: Playwright) -> Iterator[tuple[str, str]]:
    """Return each figure with its name, as SVG."""
    browser = playwright.chromium.launch(executable_path=chromium.PATH, args=["--no-sandbox"])
    page = browser.new_context(offline=True).new_page()
    page.set_content("<!doctype html><meta charset=utf-8><body>")
    page.add_script_tag(content=get_plotlyjs())
    for name, figure in figures.items():
        height = figure.layout.height or 450
        url = page.evaluate(
            "([figure, width, height]) => "
            "Plotly.toImage(JSON.parse(figure), {format: 'svg', width, height})",
            [figure.to_json(engine="json"), WIDTH, height],
        )
        yield name, lighter(unquote(url.split(",", 1)[1]))
    browser.close()


def lighter(svg: str) -> str:
    """Return a picture of plotly.js without what changes nothing, and without its random name."""
    for name in re.findall(r'"defs-(\w+)"', svg):
        svg = svg.replace(name, "0")
    for i, name in enumerate(dict.fromkeys(re.findall(r'<pattern [^>]*id="([\w-]+)"', svg))):
        svg = svg.replace(name, f"p{i}")
    svg = svg.replace("<svg ", f'<svg font-family="{FONT}" ', 1)
    svg = re.sub("<[^<>]*>", _lighter_tag, svg)  # texts stay as they are
    svg = re.sub(rf'<path [^>]*d="{_POINT}"[^>]*/>', "", svg)
    while (fewer := re.sub(r"<g(?: [^<>]*)?(?:/>|></g>)", "", svg)) != svg:
        svg = fewer
    return svg + "\n"


def _lighter_tag(match: re.Match[str]) -> str:
    tag = match[0].replace(f"font-family: {FONT}; ", "")
    tag = re.sub(r"(?:vector-effect: none|(?:(?:fill|stroke)-)?opacity: 1);\s?", "", tag)
    tag = re.sub(r"rgb\((\d+), (\d+), (\d+)\)", _hex, tag)
    tag = re.sub(r' (?:class|data-[\w-]+)="[^"]*"| style="\s*"', "", tag)
    tag = re.sub(r"(\.\d\d)\d+", r"\1", tag)
    return re.sub(r' d="[^"]*"', _coarser, tag)


def _hex(colour: re.Match[str]) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in colour.groups())


def _coarser(path: re.Match[str]) -> str:
    """Return a path to a tenth of a pixel; a long one has its points at whole ones across."""
    shorter = re.sub(r"(\.\d)\d+", r"\1", path[0])
    return re.sub(r"([ML]\d+)\.\d,", r"\1,", shorter) if len(shorter) > LONG else shorter

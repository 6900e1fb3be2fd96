"""A figure as a file of its own that opens offline.

The HTML carries plotly.js from the installed plotly, so it needs no network; its camera button
saves an SVG. (The page itself draws SVG without plotly, and exports that.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.theme import DARK, FONT, LIGHT
from xtc_viz.texts import mended

CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "showSendToCloud": False,
}
# Nothing is asked of anyone: plotly.js writes its own styles and runs from within the file.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)


def html(
    figure: go.Figure, caption: Sequence[str] = (), *, name: str = "xtc_viz", width: int = 960
) -> str:
    """Return a whole HTML document, about 5 MB, most of it plotly.js.

    `caption` are lines under the figure, the first in bold; `name` is that of the file, without
    its ending, and `width` what the figure takes at most, in pixels.
    """
    # plotly writes the configuration into its script as it stands.
    plain = re.sub(r"[^\w.-]+", "-", name)
    config = CONFIG | {"toImageButtonOptions": {"format": "svg", "filename": plain}}
    # The paper that the figure was drawn for goes on around it.
    theme = DARK if figure.layout.paper_bgcolor == DARK.paper else LIGHT
    paper, ink, ink_2 = theme.paper, theme.ink, theme.ink_2
    part = figure.to_html(
        config=config, include_plotlyjs=True, include_mathjax=False, full_html=False
    )
    first, *others = (escape(mended(line)) for line in caption or [name])
    lines = "".join(f"<br>{line}" for line in others)
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{first}</title>\n"
        f"<style>body {{ margin: 0; background: {paper}; color: {ink}; font: 14px/1.5 {FONT}; }}\n"
        f"figure {{ max-width: {width}px; margin: 0 auto; padding: 16px; }}\n"
        f".plot {{ overflow-x: auto; }} figcaption {{ padding: 0 16px; color: {ink_2}; }}\n"
        f"figcaption b {{ color: {ink}; }}</style></head>\n"
        f'<body><figure><div class="plot">{part}</div>\n'
        f"<figcaption><b>{first}</b>{lines}</figcaption></figure></body></html>\n"
    )

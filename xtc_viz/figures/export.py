"""A figure as a file of its own that opens offline.

The HTML carries plotly.js from the installed plotly, so it needs no network; its camera button
saves an SVG. (The page itself draws SVG without plotly, and exports that.)
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "showSendToCloud": False,
    "toImageButtonOptions": {"format": "svg", "filename": "xtc_viz"},
}


def html(figure: go.Figure) -> str:
    """Return a whole HTML document, about 5 MB, most of it plotly.js."""
    page: str = figure.to_html(config=CONFIG, include_plotlyjs=True, include_mathjax=False)
    return page

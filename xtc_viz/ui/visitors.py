"""Who asks, so that nobody takes every place in the queue."""

from __future__ import annotations

import gradio as gr

from xtc_viz.ui.gate.gate import VISITOR


def visitor_of(request: gr.Request | None) -> str:
    """Return what a visitor is told apart by, as the gate saw it; "" where that is unknown.

    All tabs of a person are one visitor, and so are people behind one address.
    """
    # gradio wraps the request of its own queue, and no other.
    scope = getattr(getattr(request, "request", request), "scope", {})
    return str(scope.get(VISITOR, ""))

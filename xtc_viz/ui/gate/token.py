"""The token of this start: what shows that a request comes from a page of ours.

A page on another site can send a question to this one, but cannot read an answer, and so never
learns the token; nor can it add a header without the browser's leave.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from xtc_viz.errors import XTCVizError

HEADER = "x-xtc-viz-token"
TOKEN = secrets.token_urlsafe(24)


class StaleTokenError(XTCVizError):
    """A request without the token of this start."""

    def __init__(self) -> None:
        super().__init__("This page is from before the server's last start: reload it.")


def has_token(headers: Mapping[str, str]) -> bool:
    """Whether a request carries the token of this start."""
    return is_token(headers.get(HEADER, ""))


def is_token(value: object) -> bool:
    """Whether a value is the token of this start, for what cannot carry the header: an event that
    gradio's own client sends holds it among its data."""
    return isinstance(value, str) and secrets.compare_digest(value.encode(), TOKEN.encode())

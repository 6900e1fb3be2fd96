"""Who asks, so that nobody takes every place in the queue."""

from __future__ import annotations

import ipaddress

import gradio as gr


def visitor_of(request: gr.Request | None) -> str:
    """Return what a visitor is told apart by, "" where that is unknown.

    That is the address of the connection; where a proxy of this machine or its network made that,
    the first address in `X-Forwarded-For`. All tabs of a person are one visitor, and so are people
    behind one address.
    """
    client = request.client if request is not None else None
    if request is None or client is None:
        return ""
    forwarded = request.headers.get("x-forwarded-for", "").split(",")[0].strip()
    return forwarded if forwarded and _is_near(client.host) else str(client.host)


def _is_near(host: str) -> bool:
    # Who comes from further away may write into that header whatever he likes.
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return True

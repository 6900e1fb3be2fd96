"""What browsers are told of the page: what it may load, and who may show it in a frame."""

from __future__ import annotations

import base64
import hashlib
import re

_INLINE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_HUB = "https://huggingface.co"


def headers(framed: bool) -> dict[str, str]:
    """Return the headers of every answer. `framed` lets the hub show a Space in its frame."""
    return {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        **({} if framed else {"X-Frame-Options": "DENY"}),
    }


def content_policy(page: bytes, framed: bool) -> str:
    """Return the content security policy of a page's HTML.

    gradio needs this much: its scripts are files of this server, and some in the page, which are
    named by what they hold; a component's script comes as text and is made a function
    (`unsafe-eval`); styles are set from scripts (`unsafe-inline`); it sets the page's own base. No
    attribute of an element is run, and nothing is sent to another host.
    """
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in _INLINE.findall(page))
    hub = f" {_HUB}" if framed else ""
    parts = {
        "default-src": "'none'",
        "script-src": f"'self' 'unsafe-eval' {hashes}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self'{hub}",
        "manifest-src": "'self'",
        "base-uri": "'self'",
        "form-action": "'none'",
        "frame-ancestors": f"'self' {_HUB} https://*.hf.space" if framed else "'none'",
    }
    return "; ".join(f"{name} {value}".strip() for name, value in parts.items())


def _hash(script: bytes) -> str:
    # A browser hashes the text with its line ends made one character.
    text = script.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return base64.b64encode(hashlib.sha256(text).digest()).decode()

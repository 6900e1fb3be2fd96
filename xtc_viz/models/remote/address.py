"""The address of a server, as people type it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from xtc_viz.errors import SettingsError, Words

LONGEST = 300  # characters
_BOUNDS = "the address of a server, such as http://127.0.0.1:8080"


def is_address(text: str) -> bool:
    """Whether a model's name is meant to be a server: no hub id or folder begins so."""
    return re.match(r"https?:", text, re.IGNORECASE) is not None


def parse_address(text: str) -> str:
    """Return an address in the one form in which it is compared: without a slash at its end, and
    without the `/v1` that many programs want behind it.

    Raises:
        SettingsError: it is none, or holds a name, a password, a query or a fragment. A message
            never quotes what may be a password.
    """
    address = text.strip()
    try:
        parts = urlsplit(address)
        port, host = parts.port, parts.hostname
    except ValueError:
        parts, port, host = urlsplit(""), None, None
    if "@" in parts.netloc:
        raise SettingsError("model", f"{_BOUNDS}, without a name or key in it", Words("one with @"))
    if parts.query or parts.fragment:
        raise SettingsError("model", f"{_BOUNDS}, without ? or #", Words("one with them"))
    plain = re.fullmatch(r"[\w.:\[\]%-]+", parts.netloc, re.ASCII)
    path = re.fullmatch(r"(/[\w.~%+-]+)*/*", parts.path, re.ASCII)
    known = parts.scheme.lower() in ("http", "https") and address.isprintable()
    if not (known and host and plain and path and port != 0 and len(address) <= LONGEST):
        raise SettingsError("model", _BOUNDS, address)
    where = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme.lower()]
    if port is not None and port != default:
        where = f"{where}:{port}"
    return f"{parts.scheme.lower()}://{where}{parts.path.rstrip('/').removesuffix('/v1')}"

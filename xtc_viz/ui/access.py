"""Who may load models and use the laboratory: decided when the server starts, and by where a
request comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum

from xtc_viz.ui.gate.names import host_name, is_this_machine

PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class May(StrEnum):
    """Which models visitors may load: any hub id or folder, those of the catalog, or none.

    `OWN` is everything, but nothing for those who come through a proxy or by another name.
    """

    OWN = "own"
    ALL = "all"
    CATALOG = "catalog"
    FIXED = "fixed"


class OpenTo(StrEnum):
    """Whom the laboratory is open to: who sits at this machine, everybody, or nobody."""

    OWN = "own"
    ALL = "all"
    NOBODY = "off"


def default_may(
    host: str | None, share: bool = False, environment: Mapping[str, str] = os.environ
) -> May:
    """Return what visitors may do where nobody said it: something on a page of one's own only.

    That is a page which listens on this machine alone, under no prefix of a proxy.
    """
    address = host or environment.get("GRADIO_SERVER_NAME") or "localhost"
    public = ("SPACE_ID", "SPACES_ZERO_GPU", "GRADIO_SHARE", "GRADIO_ROOT_PATH")
    opened = share or any(environment.get(name) for name in public)
    return May.OWN if is_this_machine(address) and not opened else May.FIXED


def default_lab(
    host: str | None, share: bool = False, environment: Mapping[str, str] = os.environ
) -> OpenTo:
    """Return whom the laboratory is open to where nobody said it: a run of it takes hours and disk,
    so strangers find none."""
    own = default_may(host, share, environment) is May.OWN
    return OpenTo.OWN if own else OpenTo.NOBODY


def granted(may: May, headers: Mapping[str, str]) -> May:
    """Return what `may` is for who sent these headers: `OWN` is all or nothing then."""
    if may is not May.OWN:
        return may
    return May.FIXED if from_elsewhere(headers) else May.ALL


def from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Whether a request came through a proxy, or was sent to another name than this machine's."""
    host = host_name(headers.get("host", "")) or ""
    return not is_this_machine(host) or any(name in headers for name in PROXY_HEADERS)

"""Who may load models, from where the page listens and whence a request comes."""

from __future__ import annotations

import pytest

from xtc_viz.ui.access import May, OpenTo, default_lab, default_may, from_elsewhere


@pytest.mark.parametrize(
    ("host", "share", "environment", "may"),
    [
        (None, False, {}, May.OWN),
        ("127.0.0.1", False, {}, May.OWN),
        ("localhost", False, {}, May.OWN),
        ("0.0.0.0", False, {}, May.FIXED),
        ("::", False, {}, May.FIXED),
        ("127.0.0.1", True, {}, May.FIXED),
        (None, False, {"GRADIO_SERVER_NAME": "0.0.0.0"}, May.FIXED),
        (None, False, {"SPACE_ID": "someone/xtc"}, May.FIXED),
        (None, False, {"GRADIO_ROOT_PATH": "/xtc"}, May.FIXED),
    ],
)
def test_who_may_choose_where_nobody_said_it(
    host: str | None, share: bool, environment: dict[str, str], may: May
) -> None:
    assert default_may(host, share, environment) is may
    open_to = OpenTo.OWN if may is May.OWN else OpenTo.NOBODY
    assert default_lab(host, share, environment) is open_to


@pytest.mark.parametrize(
    ("headers", "elsewhere"),
    [
        ({"host": "localhost:7860"}, False),
        ({"host": "127.0.0.1"}, False),
        ({"host": "[::1]:7860"}, False),
        ({"host": "xtc.example"}, True),
        ({"host": "127.evil.example"}, True),
        ({"host": "localhost."}, True),
        ({"host": "[::1"}, True),
        ({}, True),
        ({"host": "localhost:7860", "x-real-ip": "10.0.0.1"}, True),
        ({"host": "localhost:7860", "forwarded": "for=10.0.0.1"}, True),
    ],
)
def test_where_a_request_comes_from(headers: dict[str, str], elsewhere: bool) -> None:
    assert from_elsewhere(headers) is elsewhere

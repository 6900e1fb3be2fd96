"""Which routes there are: what the page and programs use of gradio's, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

KIB, MIB = 1 << 10, 1 << 20

START = "/xtc_viz/start"
"""The gate's own route: the token of this start, for a page that outlived the one before."""
TRACE = "/xtc_viz/trace"
"""A route of the page's own: the text of a trace file that someone opens."""

SCRIPT = "/xtc_viz/script"
"""Where the page's scripts are, each named by what it holds."""

AGENTS = "/gradio_api/mcp"
"""Where agents ask, on a page that has tools for them."""


class Route(NamedTuple):
    """Routes of one kind: their methods and paths, and how many bytes of a body they take.

    `token` says that a question must carry the token of this start; `counted` that a visitor may
    have only so many of them answered at once, as those with a token; `session` that the body may
    name a session; `run` that it asks for a run; `programs` that it belongs to the public endpoint,
    which pages of other sites may call where strangers are welcome; `linked` that a link on another
    site may lead to it.
    """

    methods: frozenset[str]
    path: re.Pattern[str]
    most: int = 0
    token: bool = False
    counted: bool = False
    session: bool = False
    run: bool = False
    programs: bool = False
    linked: bool = False


def _route(methods: str, path: str, most: int = 0, **more: bool) -> Route:
    return Route(frozenset(methods.split()), re.compile(path), most, **more)


# A request is at most two texts of 100,000 characters, which JSON may write with 12 bytes each.
REQUEST = 4 * MIB
FILE = 64 * MIB  # a trace

ROUTES = (
    _route("GET HEAD", r"/", linked=True),
    _route("GET HEAD", r"/lab/?", linked=True),
    _route("GET HEAD", r"/(config|theme\.css|manifest\.json|favicon\.ico|robots\.txt)/?"),
    _route("GET HEAD", r"/(assets|static)/.+"),
    _route("GET HEAD", r"/pwa_icon(/\d+)?"),
    _route("GET HEAD", re.escape(START)),
    _route("GET HEAD", rf"{SCRIPT}/[a-z]+\.[0-9a-f]{{32}}\.js"),
    # gradio's own look at whether it has started, and whether it is the same as before.
    _route("GET HEAD", r"/gradio_api/(startup-events|app_id|theme\.css|login_check)/?"),
    _route("GET HEAD", r"/gradio_api/info/?"),
    _route("GET", r"/gradio_api/heartbeat/\w+"),
    _route("GET", r"/gradio_api/queue/data"),
    _route("GET", r"/gradio_api/call/(v2/)?generate/\w+", programs=True),
    _route(
        "POST", r"/gradio_api/call/(v2/)?generate/?", REQUEST, session=True, run=True, programs=True
    ),
    _route("POST", r"/gradio_api/queue/join/?", REQUEST, session=True, run=True),
    _route("POST", r"/gradio_api/(cancel|reset)/?", 64 * KIB, session=True),
    _route("POST", r"/gradio_api/component_server/?", REQUEST, token=True, session=True),
    _route("POST", re.escape(TRACE), FILE, token=True),
)


FOR_AGENTS = (_route("POST", rf"{AGENTS}/?", REQUEST, counted=True, run=True),)
"""Programs ask here. A page of another site may not, wherever it is: it would do so unseen, in the
name of who looks at it."""


def routes_of(path: str, routes: Sequence[Route] = ROUTES) -> list[Route]:
    """Return the routes with this path, one for each way to use it; none for a closed one."""
    return [route for route in routes if route.path.fullmatch(path)]

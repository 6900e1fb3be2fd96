"""The assembly of the page: blocks, theme, and how they are launched."""

from __future__ import annotations

import os
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from xtc_viz.decode import decode_lanes
from xtc_viz.models.host import ModelHost
from xtc_viz.rows import decode_rows
from xtc_viz.runs.worker import Decode, DecodeRows
from xtc_viz.ui import opening, playground, recorded, scripts, web
from xtc_viz.ui.access import May
from xtc_viz.ui.agents.protocol import Agents
from xtc_viz.ui.api import build_api
from xtc_viz.ui.audience import Listeners, Mailboxes
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.gate.gate import Gate
from xtc_viz.ui.gate.routes import FOR_AGENTS, ROUTES
from xtc_viz.ui.lab import route
from xtc_viz.ui.lab.cell import cell_question
from xtc_viz.ui.lab.questions import Lab
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.opening import Opening
from xtc_viz.ui.refusals import HANDLERS, Page
from xtc_viz.ui.servers import NO_SERVERS, Servers
from xtc_viz.ui.service import AT_ONCE, Service

QUEUE = 64  # requests that wait to be looked at; they learn their place right after
HERE = Entrance()


def build(
    host: ModelHost,
    may: May = May.FIXED,
    limits: Limits = NO_LIMITS,
    decode: Decode = decode_lanes,
    rows: DecodeRows = decode_rows,
    servers: Servers = NO_SERVERS,
    lab: Lab | None = None,
    *,
    mcp: bool = False,
) -> Page:
    """Build the page around a model host.

    `may` says which models visitors may load, `servers` which servers among them, `limits` what
    their runs may be (those of the queue are the host's), and `decode` and `rows` decode them.
    `lab` is the laboratory on the same host, None for none; the page has its route then. `mcp` says
    that there are tools for agents (`ui.agents`).
    """
    service = Service(host, limits=limits, decode=decode, rows=rows, may=may, servers=servers)
    page = Page(title="xtc_viz", analytics_enabled=False, fill_width=True)
    page.opening = Opening(service)
    page.scripts = {"": playground.script_of(service.limits, lab=lab is not None)}
    if lab:
        page.scripts[route.PATH] = route.script_of()
    with page:
        cell = cell_question(lab, service.store) if lab else None
        playground.build_playground(
            service, page.scripts[""], recorded.opening(service.store), cell
        )
        build_api(service)
    if lab:
        route.build_route(page, lab, page.scripts[route.PATH])
    if mcp:
        page.agents = Agents(service)
    # Gradio sums up with pandas, at the end of every event, what nobody asks for here.
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
    # Without its queue gradio would give the first report of a run, and leave the rest.
    page.queue(max_size=QUEUE, api_open=False)
    page._queue.pending_messages_per_session = Mailboxes()  # type: ignore[assignment]
    return page


def theme() -> gr.themes.Base:
    """Gradio's base theme with fonts of the system, so that nothing is fetched from elsewhere."""
    return gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["monospace"]).set(
        body_background_fill="#ffffff",
        body_background_fill_dark="#141517",
    )


def launch_options(entrance: Entrance = HERE, agents: Agents | None = None) -> dict[str, Any]:
    """Return what belongs to `launch` in gradio 6, the same for the app and the tests.

    `entrance` says how the page is reached; without it, from this machine. `agents` are those of
    the page, None where it has none.
    """
    routes = (*ROUTES, *FOR_AGENTS) if agents else ROUTES
    return {
        "theme": theme(),
        "css": web.style(),
        "footer_links": [],
        "run_history": False,
        "ssr_mode": False,
        "show_error": False,  # of gradio's own errors; ours are shown all the same
        "quiet": True,
        "enable_monitoring": False,
        "mcp_server": False,  # gradio's own would offer the endpoints of the page
        # Streams are left as they are.
        "app_kwargs": {
            "middleware": [
                Middleware(GZipMiddleware, compresslevel=5),
                Middleware(Gate, entrance=entrance, routes=routes),
                Middleware(Listeners),
                Middleware(scripts.Preload),
            ],
            "exception_handlers": HANDLERS,
            "routes": [opening.ROUTE, scripts.ROUTE, *(agents.routes if agents else ())],
            **({"lifespan": agents.lifespan} if agents else {}),
        },
        # Gradio gives each run that goes or waits one of so many places.
        "max_threads": AT_ONCE,
        # It keeps a state for each session that was ever named, of which nothing here makes use.
        "state_session_capacity": AT_ONCE,
    }

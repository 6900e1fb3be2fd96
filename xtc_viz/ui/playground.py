"""The playground: one HTML component that draws itself, and the server functions that feed it.

The template is constant and holds no values, because gradio runs what stands in a template. All
that changes reaches the page as JSON, and becomes text nodes there.
"""

from __future__ import annotations

from collections.abc import Iterator

import gradio as gr

from xtc_viz.decode import decode_lanes
from xtc_viz.models.host import ModelHost
from xtc_viz.runs.worker import Decode
from xtc_viz.ui import controls, payload, web
from xtc_viz.ui.access import May
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.server import questions
from xtc_viz.ui.stream import Service, stream
from xtc_viz.ui.visitors import visitor_of

TEMPLATE = '<div class="xtc"></div>'
RUNS_AT_ONCE = 32  # they share one model; the others wait in line and are told their place
EVENTS = ("run",)


def on_load(limits: Limits = NO_LIMITS) -> str:
    """Return the script that starts the page, with everything it knows about the settings."""
    spec = payload.encode(controls.specification(limits))
    names = "element, trigger, props, server, watch"
    # Gradio finds the events of a component by their quoted names in this text.
    events = ", ".join(f"'{name}'" for name in EVENTS)
    return (
        f"{web.script('gradio')}\n// events: {events}\n"
        f"module_gradio.startPage({{ {names} }}, {spec});\n//# sourceURL=xtc_viz.js"
    )


def build_playground(
    host: ModelHost,
    store: RunStore,
    opening: object = None,
    may: May = May.FIXED,
    limits: Limits = NO_LIMITS,
    decode: Decode = decode_lanes,
) -> gr.HTML:
    """Build the component within the current blocks.

    `opening` is the message shown at first, `may` says which models visitors may load, `limits`
    what their runs may be, and `decode` decodes them.
    """
    service = Service(host, store, limits=limits, decode=decode)

    def run(event: gr.EventData, request: gr.Request) -> Iterator[str]:
        yield from stream(service, event._data, visitor_of(request))

    page = gr.HTML(
        payload.encode(opening),
        html_template=TEMPLATE,
        js_on_load=on_load(limits),
        apply_default_css=False,
        server_functions=list(questions(host, store, service.stops, may)),
        elem_id="xtc-viz",
    )
    page.run(
        run,
        None,
        page,
        show_progress="hidden",
        trigger_mode="multiple",
        concurrency_limit=RUNS_AT_ONCE,
        api_visibility="private",
    )
    return page

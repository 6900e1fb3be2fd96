"""The playground: one HTML component that draws itself, and the server functions that feed it.

The template is constant and holds no values, because gradio runs what stands in a template. All
that changes reaches the page as JSON, and becomes text nodes there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import gradio as gr

from xtc_viz.ui import controls, payload, web
from xtc_viz.ui.access import granted
from xtc_viz.ui.audience import audience_of
from xtc_viz.ui.gate.token import StaleTokenError, has_token
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.scripts import Script, loader
from xtc_viz.ui.server import Question, questions
from xtc_viz.ui.service import AT_ONCE, Service
from xtc_viz.ui.stream import refusal, stream
from xtc_viz.ui.visitors import visitor_of

TEMPLATE = '<div class="xtc"></div>'
EVENTS = ("run",)


def script_of(limits: Limits = NO_LIMITS, *, lab: bool = False) -> Script:
    """Return the script of the page, with everything it knows about the settings, and whether
    there is a laboratory."""
    spec = payload.encode(controls.specification(limits) | {"lab": lab})
    start = "export const start = (gradio, token) => module_gradio.startPage(gradio, SPEC, token);"
    return Script("page", f"{web.script('gradio')}\nconst SPEC = {spec};\n{start}\n")


def build_playground(
    service: Service, script: Script, opening: object = None, cell: Question | None = None
) -> gr.HTML:
    """Build the component within the current blocks; `script` draws it, `opening` is the message
    shown at first, `cell` the question about a text of the laboratory, None where there is none."""

    async def run(event: gr.EventData, request: gr.Request) -> AsyncIterator[str]:
        if not has_token(request.headers):
            yield refusal(event._data, StaleTokenError())
            return
        may = granted(service.may, request.headers)
        told = stream(service, event._data, visitor_of(request), audience_of(request), may)
        async with aclosing(told) as messages:
            async for message in messages:
                yield message

    page = gr.HTML(
        payload.encode(opening),
        html_template=TEMPLATE,
        js_on_load=loader(script, EVENTS),
        apply_default_css=False,
        server_functions=[*questions(service), *([cell] if cell else [])],
        elem_id="xtc-viz",
    )
    page.run(
        run,
        None,
        page,
        show_progress="hidden",
        trigger_mode="multiple",
        concurrency_limit=AT_ONCE,
        api_visibility="private",
    )
    return page

"""The laboratory's route, a page of its own: one component that draws itself, as the playground
does, and one of gradio's plots, which fetches plotly.js when it has a figure and not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData

from xtc_viz.errors import XTCVizError
from xtc_viz.ui import payload, web
from xtc_viz.ui.access import OpenTo, from_elsewhere
from xtc_viz.ui.gate.token import is_token
from xtc_viz.ui.lab.drawing import picture, wanted
from xtc_viz.ui.lab.questions import Lab, lab_questions
from xtc_viz.ui.scripts import Script, loader
from xtc_viz.ui.service import in_thread

PATH = "lab"
TEMPLATE = '<div class="xtc lab"></div>'
EVENTS = ("draw",)
AT_ONCE = 4  # figures that are drawn


def script_of() -> Script:
    """Return the script of the laboratory's page, with its style sheet."""
    style = payload.encode(web.sheet("lab/lab"))
    start = "export const start = (gradio, token) => module_lab.startLab(gradio, token, STYLE);"
    return Script("lab", f"{web.script('lab')}\nconst STYLE = {style};\n{start}\n")


def build_route(page: gr.Blocks, lab: Lab, script: Script) -> None:
    """Add the route to a page; to be called outside its blocks. `script` draws it."""

    async def draw(event: gr.EventData, request: gr.Request) -> Any:
        # Gradio's own client asks, without the header that carries the token elsewhere.
        data = event._data if isinstance(event._data, Mapping) else {}
        far = lab.open_to is OpenTo.OWN and from_elsewhere(request.headers)
        if far or not is_token(data.get("token")):
            return None
        try:
            text = await in_thread(_drawn, lab, data)
        except XTCVizError:
            return None  # the question about figures says why
        return PlotData(type="plotly", plot=text)

    with page.route("Lab", f"/{PATH}", show_in_navbar=False):
        shown = gr.HTML(
            "",
            html_template=TEMPLATE,
            js_on_load=loader(script, EVENTS),
            apply_default_css=False,
            server_functions=list(lab_questions(lab)),
            elem_id="xtc-lab",
        )
        figure = gr.Plot(show_label=False, container=False, elem_id="xtc-lab-figure")
        shown.draw(
            draw,
            None,
            figure,
            show_progress="hidden",
            trigger_mode="multiple",
            concurrency_limit=AT_ONCE,
            api_visibility="private",
        )


def _drawn(lab: Lab, data: Mapping[str, Any]) -> str:
    """Return the figure that a page asks for. Raises `XTCVizError`."""
    results = lab.sure(data.get("run"), data.get("baseline"))
    return lab.numbers.apart("Drawing this figure", picture, results, *wanted(data))

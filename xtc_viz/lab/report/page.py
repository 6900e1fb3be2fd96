"""A report as one HTML file that opens offline and asks nothing of anyone.

Whatever a template writes is escaped (jinja2), and what does not show in it is written out first
(`texts.visible`): texts of a model, names of conditions and of prompts are strangers' input. The
policy in its head lets only the two scripts run that are in the file, told by their hashes, and
nothing be fetched; figures are data, no scripts.
"""

from __future__ import annotations

import base64
import json
import time
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from xtc_viz.assets import asset
from xtc_viz.lab import wording
from xtc_viz.lab.mechanism import QUANTITIES
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.paper import Reported, load
from xtc_viz.lab.report import again
from xtc_viz.lab.report.content import Report
from xtc_viz.lab.table import rows
from xtc_viz.texts import visible

_FOLDER = asset("report")


def html(report: Report) -> str:
    """Return a whole document, about 5 MB, most of it plotly.js."""
    plotly, script = get_plotlyjs(), (_FOLDER / "report.js").read_text(encoding="utf-8")
    style = (_FOLDER / "report.css").read_text(encoding="utf-8")
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            results=report.results,
            experiment=report.results.experiment,
            identity=asdict(report.run.identity),
            tables=rows(report.results),
            command=again.command(report.run),
            needs_file=again.needs_file(report.run),
            toml=again.toml(report.run),
            paper=load(),
            quantities=QUANTITIES,
            metrics=METRICS,
            policy=policy(plotly, script),
            style=Markup(style),
            plotly=Markup(plotly),
            script=Markup(script),
        )
    )


def policy(*scripts: str) -> str:
    """Return the policy of a page whose only scripts are these."""
    allowed = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(script: str) -> str:
    return base64.b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")


def data(figure: go.Figure) -> Markup:
    """Return a figure as JSON that can stand in a script element: no sign of it is markup."""
    text = json.dumps(json.loads(figure.to_json(engine="json")), separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "data": data,
        "number": wording.number,
        "with_ends": wording.with_ends,
        "says": wording.says,
        "printed": printed,
        "reported": reported,
        "when": _when,
        "quantity": _quantity,
    }
    return found


def _shown(value: Any) -> Any:
    return value if isinstance(value, Markup) else visible("" if value is None else str(value))


def printed(x: float | None) -> str:
    """Return a number as the paper prints it."""
    return "–" if x is None else f"{x:g}"


def reported(value: Reported | None, unit: str = "") -> str:
    """Return a difference as the paper prints it, with its interval where one is."""
    if value is None:
        return ""
    ends = "" if value.low is None else f" [{value.low:+g}, {value.high:+g}]"
    return f"{value.value:+g}{unit}{ends}"


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _quantity(value: float | None) -> str:
    return "–" if value is None else wording.number(value)

"""The figures of a run for the page: which there are, what each says, one drawn; and its report.

They are drawn where runs are measured, in another process, which alone needs plotly for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xtc_viz.errors import SettingsError
from xtc_viz.lab.results import Results


def figures_of(results: Results, metric: str = "") -> list[dict[str, Any]]:
    """Return the figures that these results can have, each with its sentence, and the metrics that
    it may show; `metric` is the one to show where a figure can, "" for its own.

    Raises:
        SettingsError: there is no such metric.
    """
    from xtc_viz.lab.figures import FIGURES
    from xtc_viz.lab.figures.view import Options
    from xtc_viz.lab.metrics import METRICS

    shown = []
    for one in FIGURES.values():
        choices = one.choices(results)
        options = Options(metric=metric if metric in choices else "")
        if one.missing(results, options):
            continue
        shown.append(
            {
                "name": one.name,
                "label": one.label,
                "meaning": one.meaning,
                "sentence": one.sentence(results, options),
                "metrics": [[name, METRICS[name].label] for name in choices],
            }
        )
    return shown


def picture(results: Results, name: str, metric: str, theme: str, width: int) -> str:
    """Return one figure as the JSON of plotly, arranged for a width in pixels.

    Raises:
        SettingsError: there is none of this name, or these results cannot have it; or the width is
            none that a figure has.
    """
    from xtc_viz.lab.figures import figure
    from xtc_viz.lab.figures.view import Options

    one = figure(name)
    chosen = metric if metric in one.choices(results) else ""
    return str(one.draw(results, Options(metric=chosen, theme=theme, width=width)).to_json())


def report_of(path: Path, run: str, baseline: str | None) -> str:
    """Return the report of a stored run, a whole HTML file of about 5 MB.

    Raises:
        SettingsError: nothing is there to report yet.
        StoreError: there is no such run.
    """
    from xtc_viz.lab.reading import find_run
    from xtc_viz.lab.report.content import report
    from xtc_viz.lab.report.page import html
    from xtc_viz.lab.store import Store

    with Store(path, create=False) as store:
        return html(report(store, find_run(store, run), baseline=baseline))


def wanted(data: Mapping[str, Any]) -> tuple[str, str, str, Any]:
    """Return the figure, the metric, the theme and the width that a page asks for.

    Raises:
        SettingsError: a name is none.
    """
    figure, metric = data.get("figure"), data.get("metric", "")
    for name, value in (("figure", figure), ("metric", metric)):
        if not isinstance(value, str):
            raise SettingsError(name, "a name", value)
    return str(figure), metric, "dark" if data.get("dark") else "light", data.get("width")

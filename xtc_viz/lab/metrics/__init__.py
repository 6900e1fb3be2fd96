"""The metrics, one module each, or a few that differ in a number alone.

To add one, add a module here with its `METRICS` (`base`): tables, figures and the command line
know it then.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from xtc_viz.errors import SettingsError
from xtc_viz.lab.metrics.base import Family, Metric
from xtc_viz.lab.samples import Samples


def _metrics() -> dict[str, Metric]:
    names = [module.name for module in iter_modules(__path__) if module.name != "base"]
    metrics = [one for name in names for one in import_module(f"{__name__}.{name}").METRICS]
    return {one.name: one for one in sorted(metrics, key=lambda one: one.place)}


METRICS: dict[str, Metric] = _metrics()
"""All of them by name, in the order of tables."""


def fitting(*, judged: bool) -> tuple[str, ...]:
    """Return the names of all that can be measured; `judged` where prompts say what is right."""
    return tuple(
        name for name, one in METRICS.items() if judged or one.family is not Family.ANSWERS
    )


def chosen(names: Iterable[str]) -> tuple[Metric, ...]:
    """Return the metrics of these names, in the order of tables.

    Raises:
        SettingsError: one of the names is no metric's.
    """
    wanted = set(names)
    for name in sorted(wanted - METRICS.keys()):
        raise SettingsError("metric", f"one of {', '.join(METRICS)}", name)
    return tuple(metric for name, metric in METRICS.items() if name in wanted)


def measure(
    samples: Samples, metrics: Iterable[Metric] = tuple(METRICS.values())
) -> dict[str, float | None]:
    """Return the value of each metric by its name, None where it is not defined."""
    return {metric.name: metric.value(samples) for metric in metrics}

"""The figures of a run, one module each, with the sentence that its numbers allow.

To add one, add a module here with its `FIGURE` (`base`): page, report and command line know it
then.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from xtc_viz.errors import SettingsError
from xtc_viz.lab.figures.base import LabFigure

_PARTS = {"base", "factors", "fitting", "heat", "panels", "placing", "signs", "view", "words"}
"""What figures are made with."""


def _figures() -> dict[str, LabFigure]:
    names = [module.name for module in iter_modules(__path__) if module.name not in _PARTS]
    figures: list[LabFigure] = [import_module(f"{__name__}.{name}").FIGURE for name in names]
    return {one.name: one for one in sorted(figures, key=lambda one: one.place)}


FIGURES: dict[str, LabFigure] = _figures()
"""All of them by name, in the order of reports."""


def figure(name: str) -> LabFigure:
    """Return the figure of this name.

    Raises:
        SettingsError: there is none.
    """
    if name not in FIGURES:
        raise SettingsError("figure", f"one of {', '.join(FIGURES)}", name)
    return FIGURES[name]

"""The engines, one module each.

To add one, add a module here with its `ENGINE` (`engines.base`): settings, the page, documents and
golden vectors know it then.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from xtc_viz.engines.base import Engine


def _engines() -> dict[str, Engine]:
    names = [module.name for module in iter_modules(__path__)]
    engines = [import_module(f"{__name__}.{name}").ENGINE for name in names]
    return {one.name: one for one in sorted(engines, key=lambda one: (one.place, one.name))}


ENGINES: dict[str, Engine] = _engines()
"""All of them by name, in the order of tables; the paper is the first."""

"""The forms in which programs write their settings, one module a program.

To add one, add a module here with its `FORMS` (`base`): reading, writing, the command line and the
page know them then.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from xtc_viz.engines.forms.base import Form


def _forms() -> dict[str, Form]:
    names = [module.name for module in iter_modules(__path__) if module.name != "base"]
    forms: list[Form] = []
    for name in names:
        forms += import_module(f"{__name__}.{name}").FORMS
    return {form.name: form for form in sorted(forms, key=lambda form: (form.place, form.name))}


FORMS: dict[str, Form] = _forms()
"""All of them by name, in the order of menus."""

"""Settings out of another program's words: the program, the lane, what was not understood."""

from __future__ import annotations

from collections.abc import Mapping

from xtc_viz.engines.forms import FORMS
from xtc_viz.engines.forms.base import Form, Raw
from xtc_viz.engines.reader import Reader, Reading
from xtc_viz.engines.syntax import parse
from xtc_viz.errors import FormError, SettingsError
from xtc_viz.settings import LaneSettings

_WRAPPERS = (
    "generation_settings", "default_generation_settings", "params", "parameters", "extra_body",
    "sampling_params",
)  # fmt: skip
_CALLS = {name: words for form in FORMS.values() for name, words in form.calls.items()}


def form_of(name: object) -> Form:
    """Return a form by its name. Raises `SettingsError`."""
    if not isinstance(name, str) or name not in FORMS:
        raise SettingsError("form", f"one of {', '.join(FORMS)}", name)
    return FORMS[name]


def read(text: object, form: object = None) -> Reading:
    """Return the lane that a text describes. Which form it has is told by its names, unless `form`
    says it by its own name.

    Raises:
        FormError: it holds no settings that any form knows, or is no text that can be read.
        SettingsError: there is no such form, or settings of our own are out of their bounds.
    """
    chosen = None if form is None else form_of(form)
    syntax, raw = parse(text, _CALLS)
    if isinstance(raw.get("sampler"), Mapping):
        return Reading(None, LaneSettings.from_dict(raw))
    for name in _WRAPPERS:
        if isinstance(raw.get(name), Mapping):
            inner = raw.pop(name)
            raw |= {str(key): value for key, value in inner.items()}
    fits = [one for one in FORMS.values() if one.syntax is syntax]
    if chosen:
        if chosen not in fits:
            words = f"This text is {syntax.upper()}, and {chosen.label} is {chosen.syntax.upper()}."
            raise FormError(words)
        return Reader(chosen, raw).reading()
    scores = {one.name: _score(one, raw) for one in fits}
    best = max(scores.values())
    likely = [one for one in fits if scores[one.name] == best]
    if not best[0]:
        raise FormError("No name in this text is a setting of a program that is known here.")
    return Reader(likely[0], raw, tuple(one.name for one in likely[1:])).reading()


def _score(form: Form, raw: Raw) -> tuple[int, int]:
    """Return how well a form fits: how many names it knows, and less for each other one."""
    flat = form.unpack(dict(raw))
    said = {*raw, *(str(k) for v in raw.values() if isinstance(v, Mapping) for k in v)}
    fields = {name for one in form.fields for name in (one.name, *one.also)}
    numbers = [name for name in flat if name in said & fields and _is_one(flat[name])]
    if not numbers:
        return 0, 0
    names = form.names - fields
    known = len(numbers) + sum(name in said and name in names for name in flat)
    return known, known - len(flat)


def _is_one(value: object) -> bool:
    return not isinstance(value, (Mapping, list))

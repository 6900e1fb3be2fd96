"""Settings of a lane in other programs' words, for the page: to take away and to bring here."""

from __future__ import annotations

from typing import Any

from xtc_viz.engines.forms import FORMS
from xtc_viz.engines.reader import Reading, Taken
from xtc_viz.engines.reading import form_of, read
from xtc_viz.engines.writing import write
from xtc_viz.models.base import LanguageModel
from xtc_viz.runs.protection import Protection
from xtc_viz.settings import LaneSettings, with_protected


def choices() -> list[list[str]]:
    """Return the forms as [name, label]."""
    return [[form.name, form.label] for form in FORMS.values()]


def taken_home(
    lane: object, form: object, protect: object, model: LanguageModel | None
) -> dict[str, Any]:
    """Return a lane's settings in a form's words, and what differs there.

    Where the page gives a choice of protected tokens, these are those of the model in memory;
    null leaves the lane's own.
    """
    settings = LaneSettings.from_dict(lane)
    if protect is not None and model is not None:
        settings = with_protected(settings, Protection.parse(protect).ids(model))
    written = write(settings, form_of(form))
    return {"text": written.text, "remarks": written.remarks, "file": written.form.file}


def brought_here(text: object, form: object) -> dict[str, Any]:
    """Return the lane that a text describes and what was not understood of it."""
    reading = read(text, form)
    problems = list(reading.problems)
    if reading.lane.sampler.xtc.protected:
        problems.append("Protected tokens are chosen for all lanes together here: see Options.")
    return {
        "form": reading.form.name if reading.form else None,
        "engine": _engine(reading),
        "others": list(reading.others),
        "lane": with_protected(reading.lane, ()).to_dict(),
        "taken": [_row(one) for one in reading.taken],
        "assumed": [_row(one) for one in reading.assumed],
        "problems": problems,
        "left": reading.left,
    }


def _engine(reading: Reading) -> str:
    """Return whose rule and order the lane has; "" where the text does not say it."""
    return "" if reading.form is None or reading.others else reading.form.engine


def _row(one: Taken) -> list[str]:
    return [one.name, one.value, one.label, one.ours]

"""Settings in another program's words, and what will differ there.

What differs is found by reading back what was written, so that nothing can be lost unsaid.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from xtc_viz.engines.forms.base import RHO, TAU, Field, Form, Raw
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.reader import BREAKERS, PENALTIES, WINDOW
from xtc_viz.engines.reading import read
from xtc_viz.engines.readorder import temperature_last
from xtc_viz.engines.syntax import written
from xtc_viz.engines.unlike import unlike
from xtc_viz.knobs import KNOBS
from xtc_viz.sampling.stages import STAGES
from xtc_viz.sampling.stages.base import Stage
from xtc_viz.settings import ORDER, TEMPERATURE, XTC, LaneSettings, SamplerSettings

_SUBTRACTING = frozenset({"presence_penalty", "frequency_penalty", "dry"})
_STAGE_OF = {knob.name: stage for stage in STAGES for knob in stage.knobs}


@dataclass(frozen=True, slots=True)
class Written:
    """A text in a program's words, and sentences about what differs there."""

    form: Form
    text: str
    remarks: tuple[str, ...]


def write(lane: LaneSettings, form: Form) -> Written:
    """Return a lane's settings in a form's words, with a remark on each thing that differs."""
    sampler = lane.sampler
    raw = form.pack(_raw(sampler, form))
    text = form.code(raw) if form.code else written(form.syntax, raw)
    back = read(text, form.name).lane.sampler
    engine = ENGINES.get(form.engine)
    remarks = [
        *_refused(sampler, form),
        *_left_out(sampler, back, form),
        *_reordered(sampler, back),
        *(unlike(sampler, engine, listed=bool(form.protected)) if engine else ()),
        *form.about,
    ]
    return Written(form, text, tuple(remarks))


def _raw(sampler: SamplerSettings, form: Form) -> Raw:
    raw: Raw = {}
    for one in form.fields:
        if form.complete or (_matters(sampler, one, form) and _exists(one.knob, form)):
            shared = one.knob == WINDOW and form.one_window and not _penalized(sampler)
            raw[one.name] = _value(one, _ours(sampler, "dry_window" if shared else one.knob))
    ends = form.ends
    if ends and (sampler.dynatemp_range or form.complete):
        middle, range_ = sampler.temperature, sampler.dynatemp_range
        on = range_ > 0
        raw[ends.low] = max(0.0, middle - range_) if on else ends.off
        raw[ends.high] = middle + range_ if on else ends.off
        if ends.switch:
            raw[ends.switch] = on
    if form.protected and sampler.xtc.protected:
        raw[form.protected] = sorted(sampler.xtc.protected)
    if form.breakers is not None and sampler.dry_multiplier:
        raw[BREAKERS] = form.breakers
    return raw | _order(sampler, form)


def _penalized(sampler: SamplerSettings) -> bool:
    return any(_stage(name).is_on(sampler) for name in PENALTIES)


def _matters(sampler: SamplerSettings, one: Field, form: Form) -> bool:
    """Whether a field has to be said: it is on here, or would be on there."""
    if one.knob in (RHO, TAU, TEMPERATURE):
        return True
    stage = _STAGE_OF[one.knob]
    if one.knob == WINDOW:
        return _penalized(sampler) or (form.one_window and bool(sampler.dry_multiplier))
    if stage.name == TEMPERATURE:
        return bool(sampler.dynatemp_range)
    there = one.knob in stage.switched_by and one.ours(one.absent) != KNOBS[one.knob].default
    return stage.is_on(sampler) or there


def _exists(knob: str, form: Form) -> bool:
    """Whether the engine has the stage of a knob; what only takes settings has all."""
    engine = ENGINES.get(form.engine)
    return engine is None or knob not in _STAGE_OF or _STAGE_OF[knob].name in engine.order


def _stage(name: str) -> Stage:
    return next(stage for stage in STAGES if stage.name == name)


def _ours(sampler: SamplerSettings, knob: str) -> float:
    value: float = getattr(sampler.xtc if knob in (RHO, TAU) else sampler, knob)
    return value


def _value(one: Field, ours: float) -> float:
    theirs = one.theirs(ours)
    return int(theirs) if KNOBS[one.knob].integer else theirs


def acting(sampler: SamplerSettings, order: tuple[str, ...]) -> list[str]:
    """Return the stages that do something, in an order."""
    on = {stage.name for stage in STAGES if stage.is_on(sampler)}
    on |= {XTC} if sampler.xtc.rho else set()
    # At temperature 0 nothing is scaled: the most probable token is taken in the end.
    on -= set() if sampler.temperature or sampler.dynatemp_range else {TEMPERATURE}
    there = [stage for stage in order if stage in on]
    # What subtracts from the same logits comes to the same in any order.
    runs = groupby(there, key=_SUBTRACTING.__contains__)
    return [stage for same, run in runs for stage in (sorted(run) if same else run)]


def _order(sampler: SamplerSettings, form: Form) -> Raw:
    """Return the fields of the order, where it is not the program's own."""
    engine = ENGINES.get(form.engine)
    usual = engine.order if engine else ORDER
    wanted = acting(sampler, sampler.order)
    if form.orders:
        if wanted == acting(sampler, usual) and not form.complete:
            return {}
        last: Raw = {form.temperature_last: False} if form.temperature_last else {}
        return (last if form.complete else {}) | {
            one.name: one.written(sampler.order) for one in form.orders
        }
    if form.temperature_last and wanted != acting(sampler, usual):
        moved = acting(sampler, temperature_last(usual, form))
        return {form.temperature_last: True} if wanted == moved else {}
    return {}


def _refused(sampler: SamplerSettings, form: Form) -> list[str]:
    """Say what the program will not take."""
    words = []
    for one in form.fields:
        value = one.theirs(_ours(sampler, one.knob))
        if _matters(sampler, one, form) and not one.low <= value <= one.high:
            if one.knob == TAU and not sampler.xtc.rho:
                continue
            bound = f"below {one.low:g}" if value < one.low else f"above {one.high:g}"
            words.append(f"It takes no `{one.name}` {bound}, and this is {value:g}.")
    most, count = form.most_protected, len(sampler.xtc.protected)
    if most is not None and count > most:
        words.append(f"It takes at most {most} protected tokens, and these are {count:,}.")
    return words


def _left_out(sampler: SamplerSettings, back: SamplerSettings, form: Form) -> list[str]:
    """Name every setting that did not come back as it was."""
    words = []
    fields = {one.knob for one in form.fields}
    fields |= {"dynatemp_range"} if form.ends else set()
    fields |= {"dry_window"} if form.one_window else set()
    for knob, stage in _STAGE_OF.items():
        here, there = getattr(sampler, knob), getattr(back, knob)
        heard = _penalized(sampler) or _penalized(back)
        acts = heard if knob == WINDOW else stage.is_on(sampler) or stage.is_on(back)
        if knob == "dynatemp_exponent":
            acts = bool(sampler.dynatemp_range)
        if not acts or abs(here - there) <= 1e-9 * max(1.0, abs(here)):
            continue
        label = KNOBS[knob].label
        if knob not in fields or not _exists(knob, form):
            words.append(f"{label} ({here:g}) does not exist there and is left out.")
        else:
            words.append(f"{label} is {here:g} here and {there:g} there.")
    xtc = sampler.xtc
    if xtc.rho:
        if xtc.strategy != back.xtc.strategy:
            words.append("XTC always keeps the least probable eligible token there.")
        if xtc.protected and not form.protected and not form.engine:
            words.append("Protected tokens cannot be said there and are left out.")
        elif xtc.protected and form.protected:
            words.append("The protected token ids are those of this model's vocabulary.")
    return words


def _reordered(sampler: SamplerSettings, back: SamplerSettings) -> list[str]:
    here = acting(sampler, sampler.order)
    there = [stage for stage in acting(back, back.order) if stage in here]
    if [stage for stage in here if stage in there] == there:
        return []
    labels = {stage.name: stage.label for stage in STAGES} | {XTC: "XTC"}
    chain = ", ".join(labels[stage] for stage in there)
    return [f"The stages act in another order there: {chain}."]

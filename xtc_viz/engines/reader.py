"""One text in one form, setting by setting."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xtc_viz.engines.forms.base import RHO, TAU, Ends, Field, Form, Raw
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.readorder import read_order
from xtc_viz.engines.values import idle, number, typed, yes
from xtc_viz.errors import SettingsError, shortened, shown
from xtc_viz.knobs import KNOBS
from xtc_viz.sampling.dialect import PAPER
from xtc_viz.sampling.stages import STAGES
from xtc_viz.settings import (
    MIN_TEMPERATURE,
    ORDER,
    TEMPERATURE,
    XTC,
    LaneSettings,
    SamplerSettings,
    XTCSettings,
)

MOST_NAMED = 20
"""Names that a message lists."""
PENALTIES = ("repetition_penalty", "presence_penalty", "frequency_penalty")
WINDOW = "penalty_window"
"""How far all of them look back."""
BREAKERS = "dry_sequence_breakers"


@dataclass(frozen=True, slots=True)
class Taken:
    """A setting as it stood there and as it is here."""

    name: str
    value: str
    label: str
    ours: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read. `form` is None for settings of our own, `others` are forms that it might be
    as well. `assumed` are settings that the text does not say and that the program has on;
    `problems` are sentences about what was not understood, `left` names that are no lane's."""

    form: Form | None
    lane: LaneSettings
    taken: tuple[Taken, ...] = ()
    assumed: tuple[Taken, ...] = ()
    problems: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


class Reader:
    """One text in one form."""

    def __init__(self, form: Form, raw: Raw, others: tuple[str, ...] = ()) -> None:
        self.form = form
        self.others = others
        self.raw = form.unpack(raw)
        self.taken: list[Taken] = []
        self.unsaid: list[Field] = []
        self.problems: list[str] = []
        self.values: dict[str, float] = {}

    def reading(self) -> Reading:
        form, raw, others = self.form, self.raw, self.others
        for one in sorted(form.fields, key=lambda one: one.knob != RHO):
            self.read_field(one)
        for one in form.fields:
            self.read_window(one)
        if form.ends:
            self.read_ends(form.ends)
        if form.do_sample and form.do_sample in raw and not yes(raw[form.do_sample]):
            self.values[TEMPERATURE] = 0.0
            self.note(form.do_sample, TEMPERATURE, 0.0)
        if not others:
            self.leave_idle()
        order = self.order()
        if form.one_window and self.values["dry_multiplier"]:
            self.values["dry_window"] = self.values[WINDOW]
        self.tidy()
        protected = self.protected()
        self.read_others()
        engine = None if others else ENGINES.get(form.engine)
        values = dict(self.values)
        xtc = XTCSettings(
            values.pop(RHO, 0.0),
            values.pop(TAU, KNOBS[TAU].default),
            protected=protected,
            dialect=engine.dialect if engine else PAPER,
        )
        sampler = SamplerSettings(**values, xtc=xtc, order=ORDER if others else order)
        left = sorted(name for name in raw if name in form.left)
        named = form.label.partition(":")[0]
        return Reading(
            form, LaneSettings(named, sampler), tuple(self.taken), self.assumed(),
            tuple(_few(self.problems)), tuple(left[:MOST_NAMED]), others,
        )  # fmt: skip

    def note(self, name: str, knob: str, ours: float) -> None:
        value = self.raw.get(name, "")
        value = shortened(value) if isinstance(value, str) else shown(value)
        self.taken.append(Taken(name, value, KNOBS[knob].label, f"{ours:g}"))

    def read_field(self, one: Field) -> None:
        """Take a field's value, or what the program has in its place."""
        knob = KNOBS[one.knob]
        idle = one.knob == TAU and not self.values[RHO]  # XTC is off, whatever τ is
        names = [name for name in (one.name, *one.also) if self.raw.get(name) is not None]
        self.values[one.knob] = knob.default
        try:
            self.values[one.knob] = _checked(one, one.name, one.absent)
        except SettingsError as error:
            if not names and not idle and not self.others:
                words = f"`{one.name}` is not said, and is {one.absent:g} there"
                self.problems.append(f"{words}; here it must be {error.bounds}.")
        if not names:
            # A text that several programs may have written says nothing of the defaults of one.
            if self.others:
                self.values[one.knob] = knob.default if one.knob != RHO else 0.0
            else:
                self.unsaid.append(one)
            return
        value = self.raw[names[0]]
        for other in names[1:]:
            if self.raw[other] != value:
                words = f"`{other}` is {shown(self.raw[other])}; here it is as `{names[0]}`"
                self.problems.append(f"{words}, {shown(value)}.")
        try:
            self.values[one.knob] = _checked(one, names[0], value)
        except SettingsError as error:
            if not idle:
                now = self.values[one.knob]
                self.problems.append(f"{error}. {knob.label} is {now:g} here.")
        else:
            self.note(names[0], one.knob, self.values[one.knob])

    def assumed(self) -> tuple[Taken, ...]:
        """Return what acts here because the program has it on where nobody says anything."""
        acting = [one for one in self.unsaid if self.values[one.knob] != KNOBS[one.knob].default]
        return tuple(
            Taken(
                one.name,
                f"{one.absent:g}",
                KNOBS[one.knob].label,
                f"{self.values[one.knob]:g}",
            )
            for one in acting
        )

    def tidy(self) -> None:
        """Put what belongs to stages that are off to its defaults: it says nothing."""
        for stage in STAGES:
            knobs = {knob.name: knob.default for knob in stage.knobs}
            here = {name: self.values[name] for name in knobs if name in self.values}
            if any(here.get(name, knobs[name]) != knobs[name] for name in stage.switched_by):
                continue
            self.values |= {name: knobs[name] for name in here if name != WINDOW}
        if all(
            self.values.get(name, KNOBS[name].default) == KNOBS[name].default for name in PENALTIES
        ):
            self.values[WINDOW] = KNOBS[WINDOW].default

    def read_window(self, one: Field) -> None:
        """A window may switch off what looks back through it."""
        if one.off_at is None or number(self.raw.get(one.name)) != one.off_at:
            return
        for knob in PENALTIES if one.knob == WINDOW else ("dry_multiplier",):
            if self.values.get(knob, KNOBS[knob].default) != KNOBS[knob].default:
                words = f"`{one.name}` of {one.off_at:g} switches {KNOBS[knob].label} off there."
                self.problems.append(words)
                self.values[knob] = KNOBS[knob].default

    def leave_idle(self) -> None:
        """Switch off what the engine takes and does nothing with."""
        engine = ENGINES.get(self.form.engine)
        for stage in STAGES if engine else ():
            switches = [knob for knob in stage.knobs if knob.name in stage.switched_by]
            on = [k for k in switches if self.values.get(k.name, k.default) != k.default]
            if on and engine and stage.name not in engine.order:
                self.problems.append(f"{stage.label} does nothing there, and is off here.")
                self.values |= {knob.name: knob.default for knob in on}

    def read_ends(self, ends: Ends) -> None:
        """Dynamic temperature from its two ends."""
        low_name, high_name = (
            next((name for name in names if name in self.raw), names[0])
            for names in zip((ends.low, ends.high), ends.also or (ends.low, ends.high), strict=True)
        )
        on = yes(self.raw.get(ends.switch)) if ends.switch else True
        if not on or not {low_name, high_name} & set(self.raw):
            return
        try:
            low, high = (
                KNOBS[TEMPERATURE].check(number(self.raw.get(name, ends.off)))
                for name in (low_name, high_name)
            )
        except SettingsError as error:
            self.problems.append(f"`{low_name}`, `{high_name}`: {error}.")
            return
        if high <= low:
            return
        self.values[TEMPERATURE] = (low + high) / 2
        self.values["dynatemp_range"] = (high - low) / 2
        self.note(low_name, TEMPERATURE, self.values[TEMPERATURE])
        self.note(high_name, "dynatemp_range", self.values["dynatemp_range"])

    def order(self) -> tuple[str, ...]:
        dynamic = self.values.get("dynatemp_range", 0.0) > 0
        read = read_order(self.form, self.raw, dynamic=dynamic)
        self.problems += read.problems
        for stage in read.out:
            self.switch_off(stage, read.name)
        return read.order

    def switch_off(self, stage: str, order: str) -> None:
        """A stage that is not in the list never acts."""
        if stage == XTC:
            on, label = self.values.get(RHO, 0.0) > 0, "XTC"
            self.values[RHO] = 0.0
        else:
            found = next(one for one in STAGES if one.name == stage)
            label = found.label
            on = any(self.values.get(k.name, k.default) != k.default for k in found.knobs
                     if k.name in found.switched_by)  # fmt: skip
            for knob in found.knobs:
                if knob.name in found.switched_by and knob.name in self.values:
                    self.values[knob.name] = knob.default
        if on:
            self.problems.append(f"`{order}` leaves {label} out, so that it never acts.")

    def protected(self) -> frozenset[int]:
        name = self.form.protected
        ids = self.raw.get(name) if name else None
        if ids is None:
            return frozenset()
        listed = ids if isinstance(ids, (list, tuple, set)) else [ids]
        try:
            return XTCSettings(protected=listed).protected  # type: ignore[arg-type]
        except SettingsError as error:
            self.problems.append(f"`{name}`: {error}.")
            return frozenset()

    def read_others(self) -> None:
        """Name what does something there and has nothing here."""
        form = self.form
        others, names = dict(form.others), form.names
        if form.breakers is not None and self.values.get("dry_multiplier"):
            others[BREAKERS] = form.breakers
        for name, value in self.raw.items():
            if name not in names:
                self.problems.append(f"`{shortened(name, 60)}` is not known as a setting there.")
            elif name in others and not idle(value, others[name]):
                words = f"`{name}` is {shown(value)} there, and nothing here does that."
                self.problems.append(words)


def _checked(one: Field, name: str, value: object) -> float:
    """Return a field's value as ours; complain in the program's word and units."""
    knob = replace(KNOBS[one.knob], name=name)
    theirs = number(value)
    scaled = replace(knob, low=one.theirs(knob.low), high=one.theirs(knob.high))
    if theirs is None or theirs != theirs or abs(theirs) > 1e300:
        raise SettingsError(name, (scaled if one.digits else knob).interval, value)
    try:
        ours = knob.check(one.ours(typed(theirs)))
    except SettingsError:
        raise SettingsError(name, (scaled if one.digits else knob).interval, value) from None
    if one.knob == TEMPERATURE and 0.0 < ours < MIN_TEMPERATURE:
        raise SettingsError(name, f"0 or at least {MIN_TEMPERATURE}", value)
    return ours


def _few(sentences: list[str]) -> list[str]:
    if len(sentences) <= MOST_NAMED:
        return sentences
    return [*sentences[:MOST_NAMED], f"And {len(sentences) - MOST_NAMED:,} more."]

"""An experiment as a frozen value: suite × conditions × seeds × samples, and how long a text is.

As TOML (`tomlfile`):

    name = "mine"
    question = "Does min-p with XTC repeat itself less?"
    suite = "creative"          # or the path of a JSONL file
    seeds = [7]
    samples = 8                 # texts of each prompt, condition and seed
    length = 176                # tokens at most

    [small]                     # the same in short
    prompts = 12
    samples = 2
    length = 64

    [protect]                   # what XTC must never silence, as on the page
    eos = true
    newline = "all"

    [[conditions]]
    name = "baseline"

    [[conditions]]
    name = "XTC medium"
    sampler = { xtc = { rho = 0.5, tau = 0.1 } }

A sampler's settings are those of `settings.SamplerSettings`; what it leaves out is off. Suite and
conditions must be there, the rest has the defaults of `Experiment`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from xtc_viz.errors import SettingsError, shown
from xtc_viz.knobs import KNOBS
from xtc_viz.runs.protection import Protection
from xtc_viz.settings import XTC_OFF, LaneSettings, SamplerSettings
from xtc_viz.texts import valid

MAX_CONDITIONS = 256
MAX_SAMPLES = 10_000
MAX_TEXT = 1_000  # characters of a name and of a question


@dataclass(frozen=True, slots=True)
class Size:
    """How much of an experiment its small version is: `prompts` of its suite, evenly spread
    (0 means all), texts of each, and tokens."""

    prompts: int = 6
    samples: int = 2
    length: int = 48

    def __post_init__(self) -> None:
        _whole("small.prompts", self.prompts, 0, MAX_SAMPLES)
        _whole("small.samples", self.samples, 1, MAX_SAMPLES)
        _length("small.length", self.length)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is to be run.

    Each prompt of the suite is written on with each condition, seed and sample, up to `length`
    tokens, or to an end of text or one of `stop`. `model` is the one to take where the caller
    names none; `prompts` how many of the suite (0 means all). A condition's name is what tables
    and figures call it.
    """

    name: str
    suite: str
    conditions: tuple[LaneSettings, ...]
    question: str = ""
    seeds: tuple[int, ...] = (int(KNOBS["seed"].default),)
    samples: int = 8
    length: int = 176
    prompts: int = 0
    stop: tuple[str, ...] = ()
    protect: Protection = field(default_factory=Protection)
    model: str = ""
    small: Size = field(default_factory=Size)

    def __post_init__(self) -> None:
        for name in ("name", "suite"):
            if not getattr(self, name):
                raise SettingsError(name, f"a text of 1 to {MAX_TEXT:,} characters", "")
        for name in ("name", "suite", "question", "model"):
            _text(name, getattr(self, name))
        object.__setattr__(self, "conditions", tuple(self.conditions))
        object.__setattr__(self, "seeds", tuple(self.seeds))
        object.__setattr__(self, "stop", tuple(self.stop))
        _whole("samples", self.samples, 1, MAX_SAMPLES)
        _whole("prompts", self.prompts, 0, 10**9)
        _length("length", self.length)
        for seed in self.seeds:
            KNOBS["seed"].check(seed)
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise SettingsError("seeds", "a list of different integers", list(self.seeds))
        for text in self.stop:
            if not text:
                raise SettingsError("stop", "a list of non-empty texts", list(self.stop))
            _text("stop", text)
        _check_conditions(self.conditions)

    def in_small(self) -> Experiment:
        """Return the small version: no more prompts and samples, no longer texts, one seed."""
        small = self.small
        counts = [count for count in (self.prompts, small.prompts) if count]
        return replace(
            self,
            prompts=min(counts, default=0),
            samples=min(self.samples, small.samples),
            length=min(self.length, small.length),
            seeds=self.seeds[:1],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; what is at its default is left out, but for sizes and seeds."""
        values: dict[str, Any] = {"name": self.name}
        for name in ("question", "suite", "model"):
            if getattr(self, name):
                values[name] = getattr(self, name)
        values |= {"seeds": list(self.seeds), "samples": self.samples, "length": self.length}
        if self.prompts:
            values["prompts"] = self.prompts
        if self.stop:
            values["stop"] = list(self.stop)
        values["small"] = {f.name: getattr(self.small, f.name) for f in fields(Size)}
        if self.protect != Protection():
            values["protect"] = self.protect.to_dict()
        values["conditions"] = [_condition(condition) for condition in self.conditions]
        return values

    @classmethod
    def from_dict(cls, data: object) -> Experiment:
        """Return the experiment that plain values hold.

        Raises:
            SettingsError: naming the field; that of a condition with the condition's number.
        """
        values = _known("experiment", data, cls)
        for name in ("name", "suite", "conditions"):
            if name not in values:
                raise SettingsError(name, "there", None)
        conditions = _list("conditions", values["conditions"])
        values["conditions"] = [_read_condition(n, own) for n, own in enumerate(conditions, 1)]
        for name in ("seeds", "stop"):
            if name in values:
                values[name] = _list(name, values[name])
        if "stop" in values and not all(isinstance(text, str) for text in values["stop"]):
            raise SettingsError("stop", "a list of non-empty texts", values["stop"])
        if "protect" in values:
            values["protect"] = Protection.parse(_known("protect", values["protect"], Protection))
        if "small" in values:
            values["small"] = Size(**_known("small", values["small"], Size))
        return cls(**values)


def effective(sampler: SamplerSettings) -> SamplerSettings:
    """Return a sampler without what does nothing: XTC that never acts has no τ and no strategy."""
    off = not sampler.xtc.rho
    return replace(sampler, xtc=XTC_OFF) if off else sampler


def _check_conditions(conditions: tuple[LaneSettings, ...]) -> None:
    """Raise `SettingsError` for none, too many, two of one name, or two of the same settings."""
    if not 1 <= len(conditions) <= MAX_CONDITIONS:
        raise SettingsError("conditions", f"1 to {MAX_CONDITIONS}", len(conditions))
    names: dict[str, int] = {}
    samplers: dict[SamplerSettings, int] = {}
    for number, condition in enumerate(conditions, 1):
        where = f"condition {number}"
        if not condition.name.strip():
            raise SettingsError(f"{where}: name", "a text", condition.name)
        _text(f"{where}: name", condition.name)
        if (first := names.setdefault(condition.name, number)) != number:
            bounds = f"another than that of condition {first}"
            raise SettingsError(f"{where}: name", bounds, condition.name)
        if (first := samplers.setdefault(effective(condition.sampler), number)) != number:
            other = shown(conditions[first - 1].name)
            bounds = f"of other settings than condition {first} ({other})"
            raise SettingsError(where, bounds, condition.name)


def _read_condition(number: int, data: object) -> LaneSettings:
    try:
        values = _known("condition", data, LaneSettings)
        if "name" not in values:
            raise SettingsError("name", "there", None)
        condition = LaneSettings.from_dict(values)
    except SettingsError as error:
        where = f"condition {number}: {error.parameter}"
        raise SettingsError(where, error.bounds, error.value) from None
    return condition


def _condition(condition: LaneSettings) -> dict[str, Any]:
    """Return a condition's plain values, without those that are at their default."""
    own = _changed(condition.sampler.to_dict(), SamplerSettings().to_dict())
    return {"name": condition.name} | ({"sampler": own} if own else {})


def _changed(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    changed = {}
    for name, value in values.items():
        if name == "xtc" and value != defaults[name]:
            # Its ρ and τ always: they are what it is.
            plain = {"protected": [], "strategy": "keep_least"}
            changed[name] = {n: v for n, v in value.items() if plain.get(n) != v}
        elif value != defaults[name]:
            changed[name] = value
    return changed


def _known(where: str, data: object, kind: type[Any]) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise SettingsError(where, "a table with named values", data)
    names = [f.name for f in fields(kind)]
    for name in data:
        if name not in names:
            raise SettingsError(str(name), f"one of {', '.join(names)}", name)
    return dict(data)


def _list(name: str, value: object) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise SettingsError(name, "a list", value)
    return list(value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise SettingsError(name, f"a text of at most {MAX_TEXT:,} characters", value)
    return valid(name, value)


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SettingsError(name, f"an integer in [{low}, {high:,}]", value)


def _length(name: str, value: object) -> None:
    knob = KNOBS["max_new_tokens"]
    _whole(name, value, int(knob.low), int(knob.high))

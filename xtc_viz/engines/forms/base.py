"""What a form is: the settings of a lane in the words of one program, as data.

Each program has a module of its own with its `FORMS`; `engines.reading` and `engines.writing` do
with this data whatever is to be done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

Raw = dict[str, Any]
"""Names and values of a program, as they stand in a text."""

RHO, TAU = "rho", "tau"


class Syntax(StrEnum):
    """How a text is written."""

    FLAGS = "flags"
    JSON = "json"
    YAML = "yaml"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Field:
    """A number of a program and the knob that it is here.

    `absent` is what the program takes where the text does not say it, in the program's own units:
    theirs is ours with the point moved by `digits` places. `also` are other names for it, `special`
    pairs of a number there and what it is here. Outside `low` and `high` the program takes it not.
    A window that is `off_at` a number switches off what looks back through it.
    """

    name: str
    knob: str
    absent: float
    also: tuple[str, ...] = ()
    digits: int = 0
    special: tuple[tuple[float, float], ...] = ()
    low: float = -math.inf
    high: float = math.inf
    off_at: float | None = None

    def ours(self, theirs: float) -> float:
        for there, here in self.special:
            if theirs == there:
                return here
        return _moved(theirs, -self.digits)

    def theirs(self, ours: float) -> float:
        for there, here in self.special:
            if ours == here:
                return there
        return _moved(ours, self.digits)


def _moved(number: float, digits: int) -> float:
    """Return a number with its decimal point moved, without the rounding of a product."""
    return float(Decimal(repr(float(number))).scaleb(digits)) if digits else number


@dataclass(frozen=True, slots=True)
class OrderField:
    """The order of stages as a list of words, each with the stages here that it stands for.

    `also` are other spellings of a word. A list is one text where there is a `separator`. With
    `whole` a stage that is left out of the list comes last; without it, it never acts.
    """

    name: str
    words: Mapping[str | int, tuple[str, ...]]
    also: Mapping[str, str] = field(default_factory=dict)
    separator: str = ""
    whole: bool = True

    @property
    def stages(self) -> frozenset[str]:
        return frozenset(stage for stages in self.words.values() for stage in stages)

    def written(self, order: tuple[str, ...]) -> list[str | int] | str:
        """Return the words for an order, and after them those for what is not known here."""
        there: list[str | int] = []
        for stage in order:
            there += [word for word, stages in self.words.items() if stage in stages]
        rest = [word for word, stages in self.words.items() if not stages] if self.whole else []
        words = list(dict.fromkeys([*there, *rest]))
        return self.separator.join(map(str, words)) if self.separator else words


@dataclass(frozen=True, slots=True)
class Ends:
    """Dynamic temperature by both of its ends, and by a switch where there is one."""

    low: str
    high: str
    off: float
    switch: str = ""
    also: tuple[str, ...] = ()


def same(raw: Raw) -> Raw:
    return raw


def arguments(raw: Raw, first: str = "") -> str:
    """Return the arguments of a Python call, one a line; `first` stands in front of them."""
    each = [*([first] if first else []), *(f"{name}={value!r}" for name, value in raw.items())]
    return "\n" + "".join(f"    {one},\n" for one in each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The settings of a lane as one program writes them.

    `engine` names the rule that acts there, "" where the text does not say it. `others` are names
    that nothing here stands for, with the value at which they do nothing, None where any does;
    `left` are names that belong to a request or a run and to no lane. `temperature_last` is a
    switch that moves temperature behind all stages but those in `behind_last`, `do_sample` one
    without which the most probable token is taken. `protected` is the name of the list of token ids
    that XTC must not silence, `most_protected` how many it may hold. `breakers` are those of DRY
    where they have to be said; with `one_window` it looks as far back as the penalties. `orders`
    may be several, for several programs; the first is read.

    `calls` are the functions of a Python text with the names of their first arguments, `code`
    writes it. `unpack` makes a flat mapping of what stands in a text, `pack` is the way back. A
    `complete` text says every field, also those that are off. `about` are sentences for who takes
    it.
    """

    name: str
    label: str
    engine: str
    syntax: Syntax
    file: str
    fields: tuple[Field, ...]
    orders: tuple[OrderField, ...] = ()
    ends: Ends | None = None
    temperature_last: str = ""
    behind_last: tuple[str, ...] = ()
    do_sample: str = ""
    others: Mapping[str, object] = field(default_factory=dict)
    left: frozenset[str] = frozenset()
    protected: str = ""
    most_protected: int | None = None
    breakers: object = None
    one_window: bool = False
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    code: Callable[[Raw], str] | None = None
    unpack: Callable[[Raw], Raw] = same
    pack: Callable[[Raw], Raw] = same
    complete: bool = False
    about: tuple[str, ...] = ()
    place: int = 0

    @property
    def names(self) -> frozenset[str]:
        """All names that it knows."""
        ends = self.ends
        return frozenset(
            name
            for name in (
                *(name for one in self.fields for name in (one.name, *one.also)),
                *(order.name for order in self.orders),
                *((ends.low, ends.high, ends.switch, *ends.also) if ends else ()),
                self.temperature_last,
                self.do_sample,
                *self.others,
                *self.left,
                self.protected,
                "dry_sequence_breakers" if self.breakers is not None else "",
            )
            if name
        )

"""What the XTC paper publishes, as data: typed in from its source, with its places.

The file is `assets/paper/xtc.toml`. What of it can be held beside a run is a `Statement`: of one
metric, a condition against another, as numbers or as a direction alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from xtc_viz.assets import asset
from xtc_viz.settings import SamplerSettings


class Agreement(StrEnum):
    """How far a metric of the paper is the one of that name here."""

    YES = "yes"
    IN_KIND = "in kind"
    """Details shift the level, not which way is up."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric of the paper: what it is called there, and which of ours it is, the first that is
    measured."""

    name: str
    called: str
    ours: tuple[str, ...]
    agrees: Agreement
    note: str = ""


class Reported(NamedTuple):
    """A number as it is printed, with its interval where one is."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def sign(self) -> int:
        """1 or −1, and 0 where the interval holds 0."""
        if self.low is not None and self.high is not None and self.low <= 0 <= self.high:
            return 0
        return (self.value > 0) - (self.value < 0)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the paper says something, of which model, and which experiments of ours are of it."""

    place: str
    section: str
    title: str
    model: str
    experiments: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """What the paper says of one metric of a condition against another.

    `sampler` and `against_sampler` are their settings, None where the paper does not give them.
    `level` and `base` are their means, `difference` and `percent` what they differ by; None where
    they are not printed. `direction` is 1 where the first is higher, −1 where it is lower, 0 where
    the paper shows neither.
    """

    at: Place
    metric: Definition
    condition: str
    against: str
    sampler: SamplerSettings | None
    against_sampler: SamplerSettings | None
    direction: int
    level: float | None = None
    base: float | None = None
    difference: Reported | None = None
    percent: Reported | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What the paper reads off a figure of the mechanism: `low` to `high`, the same for one value.

    Which ρ and τ it was under is not said.
    """

    at: Place
    quantity: Definition
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Words:
    """What it says in words of a figure; `figure` is the one of ours that shows the same, or ""."""

    at: Place
    says: str
    figure: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """All of it, in the paper's order; `left_out` says what is not here, and why."""

    title: str
    authors: str
    statements: tuple[Statement, ...]
    readings: tuple[Reading, ...]
    words: tuple[Words, ...]
    definitions: Mapping[str, Definition] = field(repr=False)
    left_out: tuple[str, ...] = ()


@cache
def load() -> Paper:
    """Return the paper as it comes with the app."""
    return parse(asset("paper/xtc.toml").read_text(encoding="utf-8"))


def parse(text: str) -> Paper:
    """Return what a file in this form holds.

    Raises:
        KeyError: it names a metric that it does not define.
        SettingsError: a sampler's settings are none.
    """
    data = tomllib.loads(text)
    definitions = {name: _definition(name, own) for name, own in data["metrics"].items()}
    samplers = {name: SamplerSettings.from_dict(own) for name, own in data["samplers"].items()}
    return Paper(
        title=data["title"],
        authors=data["authors"],
        statements=(
            *_from_tables(data["tables"], definitions, samplers),
            *_from_directions(data["directions"], definitions, samplers),
        ),
        readings=tuple(
            Reading(_place(own), definitions[name], min(ends), max(ends))
            for own in data["mechanism"]
            for name, ends in own["values"].items()
        ),
        words=tuple(Words(_place(own), own["says"], own["figure"]) for own in data["words"]),
        definitions=definitions,
        left_out=tuple(data["left_out"]),
    )


def _definition(name: str, own: Mapping[str, Any]) -> Definition:
    agrees = Agreement(own["agrees"])
    return Definition(name, own["called"], tuple(own["ours"]), agrees, own["note"])


def _place(own: Mapping[str, Any]) -> Place:
    return Place(
        own["place"],
        own["section"],
        own.get("title", ""),
        own.get("model", ""),
        tuple(own["experiments"]),
        own.get("note", ""),
    )


def _from_tables(
    tables: list[dict[str, Any]],
    definitions: Mapping[str, Definition],
    samplers: Mapping[str, SamplerSettings],
) -> Iterator[Statement]:
    for table in tables:
        at, against = _place(table), table["against"]
        kinds = {kind: table.get(kind, {}) for kind in ("levels", "difference", "percent")}
        for metric in dict.fromkeys(name for own in kinds.values() for name in own):
            levels, difference, percent = (own.get(metric, {}) for own in kinds.values())
            for condition in dict.fromkeys([*levels, *difference, *percent]):
                if condition == against:
                    continue
                level, base = levels.get(condition), levels.get(against)
                differs, changes = _reported(difference, condition), _reported(percent, condition)
                known = differs or changes
                sign = known.sign if known else _sign(level, base)
                yield Statement(
                    at, definitions[metric], condition, against, samplers.get(condition),
                    samplers.get(against), sign, level, base, differs, changes,
                )  # fmt: skip


def _from_directions(
    directions: list[dict[str, Any]],
    definitions: Mapping[str, Definition],
    samplers: Mapping[str, SamplerSettings],
) -> Iterator[Statement]:
    for own in directions:
        for metric, sign in own["metrics"].items():
            for condition, against in own["pairs"]:
                yield Statement(
                    _place(own), definitions[metric], condition, against,
                    samplers.get(condition), samplers.get(against), sign,
                )  # fmt: skip


def _reported(values: Mapping[str, list[float]], condition: str) -> Reported | None:
    return Reported(*values[condition]) if condition in values else None


def _sign(level: float | None, base: float | None) -> int:
    if level is None or base is None:
        return 0
    return (level > base) - (level < base)

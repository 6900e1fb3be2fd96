"""Values from a trace file, read and checked one by one.

A reader takes the place of its data for the message, and raises `TraceError` when the data is of
another kind. Numbers from a file are finite; what they mean is checked in `check`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from xtc_viz.errors import TraceError

Reader = Callable[[str, list[Any]], list[Any]]
E = TypeVar("E", bound=StrEnum)
N = TypeVar("N")
P = TypeVar("P")

_HUGE = 1e308
_LARGE = 2**31 - 1
_INTS = frozenset({int})
_NUMBERS = frozenset({int, float})


def read_object(
    where: str, data: object, names: tuple[str, ...], *, more: bool = False
) -> dict[str, Any]:
    """Return `data` in the order of `names`: all of its names, unless there may be `more`."""
    if not isinstance(data, dict):
        raise TraceError(f"{where} must be an object, but is {shown(data)}.")
    if missing := [name for name in names if name not in data]:
        raise TraceError(f"{where} lacks `{missing[0]}`.")
    others = [name for name in data if name not in names]
    if others and not more:
        raise TraceError(f"{where} has an unknown {shown(others[0])}.")
    return {name: data[name] for name in (*names, *others)}


def read_list(where: str, data: object) -> list[Any]:
    if not isinstance(data, list):
        raise TraceError(f"{where} must be a list, but is {shown(data)}.")
    return data


def read_int(where: str, value: object) -> int:
    if type(value) is not int:
        raise TraceError(f"{where} must be an integer, but is {shown(value)}.")
    return value


def read_float(where: str, value: object) -> float:
    if type(value) not in (int, float) or not -_HUGE <= value <= _HUGE:  # type: ignore[operator]
        raise TraceError(f"{where} must be a finite number, but is {shown(value)}.")
    return float(value)  # type: ignore[arg-type]


def read_text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise TraceError(f"{where} must be a text, but is {shown(value)}.")
    return value


def read_flag(where: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TraceError(f"{where} must be true or false, but is {shown(value)}.")
    return value


def read_ints(where: str, data: object, unit: str = "entry") -> list[int]:
    """Return a list of integers of 32 bits; a message counts its `unit`s from 1."""
    values = read_list(where, data)
    plain = _INTS.issuperset(map(type, values))
    if values and not (plain and -_LARGE <= min(values) <= max(values) <= _LARGE):
        for number, value in enumerate(values, 1):
            if not -_LARGE <= read_int(f"{where}, {unit} {number}", value) <= _LARGE:
                raise TraceError(f"{where}, {unit} {number} is too large: {shown(value)}.")
    return values


def read_floats(where: str, data: object, unit: str = "entry") -> list[float]:
    """Return a list of finite numbers; a message counts its `unit`s from 1."""
    values = read_list(where, data)
    plain = _NUMBERS.issuperset(map(type, values))
    if values and not (plain and -_HUGE <= min(values) <= max(values) <= _HUGE):
        for number, value in enumerate(values, 1):
            read_float(f"{where}, {unit} {number}", value)
    return list(map(float, values))


def read_texts(where: str, data: object, unit: str = "entry") -> list[str]:
    """Return a list of texts; a message counts its `unit`s from 1."""
    values = read_list(where, data)
    return [read_text(f"{where}, {unit} {number}", value) for number, value in enumerate(values, 1)]


def read_choice(where: str, kind: type[E], value: object) -> E:
    try:
        return kind(read_text(where, value))
    except ValueError:
        choices = ", ".join(kind)
        raise TraceError(f"{where} must be one of {choices}, but is {shown(value)}.") from None


def shown(value: object) -> str:
    """Show a value from a file in a message: cut, and printable whatever it is."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def shortest(values: array[float]) -> list[float]:
    """Return numbers of few digits that round to these float32 values."""
    seven = [float(f"{value:.7g}") for value in values]
    if array("f", seven) == values:
        return seven
    return [
        short if back == value else _eight_or_nine(value)
        for short, back, value in zip(seven, array("f", seven), values, strict=True)
    ]


def _eight_or_nine(value: float) -> float:
    eight = float(f"{value:.8g}")
    return eight if array("f", (eight,))[0] == value else float(f"{value:.9g}")


def rows(read: Callable[[str, object], list[N]], pack: Callable[[list[N]], P]) -> Reader:
    """Return a reader of a ragged column, whose rows `read` checks and `pack` makes compact."""

    def column(where: str, data: list[Any]) -> list[P]:
        packed = []
        for number, row in enumerate(data, 1):
            values = read(f"{where}, step {number}", row)
            try:
                packed.append(pack(values))
            except OverflowError:
                raise TraceError(f"{where}, step {number} holds too large a number.") from None
        return packed

    return column


def each_choice(where: str, kind: type[E], data: list[Any]) -> list[E]:
    """Return a list of choices; a message counts steps from 1."""
    return [read_choice(f"{where}, step {n}", kind, value) for n, value in enumerate(data, 1)]


def each_flag(where: str, data: list[Any]) -> list[bool]:
    """Return a list of flags; a message counts steps from 1."""
    return [read_flag(f"{where}, step {number}", value) for number, value in enumerate(data, 1)]

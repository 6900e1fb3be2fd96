"""The columns of a trace file: how each kind of value is written, read and checked.

A reader takes the place of its data for the message, and raises `TraceError` when the data is of
another kind. Numbers from a file are finite; what they mean is checked in `tracecheck`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from xtc_viz.errors import TraceError
from xtc_viz.sampling.rule import Outcome

Reader = Callable[[str, list[Any]], list[Any]]
E = TypeVar("E", bound=StrEnum)
N = TypeVar("N")
P = TypeVar("P")

_HUGE = 1e308
_LARGE = 2**31 - 1
_INTS = frozenset({int})
_NUMBERS = frozenset({int, float})


def read_object(where: str, data: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Return `data` in the order of `names`, which must be all of its names."""
    if not isinstance(data, dict):
        raise TraceError(f"{where} must be an object, but is {shown(data)}.")
    if missing := [name for name in names if name not in data]:
        raise TraceError(f"{where} lacks `{missing[0]}`.")
    if extra := [name for name in data if name not in names]:
        raise TraceError(f"{where} has an unknown {shown(extra[0])}.")
    return {name: data[name] for name in names}


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


def _nested(read: Callable[[str, object], list[N]], pack: Callable[[list[N]], P]) -> Reader:
    def column(where: str, data: list[Any]) -> list[P]:
        rows = []
        for number, row in enumerate(data, 1):
            values = read(f"{where}, step {number}", row)
            try:
                rows.append(pack(values))
            except OverflowError:
                raise TraceError(f"{where}, step {number} holds too large a number.") from None
        return rows

    return column


def _outcomes(where: str, data: list[Any]) -> list[Outcome]:
    return [read_choice(f"{where}, step {n}", Outcome, value) for n, value in enumerate(data, 1)]


def _flags(where: str, data: list[Any]) -> list[bool]:
    return [read_flag(f"{where}, step {number}", value) for number, value in enumerate(data, 1)]


def _same(value: Any) -> Any:
    return value


_INT = (_same, partial(read_ints, unit="step"))
_FLOAT = (_same, partial(read_floats, unit="step"))
COLUMNS: dict[str, tuple[Callable[[Any], object], Reader]] = {
    "token": _INT,
    "text": (_same, partial(read_texts, unit="step")),
    "counterfactual": _INT,
    "outcome": (_same, _outcomes),
    "coin": _FLOAT,
    "eligible": _INT,
    "removed": (_same, _nested(read_ints, tuple)),
    "removed_mass": _FLOAT,
    "removable_mass": _FLOAT,
    "entropy": _FLOAT,
    "p": _FLOAT,
    "q": _FLOAT,
    "rank": _INT,
    "log_z_raw": _FLOAT,
    "log_z": _FLOAT,
    "log_z_final": _FLOAT,
    "ids": (list, _nested(read_ints, lambda row: array("i", row))),
    "probs": (shortest, _nested(read_floats, lambda row: array("f", row))),
    "kept": (_same, _nested(read_floats, tuple)),
    "cut_ids": (list, _nested(read_ints, lambda row: array("i", row))),
    "cut_probs": (shortest, _nested(read_floats, lambda row: array("f", row))),
    "cut_by": (list, _nested(read_ints, lambda row: array("b", row))),
    "forced": (_same, _flags),
}
"""Every field of `Step`: how its values are written, and how its column is read."""

"""One numeric setting: its default, bounds, unit and help."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real

from xtc_viz.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Knob:
    """A numeric setting: default, closed or open bounds, slider step, and one line of help.

    `hint` says what it is in a few words, to stand beside it. `soft_low` and `soft_high` are the
    ends of a slider where the bounds themselves are too wide to be useful on one.
    """

    name: str
    label: str
    default: float
    low: float
    high: float
    step: float
    help: str
    low_open: bool = False
    high_open: bool = False
    integer: bool = False
    soft_low: float | None = None
    soft_high: float | None = None
    hint: str = ""

    @property
    def interval(self) -> str:
        """The bounds as text, such as `in (0, 1)` or `an integer in [1, 4096]`."""
        kind = "an integer " if self.integer else ""
        if math.isinf(self.high):
            return f"{kind}{'>' if self.low_open else '>='} {self.low:g}"
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        high = "2^63 − 1" if self.high == 2**63 - 1 else f"{self.high:g}"
        return f"{kind}in {left}{self.low:g}, {high}{right}"

    @property
    def slider(self) -> tuple[float, float]:
        """The ends (low, high) of a slider for this setting; both are allowed values."""
        low = self.low if self.soft_low is None else self.soft_low
        high = self.high if self.soft_high is None else self.soft_high
        return low, high

    def check(self, value: object) -> float:
        """Return `value`, a real number of any kind (numpy's too), within the bounds.

        Raises:
            SettingsError: it is none, or lies outside.
        """
        number = _number(value)
        if number is None:
            raise SettingsError(self.name, self.interval, value)
        low_ok = number > self.low if self.low_open else number >= self.low
        high_ok = number < self.high if self.high_open else number <= self.high
        if not (low_ok and high_ok and (not self.integer or number == int(number))):
            raise SettingsError(self.name, self.interval, value)
        return int(number) if self.integer else float(number)


def _number(value: object) -> int | float | None:
    """Return a real number as Python's own; None for what is none, or none that a float can hold,
    such as an integer of 400 digits."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        finite = isfinite(float(value))
    except OverflowError:
        return None
    if not finite:
        return None
    return int(value) if isinstance(value, Integral) else float(value)

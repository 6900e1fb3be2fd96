"""The memory that a value of the records takes."""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Mapping
from enum import Enum

_ATOMS = (int, float, str, bytes, bool, type(None), array)


def size_of(*values: object) -> int:
    """Return the bytes of these values and of all that they hold; what is held twice counts once.

    Values that the interpreter shares with all programs (small integers, enumerations, types) count
    nothing.
    """
    seen: set[int] = set()
    left = [*values]
    total = 0
    while left:
        value = left.pop()
        if id(value) in seen or value is None or isinstance(value, (type, Enum, bool)):
            continue
        if type(value) is int and -5 <= value <= 256:
            continue
        seen.add(id(value))
        total += sys.getsizeof(value)
        if isinstance(value, _ATOMS):
            continue
        if isinstance(value, Mapping):
            left.extend(value.keys())
            left.extend(value.values())
        elif isinstance(value, (tuple, list, set, frozenset, deque)):
            left.extend(value)
        else:
            left.extend(_fields(value))
    return total


def _fields(value: object) -> list[object]:
    """Return what an object of one of our classes holds: in slots, and in a dictionary."""
    if callable(value) and not hasattr(value, "__dict__"):
        return []
    slots = (name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()))
    own = [getattr(value, name) for name in slots if hasattr(value, name)]
    return [*own, vars(value)] if hasattr(value, "__dict__") else own

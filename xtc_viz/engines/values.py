"""Single values as programs write them: numbers, switches, what does nothing."""

from __future__ import annotations

import json
from array import array
from typing import Any


def number(value: object) -> float | None:
    """Return a number; texts that hold one are numbers too. None for all else."""
    if isinstance(value, str):
        try:
            return float(value) if len(value) < 40 else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value


def yes(value: object) -> bool:
    return value is True or str(value).lower() in ("true", "1", "yes", "on")


def typed(value: float) -> float:
    """Return the decimal that somebody typed where a program tells it back in float32."""
    short = float(f"{value:.7g}")
    return short if array("f", (short,))[0] == value else value


def idle(value: object, off: object) -> bool:
    """Whether a value does nothing; there may be several that do."""
    if off is None or value is None:
        return True
    if isinstance(off, tuple):
        return any(idle(value, one) for one in off)
    found = number(value)
    if isinstance(off, (int, float)) and not isinstance(off, bool):
        return found == off if found is not None else value in (False, "")
    if isinstance(off, bool):
        return yes(value) == off
    return bool(_listed(value) == _listed(off))


def _listed(value: object) -> Any:
    """Return a list that is written as a text, as some programs do, as a list."""
    if not isinstance(value, str) or '"' not in value or len(value) > 1000:
        return value
    try:
        return json.loads(value if value.startswith("[") else f"[{value}]")
    except (ValueError, RecursionError):
        return value

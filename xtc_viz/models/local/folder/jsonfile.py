"""JSON of a stranger's file: bounded, an object, and refused in our own words."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from xtc_viz.errors import ModelError


def read_bounded(file: Path, most: int, what: str) -> bytes:
    """Return the content of a plain file of at most `most` bytes; `what` names it in messages."""
    try:
        # A pipe would be waited for.
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(f"{what} is no plain file.")
        if status.st_size <= most:
            with file.open("rb") as stream:
                content = stream.read(most + 1)
            if len(content) <= most:
                return content
    except OSError as error:
        words = os.strerror(error.errno) if error.errno else type(error).__name__
        raise ModelError(f"{what} cannot be read: {words}.") from error
    raise ModelError(f"{what} is larger than {most:,} bytes, and is not read.")


def parsed(content: bytes, what: str) -> dict[str, Any]:
    """Return the object that JSON text stands for; `what` names it in messages."""
    try:
        value = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ModelError(f"{what} is broken: it is no UTF-8 text.") from None
    except json.JSONDecodeError as error:
        raise ModelError(
            f"{what} is broken: no JSON at line {error.lineno}, column {error.colno}."
        ) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets
        raise ModelError(f"{what} is broken: its JSON is too large or too deep.") from None
    if not isinstance(value, dict):
        raise ModelError(f"{what} is broken: it holds no JSON object.")
    return value


def read_object(file: Path, most: int, what: str) -> dict[str, Any]:
    """Return the JSON object of a plain file of at most `most` bytes."""
    return parsed(read_bounded(file, most, what), what)

"""Experiments from and to TOML: the standard library reads it, and a few lines here write it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xtc_viz.errors import SettingsError, Words, shortened
from xtc_viz.lab.experiment import Experiment

MAX_BYTES = 2**20
MAX_DOTS = 10_000
MAX_LINE_DOTS = 400


def load(path: str | Path) -> Experiment:
    """Return the experiment of a TOML file; a suite's file is looked for beside it.

    Raises:
        SettingsError: naming the file and what is wrong in it.
    """
    path = Path(path)
    name = shortened(path.name)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError("experiment", "a file that can be read", name) from error
    if len(data) > MAX_BYTES:
        raise SettingsError("experiment", f"a file of at most {MAX_BYTES >> 20} MiB", name)
    try:
        experiment = loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SettingsError("experiment", "a file in UTF-8", name) from error
    except SettingsError as error:
        raise SettingsError(f"{name}: {error.parameter}", error.bounds, error.value) from error
    beside = path.parent / experiment.suite
    if experiment.suite.endswith(".jsonl") and beside.exists():
        values = experiment.to_dict() | {"suite": str(beside)}
        return Experiment.from_dict(values)
    return experiment


def loads(text: str) -> Experiment:
    """Return the experiment of a text. Raises `SettingsError`."""
    # A key of n dotted parts costs tomllib n² of memory.
    most = max((line.count(".") for line in text.splitlines()), default=0)
    if most > MAX_LINE_DOTS or text.count(".") > MAX_DOTS:
        bounds = f"TOML with at most {MAX_LINE_DOTS} dots in a line and {MAX_DOTS:,} in all"
        raise SettingsError("experiment", bounds, Words("a text with more"))
    try:
        # A file of Windows; TOML takes no lone carriage return.
        data = tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError("experiment", f"TOML ({shortened(str(error))})", text) from error
    except ValueError as error:  # of Python, which reads no number of 5,000 digits
        raise SettingsError("experiment", "TOML", Words("one with a number too long")) from error
    return Experiment.from_dict(data)


def dumps(experiment: Experiment) -> str:
    """Return an experiment as TOML that `loads` reads back."""
    values = experiment.to_dict()
    lists = {name: rows for name, rows in values.items() if _is_tables(rows)}
    tables = {name: table for name, table in values.items() if isinstance(table, Mapping)}
    plain = {n: v for n, v in values.items() if n not in lists and n not in tables}
    parts = [_table(plain)]
    parts += [f"[{_key(name)}]\n{_table(table)}" for name, table in tables.items()]
    parts += [f"[[{_key(name)}]]\n{_table(row)}" for name, rows in lists.items() for row in rows]
    return "\n".join(parts)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _table(values: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in values.items())


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _value(name)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(name)} = {_value(own)}" for name, own in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are TOML's; DEL alone it leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)

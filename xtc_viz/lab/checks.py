"""What a text must be that answers a prompt of structured quality: one small function a rule.

A prompt's `check` holds, by its kind:

- json: `fields`, the names and types (string, integer, number, boolean, array, object) of one JSON
  object, and `values`, what some of them must be (texts in any case, and without outer blanks);
- rewrite: `rules`, each by its name in `RULES`;
- code: `function`, and `tests`, each with `arguments` and `result`. Generated code is not run here
  (`code`); its verdicts are stored.

Models like to put JSON into a code fence: it is taken out of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from xtc_viz.errors import SettingsError
from xtc_viz.lab.words import spoken

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_FENCE = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.DOTALL)
_SENTENCE = re.compile(r"[.!?…]+(?=\s|$)")


class Verdict(NamedTuple):
    """One thing that a text was to be, and whether it is; `note` says why not, where that helps."""

    name: str
    passed: bool
    note: str = ""


def _has(text: str, word: str) -> bool:
    """Whether a word, or several in a row, occurs; `art` does not occur in `party`."""
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text.casefold()) is not None


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _sentences(text: str) -> int:
    """How many sentences a text has; what follows the last mark is one more."""
    parts = [part for part in _SENTENCE.split(text) if part.strip()]
    return len(parts)


class Rule(NamedTuple):
    """A rule of rewriting: the type of its value, and whether a text keeps it."""

    kind: type
    keeps: Callable[[str, Any], bool]


RULES: dict[str, Rule] = {
    "min_words": Rule(int, lambda text, n: len(spoken(text)) >= n),
    "max_words": Rule(int, lambda text, n: 0 < len(spoken(text)) <= n),
    "max_sentences": Rule(int, lambda text, n: 0 < _sentences(text) <= n),
    "lines": Rule(int, lambda text, n: len(_lines(text)) == n),
    "contains": Rule(list, lambda text, own: all(_has(text, word) for word in own)),
    "avoids": Rule(list, lambda text, own: bool(text) and not any(_has(text, w) for w in own)),
    "ends_with": Rule(str, lambda text, end: text.endswith(end)),
    "each_line_begins": Rule(
        str, lambda text, sign: bool(text) and all(_begins(line, sign) for line in _lines(text))
    ),
}


def _begins(line: str, sign: str) -> bool:
    return line.lstrip().startswith(sign)


def json_verdicts(text: str, check: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Judge a text that is to be one JSON object: it parses, has the fields, and their values."""
    try:
        data = json.loads(plain(text))
    except (ValueError, RecursionError):
        data = None
    parses = isinstance(data, dict)
    fields: Mapping[str, str] = check["fields"]
    fits = parses and data.keys() == fields.keys() and all(
        _is(data[name], kind) for name, kind in fields.items()
    )  # fmt: skip
    right = parses and all(
        name in data and _same(data[name], value) for name, value in check["values"].items()
    )
    return Verdict(PARSES, parses), Verdict("fields", fits), Verdict("values", right)


def rewrite_verdicts(text: str, check: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Judge a rewritten text by each rule of its prompt."""
    own = plain(text)
    return tuple(Verdict(name, RULES[name].keeps(own, v)) for name, v in check["rules"].items())


JUDGES: dict[str, Callable[[str, Mapping[str, Any]], tuple[Verdict, ...]]] = {
    "json": json_verdicts,
    "rewrite": rewrite_verdicts,
}
"""How the texts of a prompt are judged, by its kind; those of other kinds are not, here."""

PARSES = "parses"
"""The verdict on whether an answer can be read at all: JSON, or Python."""


def judge(kind: str, text: str, check: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Judge a text by the check of its prompt; nothing for kinds that are not judged here."""
    return JUDGES[kind](text, check) if kind in JUDGES else ()


def judge_name(check: Mapping[str, Any], version: int) -> str:
    """Return a name for all that decides a stored verdict beside the text: 128 bits.

    `version` is raised where the same text comes to be judged otherwise.
    """
    data = json.dumps([version, check], sort_keys=True, separators=(",", ":"))
    return blake2b(data.encode(), digest_size=16).hexdigest()


def plain(text: str) -> str:
    """Return a text without outer blanks, and without the code fence around it."""
    text = text.strip()
    fence = _FENCE.match(text)
    return fence[1].strip() if fence else text


def _is(value: object, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _same(value: object, wanted: object) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return value.strip().casefold() == wanted.strip().casefold()
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(_same, value, wanted))
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


# Whether a suite's own `check` is one


def check_fields(check: object) -> None:
    """Raise `SettingsError` for what is no `check` of the kind json."""
    own = _object("check", check, ("fields", "values"))
    fields = _mapping("check.fields", own["fields"])
    values = _mapping("check.values", own["values"])
    for name, kind in fields.items():
        if not isinstance(kind, str) or kind not in TYPES:
            raise SettingsError(f"check.fields.{name}", f"one of {', '.join(TYPES)}", kind)
    for name, value in values.items():
        if name not in fields:
            raise SettingsError("check.values", "values of fields", name)
        if not _is(value, fields[name]):
            raise SettingsError(f"check.values.{name}", f"of the type {fields[name]}", value)


def check_rules(check: object) -> None:
    """Raise `SettingsError` for what is no `check` of the kind rewrite."""
    rules = _mapping("check.rules", _object("check", check, ("rules",))["rules"])
    for name, value in rules.items():
        if name not in RULES:
            raise SettingsError("check.rules", f"among {', '.join(RULES)}", name)
        kind = RULES[name].kind
        where = f"check.rules.{name}"
        if kind is int and not (type(value) is int and value > 0):
            raise SettingsError(where, "an integer > 0", value)
        if kind is str and not (isinstance(value, str) and value):
            raise SettingsError(where, "a text", value)
        texts = isinstance(value, list) and value and all(isinstance(w, str) and w for w in value)
        if kind is list and not texts:
            raise SettingsError(where, "a list of texts", value)


def check_code(check: object) -> None:
    """Raise `SettingsError` for what is no `check` of the kind code."""
    own = _object("check", check, ("function", "tests"))
    if not isinstance(own["function"], str) or not own["function"].isidentifier():
        raise SettingsError("check.function", "a name of Python", own["function"])
    if not isinstance(own["tests"], list) or not own["tests"]:
        raise SettingsError("check.tests", "a list of tests", own["tests"])
    for number, test in enumerate(own["tests"], 1):
        values = _object(f"check.tests {number}", test, ("arguments", "result"))
        if not isinstance(values["arguments"], list):
            where = f"check.tests {number}.arguments"
            raise SettingsError(where, "a list", values["arguments"])


def _object(where: str, data: object, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, dict) or data.keys() != {*names}:
        raise SettingsError(where, f"an object with {' and '.join(names)}", data)
    return data


def _mapping(where: str, data: object) -> Mapping[str, Any]:
    if not isinstance(data, dict) or not data:
        raise SettingsError(where, "an object with at least one name", data)
    return data

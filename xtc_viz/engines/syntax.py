"""Texts as other programs write them and the names and values in them; nothing in them is run.

Whoever pastes a text here may be anybody: its length and its depth are bounded, and what cannot be
read is one kind of error.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from xtc_viz.engines.forms.base import Raw, Syntax
from xtc_viz.errors import FormError, Words, shortened

LONGEST = 100_000
"""Characters of a text."""
LONGEST_YAML, BRACKETS = 10_000, 100
"""Characters of YAML, which takes half a second to read at that, and the brackets in it: many
within one another take much longer."""

_FENCE = re.compile(r"\A\s*```[^\n]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_FLAG = re.compile(r"(?:^|\s)--?[A-Za-z]")
_CONTINUED = re.compile(r"[\\^`]\r?\n")
_NUMBER = re.compile(r"-\d|-\.\d")
_DATA = ("-d", "--data", "--data-raw", "--data-binary", "--json")

Calls = Mapping[str, tuple[str, ...]]


def parse(text: object, calls: Calls) -> tuple[Syntax, Raw]:
    """Return how a text is written and the names and values in it.

    `calls` are the functions whose arguments are looked for in Python, with the names of the first.

    Raises:
        FormError: it is too long, too deep, or none of these.
    """
    if not isinstance(text, str):
        raise FormError("Settings are read from a text.")
    if len(text) > LONGEST:
        raise FormError(
            f"A text of settings has at most {LONGEST:,} characters, not {len(text):,}."
        )
    fenced = _FENCE.match(text)
    bare = (fenced[1] if fenced else text).strip().lstrip("\ufeff")
    if not bare:
        raise FormError("There is nothing in this text.")
    try:
        return _parsed(bare, calls)
    except (RecursionError, MemoryError):
        raise FormError("This text is too deep: brackets within brackets.") from None


def _parsed(text: str, calls: Calls) -> tuple[Syntax, Raw]:
    if text.startswith(("{", "[")):
        return Syntax.JSON, _json(text)
    if calls and re.search(rf"\b(?:{'|'.join(map(re.escape, calls))})\s*\(", text):
        return Syntax.PYTHON, _python(text, calls)
    if re.match(r"curl\s", text):
        return Syntax.JSON, _json(_body(_words(text)))
    if _FLAG.search(text):
        return Syntax.FLAGS, _flags(_words(text))
    return Syntax.YAML, _yaml(text)


def _json(text: str) -> Raw:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise FormError(f"This is no JSON: {error.msg} ({where}).") from None
    except ValueError:  # an integer of more digits than Python reads
        raise FormError("This is no JSON that can be read: a number is too long.") from None
    return _named("JSON", value)


class _Plain(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """YAML without anchors: a few lines of them could stand for more than a memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise FormError("YAML is read without aliases (*name).")
        return super().compose_node(parent, index)


def _yaml(text: str) -> Raw:
    if len(text) > LONGEST_YAML:
        most = f"{LONGEST_YAML:,} characters"
        raise FormError(f"YAML is read up to {most}, and this has {len(text):,}.")
    if text.count("[") + text.count("{") > BRACKETS:
        raise FormError(f"YAML is read with at most {BRACKETS} brackets.")
    try:
        value = yaml.load(text, Loader=_Plain)  # a SafeLoader, which builds plain values only
    except FormError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1})" if mark else ""
        raise FormError(f"This is no YAML: {shortened(str(error.problem))}{where}.") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError):
        raise FormError("This is no YAML that can be read.") from None
    return _named("YAML", value)


def _named(kind: str, value: object) -> Raw:
    if not isinstance(value, dict):
        words = "text" if kind == "YAML" and isinstance(value, str) else kind
        raise FormError(f"This {words} has no named values, as settings have.")
    return {str(name): content for name, content in value.items()}


def _words(text: str) -> list[str]:
    try:
        return shlex.split(_CONTINUED.sub(" ", text))
    except ValueError as error:
        raise FormError(f"This is no command line: {error}.") from None


def _body(words: list[str]) -> str:
    """Return what a curl command sends."""
    for i, word in enumerate(words[:-1]):
        if word in _DATA:
            return words[i + 1]
    raise FormError("This curl command sends no JSON: there is no -d.")


def _flags(words: list[str]) -> Raw:
    """Return flags with their values; one without a value is true."""
    raw: Raw = {}
    name = ""
    for word in words:
        if word.startswith("-") and len(word) > 1 and not _NUMBER.match(word):
            name, equals, value = word.partition("=")
            raw[name] = value if equals else True
            name = "" if equals else name
        elif name:
            raw[name], name = word, ""
    return raw


def _python(text: str, calls: Calls) -> Raw:
    """Return the arguments of these calls, from a text that is never run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        raise FormError(f"This is no Python{line}.") from None
    raw: Raw = {}
    for name, call in _called(tree, calls):
        positional = zip(calls[name], call.args, strict=False)
        raw |= {argument: _literal(node) for argument, node in positional}
        raw |= {word.arg: _literal(word.value) for word in call.keywords if word.arg}
    return raw


def _called(tree: ast.AST, calls: Calls) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else None
            name = function.id if isinstance(function, ast.Name) else name
            if name in calls:
                yield str(name), node


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return Words("an expression")


def written(syntax: Syntax, raw: Raw) -> str:
    """Return names and values as a text; Python is written by its form."""
    if syntax is Syntax.FLAGS:
        return " ".join(f"{name} {_quoted(value)}" for name, value in raw.items()) + "\n"
    if syntax is Syntax.YAML:
        text: str = yaml.safe_dump(raw, sort_keys=False, allow_unicode=True)
        return text
    return json.dumps(raw, indent=2, ensure_ascii=False) + "\n"


def _quoted(value: object) -> str:
    """Return a value for any shell: what is no number stands between double quotes."""
    return f'"{value}"' if isinstance(value, str) else str(value)

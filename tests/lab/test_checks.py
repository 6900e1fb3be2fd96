"""Judging answers of a fixed form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from xtc_viz.lab.checks import JUDGES, json_verdicts, rewrite_verdicts
from xtc_viz.lab.suite import Kind, load_suite

CHECK = {"fields": {"name": "string", "age": "integer"}, "values": {"age": 3, "name": "Ada"}}


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ('{"name": "ada ", "age": 3}', (True, True, True)),
        ('```json\n{"name": "Ada", "age": 3}\n```', (True, True, True)),
        ('{"name": "Ada", "age": 4}', (True, True, False)),
        ('{"name": "Ada", "age": "3"}', (True, False, False)),
        ('{"name": "Ada", "age": true}', (True, False, False)),
        ('{"name": "Ada", "age": 3, "more": 1}', (True, False, True)),
        ('{"age": 3}', (True, False, False)),
        ("[3]", (False, False, False)),
        ('Here: {"name": "Ada", "age": 3}', (False, False, False)),
        ("", (False, False, False)),
        ("[" * 100_000, (False, False, False)),
    ],
)
def test_json(text: str, passed: tuple[bool, ...]) -> None:
    verdicts = json_verdicts(text, CHECK)
    assert [verdict.name for verdict in verdicts] == ["parses", "fields", "values"]
    assert tuple(verdict.passed for verdict in verdicts) == passed


@pytest.mark.parametrize(
    ("rule", "value", "good", "bad"),
    [
        ("min_words", 3, "Don't go home", "Don't go"),
        ("max_words", 2, "well-known man", "a well-known man"),
        ("max_words", 2, "one", ""),
        ("max_sentences", 1, "Is it 4.5 degrees?", "Yes. No"),
        ("lines", 2, "a\n\nb", "a"),
        ("contains", ["art"], "Art!", "party"),
        ("avoids", ["very"], "every", "Very well"),
        ("avoids", ["very"], "x", ""),
        ("ends_with", "?", "So? ", "So"),
        ("each_line_begins", "-", "- a\n - b", "- a\nb"),
        ("each_line_begins", "-", "-", ""),
    ],
)
def test_rules(rule: str, value: Any, good: str, bad: str) -> None:
    check = {"rules": {rule: value}}
    assert [v.passed for v in rewrite_verdicts(good, check)] == [True]
    assert [v.passed for v in rewrite_verdicts(bad, check)] == [False]


ANSWERS = {
    "rewrite-short": "Halvard had waited since morning, and went home.",
    "rewrite-avoid": "The soup was hot and salty, and the guests were quiet.",
    "rewrite-question": "Does the museum open at nine on Sundays?",
    "rewrite-list": "- Boil water\n- Warm the pot\n- Wait four minutes",
    "rewrite-polite": "Would you please close the window? It is cold here.",
    "rewrite-plain": "Please put your rubbish into the bins that are there for it.",
}


def test_each_prompt_of_the_suite_can_be_answered() -> None:
    for prompt in load_suite("structured").prompts:
        answer = ANSWERS.get(prompt.id)
        if prompt.kind is Kind.JSON:
            blank = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": []}
            fields = {name: blank[kind] for name, kind in prompt.check["fields"].items()}
            answer = json.dumps(fields | prompt.check["values"])
        assert answer is not None
        verdicts = JUDGES[prompt.kind](answer, prompt.check)
        assert all(verdict.passed for verdict in verdicts), (prompt.id, verdicts)
        assert not all(v.passed for v in JUDGES[prompt.kind]("", prompt.check))

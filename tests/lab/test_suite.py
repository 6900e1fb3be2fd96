"""Suites: what comes with the app, and whatever is wrong with one's own, by its place."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from xtc_viz.errors import SuiteError
from xtc_viz.lab.suite import Kind, Openness, Suite, builtin_suites, load_suite, parse_suite

GOOD = {"id": "a", "genre": "g", "kind": "continue", "prompt": "Once"}
CODE = {"function": "f", "tests": [{"arguments": [1], "result": 2}]}


def line(**changes: object) -> str:
    return json.dumps({n: v for n, v in (GOOD | changes).items() if v is not None})


def test_a_suite_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(f"\ufeff{line()}\r\n\r\n{line(id='b', openness='open')}\n".encode())
    suite = load_suite(str(path))
    assert suite.name == "mine"
    assert [prompt.id for prompt in suite.prompts] == ["a", "b"]
    assert [prompt.openness for prompt in suite.prompts] == [None, Openness.OPEN]
    assert not suite.prompts[0].chat
    assert Suite.from_dict(json.loads(json.dumps(suite.to_dict()))) == suite


@pytest.mark.parametrize("name", builtin_suites())
def test_those_of_the_app_read_back(name: str) -> None:
    suite = load_suite(name)
    assert Suite.from_dict(suite.to_dict()) == suite


@pytest.mark.parametrize(
    ("name", "prompts", "genres"),
    [("creative", 24, 12), ("story", 24, 12), ("structured", 12, None), ("code", 12, None)],
)
def test_they_are_of_the_papers_size(name: str, prompts: int, genres: int | None) -> None:
    suite = load_suite(name)
    assert len(suite.prompts) == len({prompt.text for prompt in suite.prompts}) == prompts
    counts = Counter(prompt.genre for prompt in suite.prompts)
    if genres:
        assert [*counts.values()] == [2] * genres
        # An open and a narrow one of each, so that openness is not genre.
        assert Counter(prompt.openness for prompt in suite.prompts) == {"open": 12, "narrow": 12}


def test_a_few_are_evenly_spread() -> None:
    suite = load_suite("creative")
    assert len({prompt.genre for prompt in suite.take(12).prompts}) == 12
    assert suite.take(0) == suite.take(99) == suite
    assert [p.id for p in suite.take(2).prompts] == [suite.prompts[0].id, suite.prompts[12].id]


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("{", "line 2: it is no JSON: "),
        ("[1]", "line 2: `line` must be a JSON object"),
        (line(id=None), "line 2: `id` must be a text"),
        (line(id="b", prompt=" "), "line 2: `prompt` must be a text"),
        (line(id="b", prompt="\ud800"), "line 2: `prompt` must be a text of whole characters"),
        (line(id="b", genre=3), "line 2: `genre` must be a text"),
        (line(id="b", kind="song"), "line 2: `kind` must be one of continue, write, json"),
        (line(id="b", openness="ajar"), "line 2: `openness` must be one of open, narrow"),
        (line(id="b", colour="red"), "line 2: `colour` must be one of id, genre"),
        (line(id="b", check=CODE), "line 2: `check` must be left out for the kind continue"),
        (line(id="b", kind="json"), "line 2: `check` must be an object with fields and values"),
        (
            line(id="b", kind="json", check={"fields": {"x": "date"}, "values": {"x": 1}}),
            "line 2: `check.fields.x` must be one of string",
        ),
        (
            line(id="b", kind="json", check={"fields": {"x": "string"}, "values": {"x": 1}}),
            "line 2: `check.values.x` must be of the type string, but is 1",
        ),
        (
            line(id="b", kind="rewrite", check={"rules": {"rhymes": True}}),
            "line 2: `check.rules` must be among min_words",
        ),
        (
            line(id="b", kind="rewrite", check={"rules": {"max_words": 0}}),
            "line 2: `check.rules.max_words` must be an integer > 0",
        ),
        (
            line(id="b", kind="code", check=CODE | {"tests": []}),
            "line 2: `check.tests` must be a list of tests",
        ),
        (line(), "line 2: `id` must be another for each prompt, but 'a' is that of line 1 too"),
        ('{"id": NaN}', "line 2: `line` must be JSON without NaN"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(second: str, words: str) -> None:
    with pytest.raises(SuiteError, match=r"^mine, ") as error:
        parse_suite("mine", [line(), second])
    assert words in str(error.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    def refusal(name: str) -> str:
        with pytest.raises(SuiteError) as error:
            load_suite(name)
        return str(error.value)

    empty, bad = tmp_path / "empty.jsonl", tmp_path / "bad.jsonl"
    empty.write_text("\n \n")
    bad.write_bytes(line().encode() + b"\n\n\xff")
    assert refusal(str(empty)) == "empty.jsonl: it must hold at least one prompt, but is empty"
    assert refusal(str(bad)) == "bad.jsonl, line 3: it is not UTF-8"
    assert refusal(str(tmp_path / "none.jsonl")).startswith("none.jsonl: it cannot be read: ")
    assert refusal("novel").startswith("no suite is called 'novel': there are code, creative, ")


def test_kinds_with_a_template() -> None:
    prompts = {name: load_suite(name).prompts[0] for name in builtin_suites()}
    assert {name for name, prompt in prompts.items() if prompt.chat} == {*prompts} - {"story"}
    assert prompts["code"].kind is Kind.CODE

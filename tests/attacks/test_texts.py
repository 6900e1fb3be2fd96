"""What is odd in text: half characters, marks that turn the direction, line ends, formulas.

Typed, half a character is refused with its field and place; in a file it is kept, and shown as
U+FFFD. Whatever a trace holds, every answer about it can be sent, and every file of it written.
"""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.attacks.values import complaint, request
from tests.ui.driven import questions, stream
from tests.ui.factories import decode
from xtc_viz.models.host import ModelHost
from xtc_viz.records import tracefile
from xtc_viz.records.trace import Trace
from xtc_viz.tablecell import text_of
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service

ODD = (
    *("\ud800", "\udfff", "a\ud83d", "\ude00b", "\u202e", "\u2066", "\u200f", "\r", "\r\n", "\n"),
    *("\x00", "\x1b[31m", "\u2028", "\ufeff", "=1+1", ";=1", " @x", "＝1", "<b>", "</script>"),
    *("\ufffe", "مرحبا", "שלום", "🐉", "e\u0301", "\\u0041", "{{x}}", "${1}", '"', "'", "", "\t=1"),
)


@cache
def written() -> tuple[Trace, ModelHost]:
    trace, model = decode(prompt="Once", length=12)
    return trace, ModelHost(model)


def odd_trace(seed: int) -> Trace:
    """A real run whose texts are all odd: prompt, system, lanes, stops, tokens, model."""
    trace, _ = written()
    dice = random.Random(seed)

    def odd() -> str:
        text = "".join(dice.choice(ODD) for _ in range(dice.randrange(1, 4)))
        # JSON knows no two halves side by side: they are a whole.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    lanes = tuple(
        replace(
            lane,
            settings=replace(lane.settings, name=odd()),
            steps=tuple(replace(step, text=odd()) for step in lane.steps),
        )
        for lane in trace.lanes
    )
    settings = replace(
        trace.settings, lanes=tuple(lane.settings for lane in lanes), stop=(odd() + "x",)
    )
    return replace(
        trace, prompt=odd() + "x", system=odd(), settings=settings, lanes=lanes,
        vocabulary={token: odd() for token in trace.vocabulary},
        model=replace(trace.model, name=odd() + "x", revision=odd()),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_every_answer_about_an_odd_trace_can_be_sent(seed: int) -> None:
    trace = odd_trace(seed)
    store = RunStore()
    run = store.add(Run.of(trace, "loaded"))
    asked = {q.__name__: q for q in questions(Service(written()[1], store))}

    def ask(name: str, *arguments: Any) -> Any:
        answer = asked[name](list(arguments))
        answer.encode()
        data = json.loads(answer)
        assert (
            not isinstance(data, dict)
            or "error" not in data
            or not complaint(data["error"]["message"])
        )
        return data

    assert "run" in ask("load", tracefile.dumps(trace))
    text = ask("export", run, "trace")
    assert tracefile.loads(text) == trace or "\ud83d\ude00" in text.encode().decode(
        "unicode_escape"
    )
    for name, *arguments in (
        ("open", []), ("block", 0, 0, 25, None), ("stages", 1, 3, 25), ("what_if", 1, {"rho": 1}),
        ("strength", 1, {}), ("export", "replay"), ("becomes", 0, 3, " the"),
        ("what_if", 1, {"protect": {"texts": [trace.vocabulary[trace.prompt_ids[0]] + "x"]}}),
    ):  # fmt: skip
        ask(name, run, *arguments)
    rows = list(csv.DictReader(io.StringIO(ask("export", run, "table"))))
    steps = [step for lane in trace.lanes for step in lane.steps]
    assert [text_of(row["text"]) for row in rows] == [step.text for step in steps]


@pytest.mark.parametrize("view", ["bars", "pair", "stages", "engines", "map", "timeline", "text"])
def test_figures_of_an_odd_trace_can_be_written(view: str) -> None:
    store = RunStore()
    run = store.add(Run.of(odd_trace(7), "loaded"))
    asked = {q.__name__: q for q in questions(Service(written()[1], store))}
    wanted = {
        "view": view, "lane": 0, "i": 0, "mate": 1, "candidates": 10, "log": False,
        "part": "chain", "which": "own", "width": 800, "name": "a",
        "caption": ["a \u202e line"],
    }  # fmt: skip
    answer = asked["figure"]([run, wanted, []])
    answer.encode()
    assert "error" not in json.loads(answer)[:20]


FIELDS: dict[str, tuple[tuple[Any, ...], str]] = {
    "prompt": (("prompt",), "prompt"),
    "system": (("system",), "system"),
    "lane": (("settings", "lanes", 0, "name"), "name"),
    "stop": (("settings", "stop"), "stop"),
    "protect": (("protect", "texts"), "protect"),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("half", ["\ud800", "x" * 900 + "\udc00", "\ude00\ud83d"])
def test_half_a_character_is_refused_where_it_was_typed(field: str, half: str) -> None:
    path, name = FIELDS[field]
    data = within = request()
    for step in path[:-1]:
        within = within[step]
    within[path[-1]] = [half] if field in ("stop", "protect") else half
    *_, last = stream(Service(written()[1]), data)
    last.encode()
    error = json.loads(last)["error"]
    assert error["field"] == name
    assert "whole characters" in error["message"]
    assert not complaint(error["message"])


def test_half_a_character_is_refused_wherever_a_run_goes_on() -> None:
    trace, host = written()
    store = RunStore()
    run = store.add(Run.of(trace, "done"))
    service = Service(host, store)
    asked = {q.__name__: q for q in questions(service)}
    about = {"run": run, "lane": 0, "text": "a\ud800"}
    answers = [
        *([*stream(service, {**about, "kind": "edit", "more": 2})][-1:]),
        *([*stream(service, {**about, "kind": "branch", "i": 1})][-1:]),
        asked["becomes"]([run, 0, 1, "a\ud800"]),
        asked["tokens"]([{"texts": ["a\ud800"]}]),
    ]
    for answer in answers:
        answer.encode()
        words = json.loads(answer)["error"]["message"]
        assert "half of a pair (U+D800) at character 2" in words
        assert not complaint(words)
    for unknown in ("\ud800", ["\ud800"], {"\ud800": 1}):
        for question in asked.values():
            question([unknown]).encode()

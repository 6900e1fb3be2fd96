"""Bad values for everything that the page and programs may ask: generated, the same for a seed.

An attack is a name and what is sent. Whoever uses them asserts an answer in words (`complaint`).
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from xtc_viz.knobs import KNOBS
from xtc_viz.runs import presets
from xtc_viz.settings import RunSettings
from xtc_viz.ui.wording import WENT_WRONG

LONGEST = 500
"""The most characters of an answer's words."""
RUN = "RUN"
"""Stands for the id of a run that there is."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**9, 2**31, 2**53, 2**63, 10**400, -(10**400)),
    *(0.5, -0.5, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), float("nan")),
    *("", " ", "x", "0", "0.5", "true", "null", "\\", "\x00", "\r\n", "\ud800", "a\udfffb"),
    *("\u202eevil", "=1+1", "<img src=x onerror=alert(1)>", "${7*7}", "{{x}}", "../../etc/passwd"),
    *("🐉", "\ufeff", "ö" * 300, "A" * 200_000, "\ud800" * 5_000, "\u202e" * 5_000),
    *([], [[]], [None], [0] * 1_000, ["x"] * 300, ["x" * 5_000], [[[[[[]]]]]]),
    *({}, {"": ""}, {"rho": 2}, {"tau": None}, {"x" * 100_000: 1}, {"\ud800": "\ud800"}),
    *({"rho": 10**400}, {"protect": {"texts": ["\ud800"]}}, {"protect": True}, {"order": ["xtc"]}),
)
DEEP = 100  # lists in lists
QUESTIONS: dict[str, list[Any]] = {
    "block": [RUN, 0, 0, 10, None],
    "open": [RUN, [0, 0]],
    "stop": [RUN],
    "stages": [RUN, 0, 0, 10],
    "what_if": [RUN, 0, {"rho": 1.0, "tau": 0.05, "strategy": "keep_least"}],
    "tokens": [{"eos": True, "newline": "all", "texts": [" the"]}],
    "becomes": [RUN, 0, 3, " the"],
    "strength": [RUN, 0, {"rho": 1.0}],
    "dice": [RUN, 0],
    "export": [RUN, "table"],
    "figure": [
        RUN,
        {
            "view": "map", "lane": 0, "i": 0, "mate": 1, "candidates": 10, "log": False,
            "part": "rule", "which": "fired", "width": 800,
            "name": "a-figure", "caption": ["a line"],
        },
        [],
    ],
    "hello": [None],
    "models": ["auto", "auto"],
    "choose_model": [{"name": "no-such/model", "precision": "auto", "device": "auto"}],
    "stop_model": ["x"],
}  # fmt: skip
"""Every question of the page with arguments that it takes; those that need none are left out."""


class Attack(NamedTuple):
    """`name` is a question of the page, `run` for a request of one, or `generate` for programs;
    `data` its arguments, or the request, or the names and values of the call."""

    name: str
    data: Any


def request() -> dict[str, Any]:
    """A request of the page that is as it should be."""
    settings = RunSettings(lanes=presets.DEFAULT_LANES, max_new_tokens=3).to_dict()
    return {
        "kind": "run", "req": 1, "prompt": "Once", "system": "", "chat": False, "thinking": True,
        "protect": {"eos": True, "newline": "all", "texts": []},
        "settings": settings | {"server_draws": False},
    }  # fmt: skip


def call() -> dict[str, Any]:
    """A call of /generate that is as it should be."""
    return {
        "prompt": "Once", "lanes": ["Baseline", {"name": "mine", "sampler": {"top_k": 5}}],
        "seed": 7, "max_new_tokens": 3, "shared_randomness": True, "stop": ["."],
        "top_candidates": 100, "system": "", "chat": False, "thinking": True, "protect_eos": True,
        "protect_newline": "all", "protect_texts": [" the"], "server_draws": False,
    }  # fmt: skip


FOLLOWING: tuple[dict[str, Any], ...] = (
    {"kind": "continue", "run": RUN, "more": 2},
    {"kind": "continue", "run": RUN, "more": 2, "lane": 0},
    {"kind": "branch", "run": RUN, "lane": 0, "i": 1, "token": 70},
    {"kind": "branch", "run": RUN, "lane": 0, "i": 1, "text": " the"},
    {"kind": "edit", "run": RUN, "lane": 0, "text": "Other words", "more": 2},
)
"""Requests of the page to go on with a run."""


def bad_values(seed: int, count: int) -> Iterator[Attack]:
    """Yield `count` attacks: what is sent rightly, with one to three places of it turned wrong."""
    dice = random.Random(seed)
    for _ in range(count):
        kind = dice.random()
        if kind < 0.5:
            name = dice.choice(sorted(QUESTIONS))
            yield Attack(name, _arguments(dice, QUESTIONS[name]))
        elif kind < 0.8:
            begin = dice.choice((request(), request(), *FOLLOWING))
            yield Attack("run", changed(dice, begin))
        else:
            yield Attack("generate", changed(dice, call()))


def _arguments(dice: random.Random, right: list[Any]) -> Any:
    """Arguments of a question: too few, too many, none of a list, or some of them wrong."""
    kind = dice.random()
    if kind < 0.05:
        return value(dice)
    if kind < 0.15:
        return right[: dice.randrange(len(right) + 1)]
    if kind < 0.2:
        return [*right, value(dice)]
    return changed(dice, right)


def changed(dice: random.Random, data: Any) -> Any:
    """Return plain data with one to three of its places replaced, left out or added to."""
    data = copy.deepcopy(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        places = list(_places(data))
        if not places:
            return value(dice)
        within, key = dice.choice(places)
        if isinstance(within, dict) and dice.random() < 0.15:
            del within[key]
        elif isinstance(within, dict) and dice.random() < 0.1:
            within[dice.choice((*KNOBS, "x", "\ud800", "Z" * 100_000))] = value(dice)
        else:
            within[key] = value(dice)
    return data


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in plain data: the list or object, and the index or name."""
    keys = range(len(data)) if isinstance(data, list) else data
    for key in keys if isinstance(data, (list, dict)) else ():
        yield data, key
        yield from _places(data[key])


def value(dice: random.Random) -> Any:
    """Return some value that JSON can hold, most often one that fits nowhere."""
    if dice.random() < 0.02:
        deep: Any = dice.choice(VALUES)
        for _ in range(DEEP):
            deep = [deep]
        return deep
    return copy.deepcopy(dice.choice(VALUES))


RAW = re.compile(
    r"Traceback|positional|NoneType|<class|object at 0x|\bdict_|Error\b|errno|not subscriptable|"
    r"unexpected keyword|unhashable|has no attribute|'(?:int|str|float|list|dict|bool)'|\bNone\b|"
    r"codec|Exceeds the limit"
)
"""Words of Python that are none of ours."""


def complaint(words: object) -> str:
    """Say what is wrong with the words of an answer that refuses something; empty if nothing is."""
    if not isinstance(words, str) or not words.strip():
        return f"no words, but {words!r:.200}"
    if WENT_WRONG in words:
        return "Something went wrong"
    if raw := RAW.search(words):
        return f"raw Python ({raw[0]}): {words!r:.300}"
    if len(words) > LONGEST:
        return f"{len(words):,} characters: {words!r:.300}"
    if not words.isprintable():
        return f"characters that are not to be shown: {words!r:.300}"
    return ""


def named(run: str, data: Any) -> Any:
    """Return plain data in which `RUN` is the id of a run."""
    if isinstance(data, list):
        return [named(run, each) for each in data]
    if isinstance(data, Mapping):
        return {key: named(run, each) for key, each in data.items()}
    return run if data == RUN and isinstance(data, str) else data


def sendable(answer: str) -> str:
    """Say what is wrong with an answer as JSON text; empty if nothing is."""
    try:
        answer.encode()
        json.loads(answer)
    except (ValueError, RecursionError) as error:
        return str(error)[:200]
    return ""

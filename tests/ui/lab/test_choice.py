"""What a page may choose, and what is said of a file that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.lab.labdesk import EXPERIMENT
from xtc_viz.errors import SettingsError, SuiteError, XTCVizError
from xtc_viz.lab import tomlfile
from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.ui.lab.choice import MAX_FILE, parse

TOML = tomlfile.dumps(EXPERIMENT)
LINE = '{"id": "a", "genre": "g", "kind": "continue", "prompt": "Once"}\n'


def file(name: str, text: str) -> dict[str, str]:
    return {"name": name, "text": text}


def test_one_that_comes_with_the_app_fits_the_model() -> None:
    choice = parse({"experiment": "main", "small": True})
    assert choice.experiment == EXPERIMENTS["main"].in_small()
    experiment, suite = choice.on(False)
    assert (experiment.suite, suite.name) == ("story", "story")
    assert choice.on(True)[1].name == "creative"
    chosen, suite = parse({"experiment": "main", "suite": "creative"}).on(False)
    assert (chosen.suite, suite.name) == ("creative", "creative")


def test_files_of_ones_own() -> None:
    choice = parse({"toml": file("mine.toml", TOML), "jsonl": file("pets.jsonl", LINE * 1)})
    experiment, suite = choice.on(False)
    assert (experiment.name, experiment.suite) == ("mine", "pets")
    assert [prompt.text for prompt in suite.prompts] == ["Once"]
    assert parse({"toml": file("mine.toml", TOML)}).on(False)[1].name == "story"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "`choice` must be an object"),
        ({"model": "x"}, "`model` must be one of experiment, suite, small, toml, jsonl"),
        ({"experiment": "mian"}, "`experiment` must be one of main, "),
        ({"experiment": "main", "small": "no"}, "`small` must be true or false, but is 'no'"),
        ({"experiment": "main", "suite": "/etc/passwd.jsonl"}, "`suite` must be one of "),
        ({"toml": "text"}, "`toml` must be a file with name and text"),
        ({"toml": file("", "")}, "`toml: name` must be a text of 1 to 200 characters"),
        ({"toml": file("a", "#" * (MAX_FILE + 1))}, "but is 1,048,577 characters"),
        ({"toml": file("a.toml", "name = ")}, "`a.toml: experiment` must be TOML (Invalid value"),
        (
            {"toml": file("a.toml", TOML.replace("rho = 0.5", "rho = 5"))},
            "`a.toml: condition 2: rho` must be in [0, 1], but is 5",
        ),
        (
            {"toml": file("a.toml", TOML.replace('"story"', '"../secret.jsonl"'))},
            "`a.toml: suite` must be one of ",
        ),
        (
            {"experiment": "main", "jsonl": file("a.jsonl", LINE + '{"id": 1}')},
            "a.jsonl, line 2: `",
        ),
        ({"experiment": "main", "jsonl": file("a.jsonl", LINE * 2)}, "is that of line 1 too"),
    ],
)
def test_what_cannot_be_is_named_with_its_place(data: Any, words: str) -> None:
    with pytest.raises((SettingsError, SuiteError)) as caught:
        parse(data)
    assert words in str(caught.value)
    assert isinstance(caught.value, XTCVizError)
    assert len(str(caught.value)) < 600

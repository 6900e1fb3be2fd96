"""Settings in other programs' words, as the page asks for them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ui.driven import questions
from xtc_viz.engines.forms import FORMS
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.runs.protection import protected_ids
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.ui.controls import specification
from xtc_viz.ui.service import Service
from xtc_viz.ui.wording import WENT_WRONG

LANE = LaneSettings("XTC", SamplerSettings(min_p=0.05, xtc=XTCSettings(0.5, 0.1)))
PROTECT = {"eos": True, "newline": "all", "texts": []}


@pytest.fixture
def model() -> FakeModel:
    return FakeModel()


def ask(model: FakeModel, name: str, *values: Any) -> Any:
    asked = {one.__name__: one for one in questions(Service(ModelHost(model)))}
    return json.loads(asked[name](list(values)))


def test_the_page_knows_every_form() -> None:
    assert specification()["forms"] == [[form.name, form.label] for form in FORMS.values()]


@pytest.mark.parametrize("form", FORMS)
def test_a_lane_goes_there_and_comes_back(model: FakeModel, form: str) -> None:
    home = ask(model, "take_home", LANE.to_dict(), form, None)
    here = ask(model, "bring_here", home["text"], form)
    assert here["form"] == form
    assert here["engine"] == FORMS[form].engine
    assert here["problems"] == []
    back = LaneSettings.from_dict(here["lane"]).sampler
    assert (back.min_p, back.xtc.rho, back.xtc.tau) == (0.05, 0.5, 0.1)


def test_protected_tokens_are_those_of_the_model_in_memory(model: FakeModel) -> None:
    home = ask(model, "take_home", LANE.to_dict(), "mlx-lm call", PROTECT)
    ids = sorted({*model.info.eos_ids, *protected_ids(model, "all", eos=False)})
    assert f"xtc_special_tokens={ids}" in home["text"]
    here = ask(model, "bring_here", home["text"], None)
    # On the page they are chosen for all lanes together.
    assert here["lane"]["sampler"]["xtc"]["protected"] == []
    assert any("Protected tokens" in words for words in here["problems"])


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("take_home", [LANE.to_dict(), "ollama", None], "`form` must be one of"),
        ("take_home", [{"sampler": {"min_p": "x"}}, "mlx-lm call", None], "Min-p must be in"),
        ("take_home", [5, "mlx-lm call", None], "an object with named values"),
        ("bring_here", ["hello", None], "no named values"),
        ("bring_here", [5, None], "read from a text"),
        ("bring_here", ["--temp 1", ["a"]], "`form` must be one of"),
        ("bring_here", ["x" * 200_000, None], "at most 100,000 characters"),
    ],
)
def test_what_is_wrong_is_said(model: FakeModel, name: str, values: list[Any], words: str) -> None:
    message = ask(model, name, *values)["error"]["message"]
    assert words in message
    assert message != WENT_WRONG

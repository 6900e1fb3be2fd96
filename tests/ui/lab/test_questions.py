"""What the page of the laboratory is answered, from a forecast to the texts behind a number."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.ui.driven import asked
from tests.ui.lab.labdesk import EXPERIMENT, TOTAL, until
from xtc_viz.lab import tomlfile
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.lab.cell import cell_question
from xtc_viz.ui.lab.laboratory import Phase
from xtc_viz.ui.lab.questions import REFUSED, Lab, lab_questions
from xtc_viz.ui.runs import RunStore

MINE = {"toml": {"name": "mine.toml", "text": tomlfile.dumps(EXPERIMENT)}}
Ask = Callable[..., Any]


@pytest.fixture
def ask(lab: Lab) -> Ask:
    every = {one.__name__: asked(one) for one in lab_questions(lab)}
    return lambda name, *values: json.loads(every[name](list(values)))


def done(lab: Lab, ask: Ask, choice: dict[str, Any] = MINE) -> str:
    """Run to the end; return the run's name."""
    ask("lab_start", choice)
    lab.laboratory.join(60)
    status = ask("lab_status")
    assert status["phase"] == "done", status["words"]
    return str(status["run"])


def measured(ask: Ask, run: str, baseline: str | None = None) -> Any:
    until(lambda: ask("lab_numbers", run, baseline, 0)["number"])
    return ask("lab_numbers", run, baseline, 0)


def test_what_there_is_to_choose(ask: Ask) -> None:
    choices = ask("lab_choices")
    assert "main" in [one["name"] for one in choices["experiments"]]
    assert all(one["question"] and one["cells"][0] > 0 for one in choices["experiments"])
    assert ["story", 24, 12] in choices["suites"]
    assert tomlfile.loads(ask("lab_toml", "main")).name == "main"
    assert ask("lab_runs") == []


def test_a_forecast_before_and_after(lab: Lab, ask: Ask) -> None:
    before = ask("lab_forecast", MINE)
    assert (before["total"], before["present"], before["missing"]) == (TOTAL, 0, TOTAL)
    assert before["tokens"] == TOTAL * EXPERIMENT.length
    assert before["space"] == before["tokens"] * 450
    assert 0 < before["seconds"] == pytest.approx(before["tokens"] / before["rate"])
    assert before["free"] > 0
    run = done(lab, ask)
    after = ask("lab_forecast", MINE)
    assert (after["run"], after["missing"], after["seconds"]) == (run, 0, 0)


def test_nothing_is_tried_out_while_somebody_writes(lab: Lab, ask: Ask) -> None:
    with lab.laboratory.host.turn() as turn:
        assert turn.wait(1)
        assert ask("lab_forecast", MINE)["seconds"] is None


@pytest.mark.slow
def test_every_number_leads_to_its_texts_and_each_text_to_the_inspector(lab: Lab, ask: Ask) -> None:
    run = done(lab, ask)
    assert [(each["run"], each["done"]) for each in ask("lab_runs")] == [(run, TOTAL)]
    table = measured(ask, run)["table"]
    assert table["conditions"] == ["baseline", "XTC"]
    distinct = next(one for one in table["metrics"] if one["name"] == "distinct_2")
    number = distinct["cells"]["XTC"]
    prompts = ask("lab_prompts", run, "baseline", "distinct_2", "XTC")
    assert len(prompts) == table["prompts"] == 8
    mean = sum(each["value"] for each in prompts) / 8
    assert mean == pytest.approx(number["value"], rel=1e-4)
    samples = ask("lab_samples", run, "XTC", prompts[0]["prompt"], "baseline")
    assert samples["missing"] == 0
    pairs = [(row["own"]["cell"], row["beside"]["cell"]) for row in samples["rows"]]
    assert len(pairs) == 2
    store = RunStore()
    cell = asked(cell_question(lab, store))
    one = json.loads(cell([[pairs[0][0]]]))
    assert [lane["name"] for lane in one["head"]["lanes"]] == ["XTC"]
    text = "".join(chip[1] for chip in one["add"][0])
    assert text.startswith(samples["rows"][0]["own"]["text"])
    both = json.loads(cell([list(pairs[0])]))
    assert [lane["name"] for lane in both["head"]["lanes"]] == ["XTC", "baseline"]
    assert store.get(both["run"]).lengths == [len(lane) for lane in both["add"]]
    apart = json.loads(cell([[pairs[0][0], pairs[1][0]]]))
    assert "do not share their prompt, dice" in apart["error"]["message"]
    assert "error" in json.loads(cell([["zz"]]))
    assert "error" in json.loads(cell([["%", "_", "x"]]))


@pytest.mark.slow
def test_figures_and_two_runs_side_by_side(lab: Lab, ask: Ask) -> None:
    run = done(lab, ask)
    lab.laboratory.host._occupancy.model = FakeModel(seed=5, name="other")
    other = done(lab, ask)
    assert run != other
    for each in (run, other):
        measured(ask, each)
    figures = ask("lab_figures", run, None, "")
    assert figures
    assert all(one["sentence"] and one["meaning"] for one in figures)
    report = ask("lab_report", run, None)
    assert report.lstrip().lower().startswith("<!doctype html>")
    assert "Does it help?" in report
    compared = ask("lab_compare", run, other)
    assert [each["name"] for each in compared["runs"]] == ["fake", "other"]
    assert compared["conditions"] == ["baseline", "XTC"]
    first = next(one for one in compared["metrics"] if one["name"] == "distinct_2")
    assert set(first["cells"]) == {"baseline", "XTC"}
    assert first["usual"]
    same = ask("lab_compare", run, run)
    assert {c["says"] for m in same["metrics"] for c in m["cells"].values()} <= {
        "the same for each prompt", "too few prompts",
    }  # fmt: skip
    assert "error" in ask("lab_go_on", run), "it is on a model that is not in use"
    assert "choose that model" in ask("lab_go_on", run)["error"]["message"]


def test_what_is_wrong_is_said_and_not_raised(ask: Ask) -> None:
    for name, *values in (
        ("lab_forecast", {"experiment": "no"}),
        ("lab_start", {"toml": {"name": "x.toml", "text": "="}}),
        ("lab_go_on", "no"),
        ("lab_numbers", "no", None, 0),
        ("lab_numbers", 3, None, 0),
        ("lab_samples", "no", "a", "b", "c"),
        ("lab_compare", "a", "b"),
        ("lab_figures", "a", None, ""),
    ):
        assert ask(name, *values)["error"]["message"]


class Far:
    """A request that came through a proxy."""

    headers: Mapping[str, str] = {"host": "localhost", "x-forwarded-for": "10.1.1.1"}
    request = None


def test_who_comes_from_elsewhere_is_refused(lab: Lab) -> None:
    for question in lab_questions(lab):
        answers = [json.loads(asked(question)([None] * n, Far())) for n in range(6)]
        words = {answer["error"]["message"] for answer in answers}
        assert REFUSED in words, question.__name__
    assert lab.laboratory.status.phase == Phase.IDLE


def test_the_model_at_rest_is_said(lab: Lab, ask: Ask) -> None:
    lab.laboratory.host = ModelHost()
    assert "No model is in memory" in ask("lab_forecast", MINE)["error"]["message"]

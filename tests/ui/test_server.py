"""What the page asks beside a run, and what it is answered."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.ui.factories import decode, thinker
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.records import tracefile
from xtc_viz.runs.protection import protected_ids
from xtc_viz.runs.reasoning import answer_step
from xtc_viz.sampling.rule import Outcome, decide
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.ui import controls, exports, recorded, whatif
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.server import questions
from xtc_viz.ui.stream import Stops


class Desk:
    """The questions over one recorded run of the fake model."""

    def __init__(self, model: FakeModel | None = None) -> None:
        self.trace, self.model = decode(model, prompt="Once", length=80)
        self.store = RunStore()
        self.run = self.store.add(Run.of(self.trace, "done"))
        self.host = ModelHost(self.model)
        made = questions(self.host, self.store, Stops())
        self.questions = {question.__name__: question for question in made}

    def ask(self, name: str, *arguments: Any) -> Any:
        return json.loads(self.questions[name](list(arguments)))


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk()


def test_a_block_and_an_opening(desk: Desk) -> None:
    block = desk.ask("block", desk.run, 1, 1, 10, None)
    assert (block["first"], len(block["steps"])) == (64, 16)
    whole = desk.ask("open", desk.run, [70, 75])
    assert [len(chips) for chips in whole["add"]] == [10, 5]
    assert desk.ask("hello")["model"]["name"] == "fake"
    assert desk.ask("stop", desk.run) is False


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("block", ["unknown", 0, 0, 10, None]),
        ("block", ["RUN", 2, 0, 10, None]),
        ("block", ["RUN", -1, 0, 10, None]),
        ("block", ["RUN", 0, "0", 10, None]),
        ("block", ["RUN", 0, 0, 10, {"rho": 2}]),
        ("block", ["RUN"]),
        ("open", ["RUN", [True]]),
        ("stages", ["RUN", 0, 999, 10]),
        ("what_if", ["RUN", 0, "all"]),
        ("strength", ["RUN", 0, {"tau": 0}]),
        ("what_if", ["RUN", 0, {"rho": 1, "protect": "all"}]),
        ("export", ["RUN", "film"]),
        ("load", ["{}"]),
        ("load", [5]),
    ],
)
def test_a_wrong_question_is_answered_by_an_error(
    desk: Desk, name: str, arguments: list[Any]
) -> None:
    answer = desk.ask(name, *[desk.run if a == "RUN" else a for a in arguments])
    assert answer["error"]["message"]


def test_what_if_with_the_runs_own_settings_is_what_was(desk: Desk) -> None:
    own = desk.trace.lanes[1].settings.sampler.xtc
    same = {"rho": own.rho, "tau": own.tau, "strategy": own.strategy}
    found = desk.ask("what_if", desk.run, 1, same)
    outcomes = [step.outcome for step in desk.trace.lanes[1].steps]
    assert [list(Outcome)[int(digit)] for digit in found["outcomes"]] == outcomes
    assert found["exact"]
    plain = desk.ask("block", desk.run, 1, 0, 10, None)
    again = desk.ask("block", desk.run, 1, 0, 10, same)
    for before, after in zip(plain["steps"], again["steps"], strict=True):
        assert before["removed"] == after["removed"]
        assert before["log_z"] == pytest.approx(after["log_z"], abs=1e-5)


def test_what_if_follows_the_settings(desk: Desk) -> None:
    never = desk.ask("what_if", desk.run, 1, {"rho": 0.0, "tau": 0.1})
    always = desk.ask("what_if", desk.run, 1, {"rho": 1.0, "tau": 0.1})
    high = desk.ask("what_if", desk.run, 1, {"rho": 1.0, "tau": 0.6})
    assert never["counts"][3] == high["counts"][3] == 0
    assert always["counts"][3] > 20
    assert always["expected"] == pytest.approx(always["counts"][3])


def test_below_the_recorded_it_is_said_whether_a_what_if_is_exact(desk: Desk) -> None:
    steps = desk.trace.lanes[1].steps
    found = {tau: desk.ask("what_if", desk.run, 1, {"rho": 1, "tau": tau}) for tau in (0.01, 1e-6)}
    assert {each["recorded"] for each in found.values()} == {100}
    assert found[0.01]["exact"]
    assert found[1e-6]["exact"] is not any(step.probs[99] >= 1e-6 for step in steps)


def test_an_imagined_step_is_what_the_rule_would_have_done(desk: Desk) -> None:
    lane = desk.trace.lanes[0]
    xtc = XTCSettings(rho=1.0, tau=0.1)
    for step in whatif.imagined_steps(lane.steps, lane.settings, xtc, 100):
        if step.outcome is Outcome.FIRED:
            assert set(step.removed) == set(step.ids[: step.eligible]) - {step.underdog}


def test_the_map_grows_with_rho_and_falls_with_tau(desk: Desk) -> None:
    grid = desk.ask("strength", desk.run, 1, {"rho": 0.5, "tau": 0.1})
    rows = grid["interventions"]
    assert rows[0] == [0.0] * len(grid["taus"])
    assert all(
        a <= b for low, high in itertools.pairwise(rows) for a, b in zip(low, high, strict=True)
    )
    assert all(a >= b for a, b in zip(rows[-1], rows[-1][1:], strict=False))
    assert min(grid["taus"]) >= 0.01


def test_the_map_and_the_what_if_agree_wherever_the_map_has_a_point(desk: Desk) -> None:
    grid = desk.ask("strength", desk.run, 1, {"rho": 0.5, "tau": 0.1})
    for i, j in ((10, 0), (5, 7), (3, 12)):
        knobs = {"rho": grid["rhos"][i], "tau": grid["taus"][j]}
        found = desk.ask("what_if", desk.run, 1, knobs)
        per_token = found["expected"] / sum(found["counts"])
        assert grid["interventions"][i][j] == pytest.approx(per_token, abs=2e-4)
        assert grid["removed"][i][j] == pytest.approx(found["removed"], abs=1e-4)


def test_stages_end_where_the_bars_do(desk: Desk) -> None:
    block = desk.ask("block", desk.run, 1, 0, 10, None)
    i = next(i for i, step in enumerate(block["steps"]) if step["outcome"] == "fired")
    view = desk.ask("stages", desk.run, 1, i, 10)
    assert [stage["name"] for stage in view["stages"]] == ["raw", "xtc"]
    assert view["stages"][1]["line"] == 0.1
    last = dict(zip(view["ids"], view["stages"][1]["probs"], strict=True))
    step = block["steps"][i]
    assert all(last[token] == 0.0 for token in step["removed"])
    assert view["removed"] == step["removed"]
    assert view["eligible"] == step["ids"][: step["eligible"]]
    for stage in view["stages"]:
        assert sum(stage["probs"]) + stage["rest"] == pytest.approx(1.0, abs=1e-3)


def test_a_trace_goes_out_and_comes_back_as_the_same_page(desk: Desk) -> None:
    text = desk.ask("export", desk.run, "trace")
    assert tracefile.loads(text) == desk.trace
    again = desk.ask("load", text)
    before = desk.ask("open", desk.run, [])
    for name in ("head", "add", "stats", "finish"):
        assert again[name] == before[name]
    block = desk.ask("block", again["run"], 1, 0, 25, None)
    assert block == desk.ask("block", desk.run, 1, 0, 25, None)


def test_the_table_has_a_row_a_step_and_no_formulas(desk: Desk) -> None:
    rows = list(csv.DictReader(io.StringIO(desk.ask("export", desk.run, "table"))))
    steps = [step for lane in desk.trace.lanes for step in lane.steps]
    assert len(rows) == len(steps)
    assert tuple(rows[0]) == exports.COLUMNS
    assert [int(row["token"]) for row in rows] == [step.token for step in steps]
    assert exports._cell("=SUM(A1)") == "'=SUM(A1)"


def test_the_replay_is_one_file_that_asks_for_nothing(desk: Desk) -> None:
    html = desk.ask("export", desk.run, "replay")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", html)
    assert html.count("<script>") == 1
    assert html.count("</script>") == 1, "no token text can end the script"
    assert "default-src 'none'" in html


def test_the_replay_says_what_wrote_it() -> None:
    warm = SamplerSettings(temperature=1.3, xtc=XTCSettings(rho=0.5, tau=0.1))
    trace, _ = decode(length=5, seed=11, lanes=(LaneSettings("<b>"), LaneSettings("Hot", warm)))
    run = Run.of(trace, "done")
    day = date(2026, 5, 4)
    assert exports.described(run, day) == (
        "A run of fake with seed 11 and shared dice, kept on 2026-05-04. "
        "Lanes: <b> (plain sampling); Hot (temperature 1.3, rho 0.5, tau 0.1)."
    )
    html = exports.replay(run, controls.specification(), day)
    head = html[: html.index("<style>")]
    assert "<title>xtc_viz replay: fake, seed 11</title>" in head
    assert "Lanes: &lt;b&gt; (plain" in head
    assert '"kept":"2026-05-04"' in html


def test_the_recorded_run_opens_with_a_telling_step(tmp_path: Path) -> None:
    trace = recorded.record(FakeModel(), seed=3, length=40)
    tracefile.save(trace, tmp_path / "run.json.gz")
    store = RunStore()
    message = recorded.opening(store, tmp_path / "run.json.gz")
    assert message is not None
    lane, i = message["select"]
    assert trace.lanes[lane].steps[i].changed
    assert store.get(message["run"]).state == message["state"] == "recorded"
    assert recorded.opening(store, tmp_path / "none.json.gz") is None


def test_the_shipped_recorded_run_can_be_shown() -> None:
    message = recorded.opening(RunStore())
    assert message is not None
    assert {lane["name"] for lane in message["head"]["lanes"]} == {"Baseline", "XTC"}
    assert len(json.dumps(message)) < 60_000
    assert controls.specification()["settings"]["lanes"][1]["name"] == "XTC"


def test_protected_tokens_are_shown_while_the_model_is_busy(desk: Desk) -> None:
    asked = {"eos": True, "newline": "token", "texts": [" Lily", " dragons"]}
    with desk.host.turn() as turn:
        assert turn.wait(1), "somebody else decodes"
        shown = desk.ask("tokens", asked)
    assert [text["tokens"] for text in shown["texts"]] == [[" Lily"], [" dragon", "s"]]
    assert shown["count"] == shown["eos"] + shown["newline"] + 2
    assert "protect_newline" in desk.ask("tokens", {"newline": 5})["error"]["message"]


def test_without_a_model_in_memory_no_token_is_known() -> None:
    (tokens,) = (q for q in questions(ModelHost(), RunStore(), Stops()) if q.__name__ == "tokens")
    assert json.loads(tokens([{}])) is None


def own_knobs(desk: Desk, lane: int = 1) -> dict[str, Any]:
    own = desk.trace.lanes[lane].settings.sampler.xtc
    return {"rho": own.rho, "tau": own.tau, "strategy": own.strategy}


@pytest.mark.parametrize("here", [True, False], ids=["model in memory", "another model"])
def test_what_if_other_tokens_were_protected(desk: Desk, here: bool) -> None:
    """Each step is decided as the rule decides it, whoever knows what the texts mean."""
    lane = desk.trace.lanes[1]
    made = questions(desk.host if here else ModelHost(), desk.store, Stops())
    ask = {question.__name__: question for question in made}
    step = next(s for s in lane.steps if s.fired)
    word = desk.trace.vocabulary[step.removed[0]]
    protect = {"eos": True, "newline": "token", "texts": [word]}
    given = own_knobs(desk) | {"protect": protect}
    found = json.loads(ask["what_if"]([desk.run, 1, given]))
    settings = replace(
        lane.settings.sampler.xtc,
        protected=protected_ids(desk.model, "token", desk.model.encode(word)[:1]),
    )
    expected = [
        decide(s.ids[: s.eligible], s.probs[: s.eligible], s.coin, settings) for s in lane.steps
    ]
    assert found["outcomes"] == "".join(str(list(Outcome).index(d.outcome)) for d in expected)
    assert (found["guarded"], found["unsure"]) == (True, [])
    assert found["counts"][2] > 0
    block = json.loads(ask["block"]([desk.run, 1, 0, 10, given]))
    assert [s["outcome"] for s in block["steps"]] == [str(d.outcome) for d in expected[:64]]
    grid = json.loads(ask["strength"]([desk.run, 1, given]))
    plain = desk.ask("strength", desk.run, 1, own_knobs(desk))
    assert grid["interventions"] != plain["interventions"]


def test_the_runs_own_choice_in_other_words_is_no_what_if(desk: Desk) -> None:
    same = {"eos": True, "newline": "none", "texts": []}  # as `decode` has none protected
    protect = desk.ask("open", desk.run, [])["head"]["protect"]
    assert protect == {"eos": False, "newline": "none", "texts": []}
    found = desk.ask("what_if", desk.run, 1, own_knobs(desk) | {"protect": protect})
    assert found["guarded"] is False
    assert desk.ask("what_if", desk.run, 1, own_knobs(desk) | {"protect": same})["guarded"] is True


def test_what_cannot_be_known_without_the_model_is_said(desk: Desk) -> None:
    made = questions(ModelHost(), desk.store, Stops())
    (ask,) = (question for question in made if question.__name__ == "what_if")
    protect = {"eos": False, "newline": "none", "texts": [" theatre"]}
    found = json.loads(ask([desk.run, 1, own_knobs(desk) | {"protect": protect}]))
    assert (found["guarded"], found["unsure"]) == (False, [" theatre"])


def test_a_thought_does_not_count_in_what_if_and_is_marked_in_the_table() -> None:
    desk = Desk(thinker(30))
    lane = desk.trace.lanes[1]
    thought = answer_step(step.text for step in lane.steps)
    assert 30 < thought < len(lane.steps)
    found = desk.ask("what_if", desk.run, 1, {"rho": 1.0, "tau": 0.1})
    assert len(found["outcomes"]) == len(lane.steps)
    assert found["counts"][3] == found["outcomes"][thought:].count("3") > 0
    assert found["expected"] == pytest.approx(found["counts"][3])
    assert "3" in found["outcomes"][:thought]
    grid = desk.ask("strength", desk.run, 1, {"rho": 1.0, "tau": 0.1})
    steps = len(lane.steps) - thought
    at = grid["interventions"][-1][grid["taus"].index(0.1)]
    assert at * steps == pytest.approx(found["counts"][3], abs=0.01)
    rows = list(csv.DictReader(io.StringIO(desk.ask("export", desk.run, "table"))))
    marked = [row["thought"] for row in rows if row["lane"] == "XTC"]
    assert marked == ["True"] * thought + ["False"] * steps

"""What the page asks beside a run, and what it is answered."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.driven import answer, questions
from tests.ui.factories import decode, thinker
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.records import tracefile
from xtc_viz.runs.protection import protected_ids
from xtc_viz.runs.reasoning import answer_step
from xtc_viz.runs.record import record
from xtc_viz.sampling.rule import Outcome, decide
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.tablecell import text_of
from xtc_viz.ui import controls, exports, recorded, whatif
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service
from xtc_viz.ui.wording import WENT_WRONG


class Desk:
    """The questions over one recorded run of the fake model."""

    def __init__(self, model: FakeModel | None = None) -> None:
        self.trace, self.model = decode(model, prompt="Once", length=80)
        self.store = RunStore()
        self.run = self.store.add(Run.of(self.trace, "done"))
        self.host = ModelHost(self.model)
        made = questions(Service(self.host, self.store))
        self.questions = {question.__name__: question for question in made}

    def ask(self, name: str, *arguments: Any) -> Any:
        return json.loads(self.questions[name](list(arguments)))


@cache
def shared_desk() -> Desk:
    return Desk()


@pytest.fixture
def desk() -> Desk:
    return shared_desk()


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
        ("becomes", ["RUN", 0, 999, " a"]),
        ("becomes", ["RUN", 0, 0, ""]),
        ("becomes", ["RUN", 0, 0, 5]),
        ("becomes", ["RUN", 0, 0, "z" * 513]),
        ("load", ["{}"]),
        ("load", [5]),
    ],
)
def test_a_wrong_question_is_answered_by_an_error(
    desk: Desk, name: str, arguments: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    answer = desk.ask(name, *[desk.run if a == "RUN" else a for a in arguments])
    assert answer["error"]["message"] not in ("", WENT_WRONG)
    assert not caplog.records


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("stages", ["x", 0], "`stages` takes run, lane, i, candidates, but was asked "
                             "without i and candidates."),
        ("stop", [], "`stop` takes run, but was asked without run."),
        ("stop", ["x", "y"], "`stop` takes run, but was given 2."),
        ("put_away_model", [1], "`put_away_model` takes no arguments, but was given 1."),
        ("open", "x", "`open` takes a list of arguments, but was given 'x'"),
        ("open", None, "`open` takes a list of arguments, but was given nothing"),
    ],
)  # fmt: skip
def test_a_question_names_the_argument_that_is_missing(
    desk: Desk, name: str, arguments: Any, words: str
) -> None:
    assert json.loads(desk.questions[name](arguments)) == {"error": {"message": words}}


@pytest.mark.parametrize("error", [TypeError("NoneType is not ..."), KeyError("secret path")])
def test_what_breaks_inside_is_logged_and_not_passed_on(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(run: object) -> object:
        raise error

    question = answer(breaks)
    assert json.loads(question(["x"])) == {"error": {"message": WENT_WRONG}}
    (record,) = caplog.records
    assert record.getMessage() == "the question `breaks` failed"
    assert record.exc_info
    assert record.exc_info[1] is error


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("RUN"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["rho", "tau", "strategy", "protect", "protected", "eos", "texts"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
LOOKING = (
    *("block", "open", "stop", "stages", "what_if", "tokens", "becomes", "strength"),
    "dice",
    *("export", "figure"),
    "load",
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LOOKING), st.lists(values, max_size=5))
def test_whatever_a_page_asks_nothing_breaks(name: str, arguments: list[Any]) -> None:
    desk = shared_desk()
    given_run = [desk.run if a == "RUN" else a for a in arguments]
    answers = [desk.ask(name, *given_run), desk.ask(name, desk.run, 1, *given_run)]
    assert all(
        "error" not in a or a["error"]["message"] != WENT_WRONG
        for a in answers
        if isinstance(a, dict)
    )


def test_what_if_with_the_runs_own_settings_is_what_was(desk: Desk) -> None:
    own = desk.trace.lanes[1].settings.sampler.xtc
    same = {"rho": own.rho, "tau": own.tau, "strategy": own.strategy}
    sums = desk.ask("what_if", desk.run, 1, same)
    outcomes = [step.outcome for step in desk.trace.lanes[1].steps]
    assert [list(Outcome)[int(digit)] for digit in sums["outcomes"]] == outcomes
    assert sums["exact"]
    plain = desk.ask("block", desk.run, 1, 0, 10, None)
    again = desk.ask("block", desk.run, 1, 0, 10, same)
    for before, after in zip(plain["steps"], again["steps"], strict=True):
        assert before["removed"] == after["removed"]
        assert before["q"] == pytest.approx(after["q"], rel=1e-4)


def test_what_if_follows_the_settings(desk: Desk) -> None:
    never = desk.ask("what_if", desk.run, 1, {"rho": 0.0, "tau": 0.1})
    always = desk.ask("what_if", desk.run, 1, {"rho": 1.0, "tau": 0.1})
    high = desk.ask("what_if", desk.run, 1, {"rho": 1.0, "tau": 0.6})
    assert never["counts"][3] == high["counts"][3] == 0
    assert always["counts"][3] > 20
    assert always["expected"] == pytest.approx(always["counts"][3])


def test_below_the_recorded_it_is_said_whether_a_what_if_is_exact(desk: Desk) -> None:
    steps = desk.trace.lanes[1].steps
    by_tau = {tau: desk.ask("what_if", desk.run, 1, {"rho": 1, "tau": tau}) for tau in (0.01, 1e-6)}
    assert {each["recorded"] for each in by_tau.values()} == {100}
    assert by_tau[0.01]["exact"]
    assert by_tau[1e-6]["exact"] is not any(step.probs[99] >= 1e-6 for step in steps)


def test_an_imagined_step_is_what_the_rule_would_have_done(desk: Desk) -> None:
    lane = desk.trace.lanes[0]
    xtc = XTCSettings(rho=1.0, tau=0.1)
    before = desk.trace.prompt_ids
    for step in whatif.steps_under(lane.steps, lane.settings, xtc, 100, before):
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
        sums = desk.ask("what_if", desk.run, 1, knobs)
        per_token = sums["expected"] / sum(sums["counts"])
        assert grid["interventions"][i][j] == pytest.approx(per_token, abs=2e-4)
        assert grid["removed"][i][j] == pytest.approx(sums["removed"], abs=1e-4)


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
    steps = [(lane, step) for lane in desk.trace.lanes for step in lane.steps]
    assert len(rows) == len(steps)
    assert list(rows[0])[:7] == list(exports.ORIGIN)
    assert set(rows[0]) == {
        *exports.ORIGIN,
        *("position", "token", "text", "outcome", "changed", "forced", "coin", "eligible"),
        *("removed", "removed_mass", "removable_mass", "counterfactual", "p", "q", "rank"),
        *("entropy", "thought", "bound", "tail"),
    }
    texts = desk.trace.vocabulary
    assert {(row["seed"], row["model"], row["prompt"]) for row in rows} == {("7", "fake", "Once")}
    baseline = [row for row in rows if row["lane"] == "Baseline"]
    assert {(row["rho"], row["outcome"], row["settings"]) for row in baseline} == {
        ("0.0", "off", "plain sampling")
    }
    for row, (lane, step) in zip(rows, steps, strict=True):
        xtc = lane.settings.sampler.xtc
        assert (float(row["rho"]), float(row["tau"])) == (xtc.rho, xtc.tau)
        assert int(row["token"]) == step.token
        assert row["outcome"] == (str(step.outcome) if xtc.rho else "off")
        assert row["tail"] == str(step.from_tail)
        assert (row["changed"], row["forced"], row["bound"]) == (str(step.changed), "False", "")
        removed = " | ".join(texts[token] for token in step.removed)
        assert text_of(row["removed"]) == removed
        assert text_of(row["counterfactual"]) == texts[step.counterfactual]
    assert exports._short(201 * "a") == 199 * "a" + "…"


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
    trace = record(FakeModel(), recorded.request(seed=3, length=40))
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
    protect = {"eos": True, "newline": "token", "texts": [" Lily", " dragons"]}
    with desk.host.turn() as turn:
        assert turn.wait(1), "somebody else decodes"
        shown = desk.ask("tokens", protect)
    assert [text["tokens"] for text in shown["texts"]] == [[" Lily"], [" dragon", "s"]]
    assert shown["count"] == shown["eos"] + shown["newline"] + 2
    assert "protect_newline" in desk.ask("tokens", {"newline": 5})["error"]["message"]


def test_without_a_model_in_memory_no_token_is_known() -> None:
    (tokens,) = (q for q in questions(Service(ModelHost())) if q.__name__ == "tokens")
    assert json.loads(tokens([{}])) is None


def test_a_typed_text_is_shown_as_the_tokens_that_it_becomes(desk: Desk) -> None:
    assert desk.ask("becomes", desk.run, 1, 7, " bear") == {"tokens": [" bear"], "more": 0}
    assert desk.ask("becomes", desk.run, 1, 7, "bear")["tokens"] == ["b", "e", "a", "r"]
    assert desk.ask("becomes", desk.run, 1, 7, "z" * 30)["more"] == 18


def test_without_the_model_that_wrote_a_run_nobody_knows_what_a_text_becomes(desk: Desk) -> None:
    for host in (ModelHost(), ModelHost(FakeModel(name="another"))):
        made = questions(Service(host, desk.store))
        (becomes,) = (q for q in made if q.__name__ == "becomes")
        assert json.loads(becomes([desk.run, 1, 7, " bear"])) is None


def own_knobs(desk: Desk, lane: int = 1) -> dict[str, Any]:
    own = desk.trace.lanes[lane].settings.sampler.xtc
    return {"rho": own.rho, "tau": own.tau, "strategy": own.strategy}


@pytest.mark.parametrize("here", [True, False], ids=["model in memory", "another model"])
def test_what_if_other_tokens_were_protected(desk: Desk, here: bool) -> None:
    """Each step is decided as the rule decides it, whoever knows what the texts mean."""
    lane = desk.trace.lanes[1]
    made = questions(Service(desk.host if here else ModelHost(), desk.store))
    ask = {question.__name__: question for question in made}
    step = next(s for s in lane.steps if s.fired)
    word = desk.trace.vocabulary[step.removed[0]]
    protect = {"eos": True, "newline": "token", "texts": [word]}
    given = own_knobs(desk) | {"protect": protect}
    sums = json.loads(ask["what_if"]([desk.run, 1, given]))
    xtc = replace(
        lane.settings.sampler.xtc,
        protected=protected_ids(desk.model, "token", desk.model.encode(word)[:1]),
    )
    expected = [decide(s.ids[: s.eligible], s.probs[: s.eligible], s.coin, xtc) for s in lane.steps]
    assert sums["outcomes"] == "".join(str(list(Outcome).index(d.outcome)) for d in expected)
    assert (sums["guarded"], sums["unsure"]) == (True, [])
    assert sums["counts"][2] > 0
    block = json.loads(ask["block"]([desk.run, 1, 0, 10, given]))
    assert [s["outcome"] for s in block["steps"]] == [str(d.outcome) for d in expected[:64]]
    grid = json.loads(ask["strength"]([desk.run, 1, given]))
    plain = desk.ask("strength", desk.run, 1, own_knobs(desk))
    assert grid["interventions"] != plain["interventions"]


def test_the_runs_own_choice_in_other_words_is_no_what_if(desk: Desk) -> None:
    same = {"eos": True, "newline": "none", "texts": []}  # as `decode` has none protected
    protect = desk.ask("open", desk.run, [])["head"]["protect"]
    assert protect == {"eos": False, "newline": "none", "texts": []}
    sums = desk.ask("what_if", desk.run, 1, own_knobs(desk) | {"protect": protect})
    assert sums["guarded"] is False
    assert desk.ask("what_if", desk.run, 1, own_knobs(desk) | {"protect": same})["guarded"] is True


def test_what_cannot_be_known_without_the_model_is_said(desk: Desk) -> None:
    made = questions(Service(ModelHost(), desk.store))
    (ask,) = (question for question in made if question.__name__ == "what_if")
    protect = {"eos": False, "newline": "none", "texts": [" theatre"]}
    sums = json.loads(ask([desk.run, 1, own_knobs(desk) | {"protect": protect}]))
    assert (sums["guarded"], sums["unsure"]) == (False, [" theatre"])


def test_a_thought_does_not_count_in_what_if_and_is_marked_in_the_table() -> None:
    desk = Desk(thinker(30))
    lane = desk.trace.lanes[1]
    thought = answer_step(step.text for step in lane.steps)
    assert 30 < thought < len(lane.steps)
    sums = desk.ask("what_if", desk.run, 1, {"rho": 1.0, "tau": 0.1})
    assert len(sums["outcomes"]) == len(lane.steps)
    assert sums["counts"][3] == sums["outcomes"][thought:].count("3") > 0
    assert sums["expected"] == pytest.approx(sums["counts"][3])
    assert "3" in sums["outcomes"][:thought]
    grid = desk.ask("strength", desk.run, 1, {"rho": 1.0, "tau": 0.1})
    steps = len(lane.steps) - thought
    at = grid["interventions"][-1][grid["taus"].index(0.1)]
    assert at * steps == pytest.approx(sums["counts"][3], abs=0.01)
    rows = list(csv.DictReader(io.StringIO(desk.ask("export", desk.run, "table"))))
    marked = [row["thought"] for row in rows if row["lane"] == "XTC"]
    assert marked == ["True"] * thought + ["False"] * steps


def test_a_file_of_more_lanes_than_can_be_shown_is_refused(desk: Desk) -> None:
    data = json.loads(desk.ask("export", desk.run, "trace"))
    data["lanes"] *= 4
    answer = desk.ask("load", json.dumps(data))
    assert answer["error"]["message"] == "`lanes` must be 1 to 6 lanes, but is 8"

"""What each engine leaves, as the page draws it: groups, the candidates shown, reasons in words."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.driven import questions
from tests.ui.factories import decode
from xtc_viz.engines.chain import at_step
from xtc_viz.engines.known import ENGINES
from xtc_viz.errors import SettingsError
from xtc_viz.models.host import ModelHost
from xtc_viz.sampling.dialect import PAPER
from xtc_viz.sampling.stageview import view
from xtc_viz.settings import XTCSettings
from xtc_viz.ui import dialects, engineview
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service


def typed(values: list[float], xtc: dict[str, Any] | None = None, **more: Any) -> Any:
    """What all engines leave of these numbers at ρ = 0.5, τ = 0.1, protected the first."""
    own = {"rho": 0.5, "tau": 0.1, **(xtc or {})}
    sampler: dict[str, Any] = {"xtc": own} | more
    return engineview.of_typed({"values": values, "sampler": sampler})


def groups(strips: Any) -> dict[str, Any]:
    """Each engine's group."""
    return {engine: group for group in strips["groups"] for engine in group["engines"]}


def read(answer: Any, parts: list[Any]) -> str:
    return "".join(p if isinstance(p, str) else f"«{answer['texts'][p]}»" for p in parts)


def test_a_tie_by_hand() -> None:
    answer = typed([0.4, 0.3, 0.15, 0.15])
    strips = answer["rule"]["fired"]
    of = groups(strips)
    assert strips["ids"] == [0, 1, 2, 3]
    assert of["paper"] is strips["groups"][0]
    assert of["paper"]["probs"] == [0.0, 0.0, 1.0, 0.0]
    assert of["paper"]["reasons"] == []
    assert of["mlx-lm"]["probs"] == [0.0, 0.0, 0.5, 0.5]
    assert of["llama.cpp"]["removed"] == [0, 1, 3]
    assert "«2» and «3» are equally likely: mlx-lm keeps both." in [
        read(answer, reason) for reason in of["mlx-lm"]["reasons"]
    ]


def test_a_protected_word_by_hand() -> None:
    answer = typed([0.5, 0.3, 0.2], xtc={"protected": [0]})
    of = groups(answer["rule"]["fired"])
    assert (of["paper"]["effect"], of["paper"]["removed"]) == ("protected", [])
    assert (of["llama.cpp"]["effect"], of["llama.cpp"]["removed"]) == ("fired", [0, 1])
    assert of["mlx-lm"]["removed"] == [1]
    assert answer["guarded"] == [0]
    # Engines of one group, each with its own reason: the one exempts, the other leaves out.
    said = [read(answer, reason) for reason in of["mlx-lm"]["reasons"]]
    assert len(said) == len(set(said)) > 1


def test_the_engine_of_the_lane_comes_first_and_has_no_reasons() -> None:
    answer = typed([0.4, 0.3, 0.15, 0.15], xtc={"dialect": "mlx-lm"})
    for part in ("rule", "chain"):
        first = answer[part]["fired"]["groups"][0]
        assert first["engines"][0] == "mlx-lm"
        assert first["reasons"] == []


def test_logits_and_weights_become_probabilities() -> None:
    logits = engineview.of_typed({"values": [2.0, 1.0, 0.0, -1.0], "logits": True})
    assert logits["given"] == pytest.approx([0.643914, 0.236883, 0.087144, 0.032059], abs=1e-4)
    assert typed([40, 30, 30])["given"] == [0.4, 0.3, 0.3]
    # What is typed may be a part of the distribution.
    part = typed([0.4, 0.3])
    assert part["given"] == [0.4, 0.3]
    assert part["rule"]["fired"]["rest"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (7, "`numbers` must be an object"),
        ({}, "`values` must be a list of 1 to 64 numbers"),
        ({"values": [0.1] * 65}, "`values` must be a list of 1 to 64 numbers"),
        ({"values": [0.5, "a"]}, "`values` must be a number >= 0"),
        ({"values": [0.5, True]}, "`values` must be a number >= 0"),
        ({"values": [0.5, -0.1]}, "`values` must be a number >= 0"),
        ({"values": [float("nan")]}, "`values` must be a number >= 0"),
        ({"values": [float("inf")], "logits": True}, "`values` must be a number, at most"),
        ({"values": [0, 0]}, "of which one is above 0"),
        ({"values": [1], "more": 1}, "`more` must be one of values, logits, sampler"),
        ({"values": [1], "sampler": {"xtc": {"tau": 2}}}, "`tau` must be in"),
    ],
)
def test_what_cannot_be_compared_is_named(data: object, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        engineview.of_typed(data)
    assert message in str(caught.value)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20).filter(lambda p: sum(p) > 1e-3),
    st.sampled_from(sorted(ENGINES)),
    st.floats(0.02, 0.45),
    st.sets(st.integers(0, 3), max_size=2),
)
def test_every_engine_stands_in_one_group_and_every_strip_adds_up(
    values: list[float], engine: str, tau: float, protected: set[int]
) -> None:
    answer = typed(values, xtc={"dialect": engine, "tau": tau, "protected": sorted(protected)})
    for part in ("rule", "chain"):
        for which in ("own", "fired"):
            strips = answer[part][which]
            named = [name for group in strips["groups"] for name in group["engines"]]
            assert sorted(named) == sorted(ENGINES)
            assert len(strips["ids"]) <= engineview.SHOWN
            for group in strips["groups"]:
                assert sum(group["probs"]) + group["rest"] == pytest.approx(1.0, abs=1e-3)
                assert set(group["removed"]) <= set(strips["ids"])


def test_what_engines_disagree_about_is_shown_however_long_the_list() -> None:
    values = [0.06] * 10 + [0.05, 0.05] + [0.02] * 15
    strips = typed(values, xtc={"tau": 0.045})["rule"]["fired"]
    assert len(strips["ids"]) == engineview.SHOWN
    # The two that are tied for the least are what llama.cpp and the paper differ in.
    assert {10, 11} < set(strips["ids"])


@cache
def desk() -> tuple[Any, str, dict[str, Any]]:
    trace, model = decode(prompt="Once", length=60)
    store = RunStore()
    run = store.add(Run.of(trace, "done"))
    made = questions(Service(ModelHost(model), store))
    return trace, run, {question.__name__: question for question in made}


def ask(name: str, *arguments: Any) -> Any:
    _, run, named = desk()
    return json.loads(named[name]([run, *arguments]))


def test_a_step_is_asked_about_as_it_was_and_as_it_might_be() -> None:
    trace, _, _ = desk()
    lane = trace.lanes[1]
    step = next(i for i, one in enumerate(lane.steps) if one.fired)
    answer = ask("engines", 1, step, None)
    assert answer["chosen"] == PAPER.name
    own = answer["rule"]["own"]["groups"][0]
    assert set(own["removed"]) <= set(lane.steps[step].removed)
    assert own["count"] == len(lane.steps[step].removed)
    xtc = {"rho": 1.0, "tau": 0.05, "strategy": "keep_least", "dialect": "mlx-lm"}
    other = ask("engines", 1, step, xtc)
    assert (other["chosen"], other["rule"]["own"]["groups"][0]["engines"][0]) == (
        "mlx-lm",
        "mlx-lm",
    )


def test_an_engine_stage_by_stage_is_its_chain() -> None:
    trace, _, _ = desk()
    lane, i = trace.lanes[1], 7
    answer = ask("engine_stages", 1, i, "llama.cpp", None)
    context = [*trace.prompt_ids, *(step.token for step in lane.steps[:i])]
    chain = at_step(lane.steps[i], lane.settings.sampler, context, 100).chain
    left = next(one for one in chain.answers if one.engine == "llama.cpp").fired
    assert [stage["name"] for stage in answer["stages"]] == [stage.name for stage in left.stages]
    for stage in answer["stages"]:
        assert sum(stage["probs"]) + stage["rest"] == pytest.approx(1.0, abs=1e-3)
    # The lane's own engine runs the lane's own stages.
    own = ask("engine_stages", 1, i, "paper", None)
    seen = view(lane.steps[i], lane.settings.sampler, context)
    assert [stage["name"] for stage in own["stages"]] == [stage.name for stage in seen.stages]
    assert "engine" in ask("engine_stages", 1, i, "nobody", None)["error"]["field"]


def test_along_a_lane_every_step_that_is_named_differs_there() -> None:
    trace, _, _ = desk()
    xtc = {"rho": 0.5, "tau": 0.05, "strategy": "keep_least", "dialect": "paper"}
    answer = ask("engines_along", 1, xtc)
    assert answer["steps"] == len(trace.lanes[1].steps)
    assert [one["engine"] for one in answer["engines"]] == list(ENGINES)
    named = {one["engine"]: one for one in answer["engines"]}
    assert named["paper"]["fired"] == {"steps": [], "causes": []}
    for engine in ("llama.cpp", "mlx-lm", "exllamav3"):
        for which in ("own", "fired"):
            differ = set(named[engine][which]["steps"])
            for i in range(0, answer["steps"], 9):
                groups_of = groups(ask("engines", 1, i, xtc)["rule"][which])
                assert (groups_of[engine] is not groups_of["paper"]) == (i in differ), (engine, i)


def test_a_step_or_lane_that_is_not_there_is_named() -> None:
    assert ask("engines", 1, 10_000, None)["error"]["field"] == "i"
    assert ask("engines_along", 9, None)["error"]["field"] == "lane"


def test_what_an_engine_means_is_one_sentence() -> None:
    said = {one["name"]: one["meaning"] for one in dialects.specification()}
    assert said["paper"] == "XTC as the paper has it."
    assert "it protects no words" in said["llama.cpp"]
    assert "at temperature 0 it is skipped" in said["mlx-lm"]
    assert all(words.endswith(".") for words in said.values())


def test_every_property_of_a_rule_has_its_word() -> None:
    names = {name for name in PAPER.__dataclass_fields__ if name != "name"}
    assert names == dialects.CAUSES.keys()


def test_settings_name_the_engine_where_it_is_not_the_paper() -> None:
    assert "dialect" not in XTCSettings().to_dict()
    assert XTCSettings(dialect="mlx-lm").to_dict()["dialect"] == "mlx-lm"  # type: ignore[arg-type]

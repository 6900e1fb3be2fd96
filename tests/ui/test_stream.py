"""A press of a button, from the request to the last message, on the fake model."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from tests.ui.driven import messages, stream
from tests.ui.factories import thinker
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.records import tracefile
from xtc_viz.ui import controls
from xtc_viz.ui import stream as streaming
from xtc_viz.ui.payload import FORCED
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service, Stops


class Desk:
    """A host with its store, and requests as the page sends them."""

    def __init__(self, model: FakeModel | None = None) -> None:
        self.model = model or FakeModel()
        self.host = ModelHost(self.model)
        self.store = RunStore()
        self.stops = Stops()
        self.service = Service(self.host, self.store, self.stops)

    def request(self, length: int = 12, **changes: Any) -> dict[str, Any]:
        settings = json.loads(json.dumps(controls.specification()["settings"]))
        settings["max_new_tokens"] = length
        return {"req": 1, "kind": "run", "prompt": "Once", "settings": settings, **changes}

    def send(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        return list(messages(self.service, request))

    def run(self, request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """A whole run: its id and how the page would see it."""
        last = self.send(request)[-1]
        assert last["state"] == "done", last
        return last["run"], self.store.get(last["run"]).whole(last["run"])


@pytest.fixture
def desk() -> Desk:
    return Desk()


def ids(message: dict[str, Any], lane: int) -> list[int]:
    return [chip[0] for chip in message["add"][lane]]


def test_a_run_starts_opens_and_ends(desk: Desk) -> None:
    found = desk.send(desk.request())
    assert [m["state"] for m in (found[0], found[-1])] == ["starting", "done"]
    assert "head" in found[1]
    run = desk.store.get(found[0]["run"])
    for lane in (0, 1):
        assert [i for m in found[1:] for i in ids(m, lane)] == ids(run.whole(""), lane)
    assert len(run.lanes[0].steps) == 12
    assert desk.model.open_generations == 0
    assert desk.host.waiting == 0


def test_messages_are_json_without_markup(desk: Desk) -> None:
    for text in stream(desk.service, desk.request(80)):
        assert "<" not in text
        assert json.loads(text)["req"] == 1


def test_no_more_than_twenty_messages_a_second() -> None:
    desk = Desk(FakeModel(delay=0.004))
    found = desk.send(desk.request(100))
    seconds = found[-1]["seconds"]
    assert len(found) <= 4 + 20 * seconds


def test_a_run_tells_which_tokens_are_protected_in_words(desk: Desk) -> None:
    protect = {"eos": False, "newline": "token", "texts": [" dragons", "zz"]}
    run, whole = desk.run(desk.request(3, protect=protect))
    told = whole["head"]["protect"]
    assert (told["eos"], told["newline"]) == (False, "token")
    assert sorted(told["texts"]) == [" dragon", "z"], "the tokens that they became"
    copy = tracefile.loads(tracefile.dumps(desk.store.get(run).trace()))
    assert Run.of(copy, "loaded").head()["protect"] == told


@pytest.mark.parametrize("thinking", [True, False])
def test_a_run_tells_whether_the_thought_was_left_out(desk: Desk, thinking: bool) -> None:
    _, whole = desk.run(desk.request(3, chat=True, thinking=thinking))
    assert whole["head"]["thinking"] is thinking
    assert "thought" not in whole["stats"][0]


def test_a_thought_that_the_template_opened_goes_on_in_branches() -> None:
    desk = Desk(thinker(20, opened=True))
    run, whole = desk.run(desk.request(40, chat=True))
    thought = [stats["thought"][0] for stats in whole["stats"]]
    assert 28 <= thought[0] < 35
    step = desk.store.get(run).lanes[0].steps[35]
    other = next(v for v in (*step.ids, *step.cut_ids) if v != step.token)
    _, grown = desk.run({"kind": "branch", "run": run, "lane": 0, "i": 35, "token": other})
    assert [stats["thought"][0] for stats in grown["stats"]] == [*thought, thought[0]]


def test_stop_ends_it_at_the_next_step(desk: Desk) -> None:
    running = messages(desk.service, desk.request(500))
    first = next(running)
    opened = next(running)
    assert desk.stops.stop(first["run"])
    last = list(running)[-1]
    assert last["state"] == "stopped"
    assert last["at"][0] + len(last["add"][0]) <= len(opened["add"][0]) + 1
    assert desk.model.open_generations == 0
    assert not desk.stops.stop(first["run"]), "it is over"


def test_closing_it_frees_the_model(desk: Desk) -> None:
    running = stream(desk.service, desk.request(500))
    next(running), next(running)
    assert desk.model.open_generations == 1
    running.close()
    assert desk.model.open_generations == 0
    desk.run(desk.request(2))


def test_who_comes_second_waits_and_is_told_so(desk: Desk) -> None:
    turn = desk.host.turn()
    with turn:
        assert turn.wait(1)
        waiting = messages(desk.service, desk.request(3))
        assert next(waiting)["state"] == "starting"
        told = next(waiting)
        assert (told["state"], told["place"]) == ("waiting", 1)
    assert list(waiting)[-1]["state"] == "done"


def test_a_waiting_run_can_be_stopped_and_gives_its_place_up(desk: Desk) -> None:
    with desk.host.turn() as turn:
        assert turn.wait(1)
        waiting = messages(desk.service, desk.request(3))
        run_id = next(waiting)["run"]
        next(waiting)
        desk.stops.stop(run_id)
        assert list(waiting)[-1]["state"] == "stopped"
        assert desk.host.waiting == 0


def test_errors_are_messages_with_the_field(desk: Desk) -> None:
    bad = desk.request()
    bad["settings"]["lanes"][1]["sampler"]["xtc"]["rho"] = 7
    (error,) = desk.send(bad)
    assert (error["error"]["field"], error["error"]["lane"]) == ("rho", 1)
    long = desk.send(desk.request(prompt="Once upon a time " * 3000))[-1]
    assert long["error"]["field"] == "prompt"
    assert "4096" in long["error"]["message"]
    assert desk.send({"kind": "dance"})[-1]["error"]["field"] == "kind"
    assert "no longer kept" in desk.send({"kind": "continue", "run": "x"})[-1]["error"]["message"]
    desk.run(desk.request(2))


def test_a_model_that_breaks_says_so_and_frees_the_turn() -> None:
    desk = Desk(FakeModel(logits=lambda ids: [float("nan")] * FakeModel().info.vocab_size))
    assert "step" in desk.send(desk.request())[-1]["error"]["message"]
    assert desk.host.waiting == 0


def test_continuing_writes_what_a_longer_run_would_have(desk: Desk) -> None:
    _, long = desk.run(desk.request(30))
    short, _ = desk.run(desk.request(10))
    _, grown = desk.run({"req": 2, "kind": "continue", "run": short, "more": 20})
    for lane in (0, 1):
        assert ids(grown, lane) == ids(long, lane)
    assert grown["stats"][1]["tokens"] == len(ids(long, 1))


def test_one_lane_goes_on_alone(desk: Desk) -> None:
    _, long = desk.run(desk.request(30))
    short, _ = desk.run(desk.request(10))
    _, grown = desk.run({"req": 2, "kind": "continue", "run": short, "more": 20, "lane": 1})
    assert ids(grown, 0) == ids(long, 0)[:10]
    assert ids(grown, 1) == ids(long, 1)
    error = desk.send({"kind": "continue", "run": short, "more": 5, "lane": "x"})[-1]["error"]
    assert error["field"] == "lane"


def test_an_edited_lane_goes_on_in_its_place(desk: Desk) -> None:
    run, whole = desk.run(desk.request(20))
    text = "".join(chip[1] for chip in whole["add"][1][:5]) + ", but"
    edit = {"req": 2, "kind": "edit", "run": run, "lane": 1, "text": text, "more": 8}
    _, grown = desk.run(edit)
    assert "".join(chip[1] for chip in grown["add"][1]).startswith(text)
    assert ids(grown, 0) == ids(whole, 0)
    assert [lane["name"] for lane in grown["head"]["lanes"]] == ["Baseline", "XTC"]
    error = desk.send({**edit, "text": 5})[-1]["error"]
    assert error["field"] == "text"


def test_what_has_ended_cannot_go_on() -> None:
    end = FakeModel().info.eos_ids[0]
    vocabulary = FakeModel().info.vocab_size
    desk = Desk(
        FakeModel(logits=lambda ids: [40.0 if v == end else 0.0 for v in range(vocabulary)])
    )
    run, _ = desk.run(desk.request(5))
    error = desk.send({"kind": "continue", "run": run, "more": 5})[-1]["error"]
    assert "at their end" in error["message"]


def test_a_branch_takes_the_chosen_token_and_keeps_its_parent(desk: Desk) -> None:
    run, whole = desk.run(desk.request(20))
    step = desk.store.get(run).lanes[0].steps[4]
    other = next(v for v in (*step.ids, *step.cut_ids) if v != step.token)
    _, grown = desk.run({"kind": "branch", "run": run, "lane": 0, "i": 4, "token": other})
    assert len(grown["head"]["lanes"]) == 3
    assert grown["head"]["lanes"][2]["branch"] == [0, 4]
    assert ids(grown, 2)[:4] == ids(whole, 0)[:4]
    assert ids(grown, 2)[4] == other
    assert len(ids(grown, 2)) == 20
    assert [ids(grown, k) for k in (0, 1)] == [ids(whole, k) for k in (0, 1)]
    # The branch is text of its own, and the chips add up to it.
    trace = desk.store.get(run).trace()
    assert len(trace.lanes) == 2, "the parent run is untouched"


def test_the_same_token_on_the_same_dice_writes_the_same_text(desk: Desk) -> None:
    run, whole = desk.run(desk.request(20))
    token = ids(whole, 1)[3]
    _, grown = desk.run({"kind": "branch", "run": run, "lane": 1, "i": 3, "token": token})
    assert ids(grown, 2) == ids(whole, 1)


def test_a_typed_text_is_taken_token_by_token(desk: Desk) -> None:
    run, whole = desk.run(desk.request(20))
    text = " a little zebra"
    _, grown = desk.run({"kind": "branch", "run": run, "lane": 1, "i": 3, "text": text})
    forced = [chip for chip in grown["add"][2] if chip[2] & FORCED]
    assert "".join(chip[1] for chip in forced) == text
    assert ids(grown, 2)[:3] == ids(whole, 1)[:3]
    assert len(ids(grown, 2)) == 20


@pytest.mark.parametrize(
    ("chosen", "field", "words"),
    [
        ({}, "token", "there where no text is"),
        ({"token": 5, "text": " a"}, "token", "there where no text is"),
        ({"token": -1}, "token", "an integer >= 0"),
        ({"token": 9999}, "token", "in [0, 332)"),
        ({"text": 7}, "text", "The typed text must be a text of at most"),
        ({"text": ""}, "text", "The typed text must be a text that becomes at least one token"),
        ({"text": "z" * 513}, "text", "1 to 512 tokens, but is 513 tokens"),
    ],
)
def test_a_branch_that_cannot_be_says_why(
    desk: Desk, chosen: dict[str, Any], field: str, words: str
) -> None:
    run, _ = desk.run(desk.request(5))
    last = desk.send({"kind": "branch", "run": run, "lane": 0, "i": 2, **chosen})[-1]
    assert last["error"]["field"] == field
    assert words in last["error"]["message"]


def test_runs_from_many_threads_come_one_after_the_other() -> None:
    desk, done = Desk(FakeModel(delay=0.001)), []

    def go(number: int) -> None:
        done.append(desk.run(desk.request(8, req=number))[1])

    threads = [threading.Thread(target=go, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(done) == 4
    assert all(ids(message, 1) == ids(done[0], 1) for message in done)


def test_a_branch_goes_on_with_its_parents_dice_where_lanes_have_their_own(desk: Desk) -> None:
    request = desk.request(20)
    request["settings"]["shared_randomness"] = False
    run_id, whole = desk.run(request)
    token = ids(whole, 1)[5]
    branch = {"req": 2, "kind": "branch", "run": run_id, "lane": 1, "i": 5, "token": token}
    _, grown = desk.run(branch)
    assert ids(grown, 2) == ids(whole, 1)
    assert ids(whole, 0) != ids(whole, 1)


def test_two_sessions_at_once_each_get_their_own(desk: Desk) -> None:
    """Prompt, seed, length, messages and end: nothing of one is seen by the other."""
    settings = desk.request()["settings"]
    wants = {
        1: desk.request(40, req=1, prompt="Once upon a time"),
        2: desk.request(25, req=2, prompt="The bear", settings=settings | {"seed": 11}),
    }
    wants[2]["settings"]["max_new_tokens"] = 25
    alone = {n: desk.run(want)[1] for n, want in wants.items()}

    async def heard(want: dict[str, Any]) -> list[dict[str, Any]]:
        return [message async for message in streaming.messages(desk.service, want)]

    async def both() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(*map(heard, wants.values()))

    seen = dict(zip(wants, asyncio.run(both()), strict=True))
    assert any(m["state"] == "waiting" for m in seen[2]), "they were not at once"
    for n, found in seen.items():
        assert {m["req"] for m in found} == {n}
        (run,) = {m["run"] for m in found}
        whole = desk.store.get(run).whole(run)
        assert whole["head"] == alone[n]["head"]
        assert whole["add"] == alone[n]["add"]
        told = [chip for m in found for chip in m.get("add", [[]])[0]]
        assert told == whole["add"][0]
    assert alone[1]["head"]["prompt"] != alone[2]["head"]["prompt"]


@pytest.mark.parametrize("end", ["error", "stop", "close"])
def test_the_end_of_one_session_is_none_of_the_others(desk: Desk, end: str) -> None:
    desk.model.delay = 0.002
    first = messages(desk.service, desk.request(300))
    opened = [next(first), next(first)]
    request = desk.request(5, prompt="Once upon a time " * (3000 if end == "error" else 1))
    other = messages(desk.service, request)
    theirs = [next(other), next(other)]
    assert theirs[1]["state"] == "waiting"
    if end == "stop":
        assert desk.stops.stop(theirs[0]["run"])
    if end == "close":
        other.close()
    opened += first
    assert opened[-1]["state"] == "done"
    assert len(desk.store.get(opened[0]["run"]).lanes[0].steps) == 300
    last = list(other)[-1:]
    if end == "error":
        assert last[0]["error"]["field"] == "prompt"
    else:
        assert [m["state"] for m in last] == (["stopped"] if end == "stop" else [])
    assert desk.host.waiting == 0
    desk.run(desk.request(2))

"""A press of "16 seeds", from the request to the last message, on the fake model."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch

from tests.ui.driven import Driven, messages, stream
from tests.ui.test_stream import Desk
from xtc_viz.lab.spread import QUANTITIES, measured
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.limits import LARGEST_SPREAD, Limits
from xtc_viz.ui.service import Service


@pytest.fixture
def desk() -> Desk:
    return Desk()


def ask(desk: Desk, length: int = 12, seeds: object = 5, **changes: Any) -> Driven[dict[str, Any]]:
    request = desk.request(length, kind="spread", seeds=seeds, **changes)
    found: Driven[dict[str, Any]] = messages(desk.service, request, "me")
    return found


def rows(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for message in found for row in message.get("rows", [])]


def test_a_spread_starts_grows_and_ends(desk: Desk) -> None:
    found = list(ask(desk, seeds=9))
    assert [found[0]["state"], found[-1]["state"]] == ["starting", "done"]
    assert "head" in found[1]
    assert found[1]["head"]["seeds"] == tuple(range(7, 16))
    assert [row["seed"] for row in rows(found)] == list(range(7, 16))
    last = found[-1]
    assert [len(lane) for lane in last["summary"]["means"]] == [len(QUANTITIES)] * 2
    assert last["summary"]["differences"][0] is None
    assert last["said"][-1].startswith("This is one prompt only")
    assert desk.model.open_generations == 0
    assert desk.host.waiting == 0


def test_each_seed_is_the_run_of_the_ordinary_way(desk: Desk) -> None:
    for row in rows(list(ask(desk))):
        kept = desk.store.get(row["run"])
        request = desk.request()
        request["settings"]["seed"] = row["seed"]
        name, whole = desk.run(request)
        own = kept.whole(row["run"])
        assert own["head"] == whole["head"]
        assert own["add"] == whole["add"]
        assert [lane["text"] for lane in row["lanes"]] == [
            text.text for text in measured(desk.store.get(name).trace())
        ]


def test_messages_are_json_without_markup_and_texts_come_once(desk: Desk) -> None:
    told = list(stream(desk.service, desk.request(40, kind="spread", seeds=6)))
    assert all("<" not in one for one in told)
    found = [json.loads(one) for one in told]
    for row in rows(found):
        words = json.dumps(row["lanes"][0]["text"], ensure_ascii=False)[1:-1].replace(
            "<", "\\u003c"
        )
        assert sum(words in one for one in told) == 1


def test_stop_ends_it_and_what_is_there_stays(desk: Desk) -> None:
    desk.model.delay = 0.005
    running = ask(desk, 30, seeds=32)
    found = []
    for message in running:
        found.append(message)
        if rows(found):
            desk.stops.stop(message["run"])
    last = found[-1]
    assert last["state"] == "stopped"
    assert last["summary"] is None
    assert 0 < len(rows(found)) < 32
    assert any("no lanes are compared" in one for one in last["said"])
    assert all(desk.store.get(row["run"]).state == "done" for row in rows(found))
    assert desk.model.open_generations == 0


def test_stopped_while_it_waits_there_is_nothing(desk: Desk) -> None:
    with desk.host.turn() as turn:
        assert turn.wait(1)
        running = ask(desk)
        run = next(running)["run"]
        assert next(running)["state"] == "waiting"
        desk.stops.stop(run)
        assert list(running)[-1]["state"] == "stopped"
        assert desk.host.waiting == 0


def test_it_is_one_run_in_the_queue() -> None:
    desk = Desk()
    host = ModelHost(desk.model, max_per_visitor=1)
    service = Service(host, desk.store, desk.stops)
    running = messages(service, desk.request(kind="spread"), "me")
    next(running), next(running)
    (*_, refused) = messages(service, desk.request(), "me")
    assert "One run of yours is going or waiting" in refused["error"]["message"]
    running.close()
    (*_, last) = messages(service, desk.request(), "me")
    assert last["state"] == "done"


@pytest.mark.parametrize("seeds", [3, 65, "many", None, True, 5.5, 10**400, [16]])
def test_a_number_of_seeds_that_cannot_be_is_named(desk: Desk, seeds: object) -> None:
    (only,) = ask(desk, seeds=seeds)
    assert only["error"]["field"] == "seeds"
    assert "Seeds must be an integer in [4, 64], but is" in only["error"]["message"]


def test_all_texts_together_have_a_limit(desk: Desk) -> None:
    (only,) = ask(desk, 4096, seeds=64)
    assert only["error"]["field"] == "seeds"
    assert (
        f"at most {LARGEST_SPREAD // 8192} where each takes 8,192 tokens"
        in only["error"]["message"]
    )
    desk.service = Service(desk.host, desk.store, desk.stops, Limits(max_spread=100))
    assert list(ask(desk, 12, seeds=4))[-1]["state"] == "done"
    (only,) = ask(desk, 12, seeds=5)
    assert "at most 4 where each takes 24 tokens (100 in all)" in only["error"]["message"]


def test_the_usual_spread_is_within_the_limits_of_a_space(desk: Desk) -> None:
    public = Limits.default({"SPACE_ID": "someone/xtc_viz"})
    request = desk.request(int(public.length.default))
    assert (
        public.check_spread(16, len(request["settings"]["lanes"]), int(public.length.default)) == 16
    )


def test_what_is_wrong_with_a_run_is_wrong_with_a_spread(desk: Desk) -> None:
    (only,) = ask(desk, prompt=" ")
    assert only["error"]["field"] == "prompt"
    (only,) = ask(desk, 0)
    assert only["error"]["field"] == "max_new_tokens"


def test_a_model_that_ends_in_the_middle_leaves_what_is_there() -> None:
    plain, calls = FakeModel(), iter(range(10**9))

    def logits(ids: tuple[int, ...]) -> torch.Tensor:
        row = plain.logits(ids)
        return row * math.nan if next(calls) > 400 else row

    desk = Desk(FakeModel(logits=logits))
    found = list(ask(desk, 12, seeds=64))
    assert "error" in found[-1]
    assert rows(found)
    assert desk.model.open_generations == 0

"""The page on ZeroGPU: every decode in a worker that is forked and pickled to, all else here."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.models.forking import ForkingSpaces, PlatformError
from tests.ui.driven import messages, reports
from xtc_viz.assets import STORY_MODEL
from xtc_viz.decode import decode_lanes
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local import zerogpu
from xtc_viz.models.local.model import LocalModel
from xtc_viz.runs.worker import Decode, decode_of
from xtc_viz.ui import controls, launch
from xtc_viz.ui.access import May
from xtc_viz.ui.flags import parser
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service, Stops

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks"),
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]


class Desk:
    """A page's server, with the worker or without."""

    def __init__(self, model: Any, spaces: ForkingSpaces | None = None) -> None:
        self.model, self.host = model, ModelHost(model)
        self.store, self.stops = RunStore(), Stops()
        self.decode: Decode = decode_of(model, spaces)

    def send(self, length: int = 12, **changes: Any) -> Any:
        settings = json.loads(json.dumps(controls.specification()["settings"]))
        settings["max_new_tokens"] = length
        request = {"req": 1, "prompt": "Once upon a time", "settings": settings} | changes
        return messages(Service(self.host, self.store, self.stops, decode=self.decode), request)

    def run(self, length: int = 12, **changes: Any) -> dict[str, Any]:
        """A whole run as a page sees it; what depends on the clock left out."""
        *_, last = self.send(length, **changes)
        assert last.get("state") == "done", last
        whole = self.store.get(last["run"]).whole(last["run"])
        for stats in whole["stats"]:
            stats.pop("rate", None)
        return whole | {"seconds": 0}

    def is_free(self) -> bool:
        with self.host.turn() as turn:
            return turn.wait(2) and not multiprocessing.active_children()


@pytest.fixture
def spaces() -> ForkingSpaces:
    return ForkingSpaces()


@pytest.fixture
def desk(spaces: ForkingSpaces) -> Iterator[Desk]:
    made = Desk(FakeModel(), spaces)
    yield made
    assert made.is_free()
    assert made.model.open_generations == 0  # nothing was decoded in this process


def test_elsewhere_it_is_the_decoder_itself() -> None:
    assert decode_of(FakeModel()) is decode_lanes


def test_runs_longer_runs_and_branches_are_the_same(desk: Desk, spaces: ForkingSpaces) -> None:
    here = Desk(desk.model)
    runs = []
    for each in (desk, here):
        whole = each.run()
        more = each.run(kind="continue", run=whole["run"], more=300)
        steps = each.store.get(whole["run"]).lanes[1].steps
        at, step = next((i, step) for i, step in enumerate(steps) if i > 1 and len(step.ids) > 1)
        token = next(i for i in step.ids if i != step.token)
        grown = each.run(kind="branch", run=whole["run"], lane=1, i=at, token=token)
        runs.append([{**found, "run": ""} for found in (whole, more, grown)])
    assert runs[0] == runs[1]
    assert spaces.durations == [10, 17, 10]  # by the length of what is new


def test_an_error_in_the_worker_is_told_and_the_next_run_works(desk: Desk) -> None:
    error = list(desk.send(prompt="Once upon a time " * 3000))[-1]["error"]
    assert (error["field"], "4096" in error["message"]) == ("prompt", True)
    desk.run(2)


def test_logits_that_are_none_are_told(spaces: ForkingSpaces) -> None:
    desk = Desk(FakeModel(logits=lambda ids: [float("nan")] * FakeModel().info.vocab_size), spaces)
    assert "step 0" in list(desk.send())[-1]["error"]["message"]
    assert desk.is_free()


def test_a_worker_that_breaks_is_told(spaces: ForkingSpaces) -> None:
    def breaks(ids: tuple[int, ...]) -> list[float]:
        raise ZeroDivisionError

    desk = Desk(FakeModel(logits=breaks), spaces)
    message = list(desk.send())[-1]["error"]["message"]
    assert message == "ZeroGPU worker error: ZeroDivisionError"
    assert desk.is_free()


def test_a_quota_that_is_used_up_is_told_in_the_platforms_words(
    desk: Desk, spaces: ForkingSpaces
) -> None:
    spaces.refusal = PlatformError("ZeroGPU quota exceeded", "You have 5s left.")
    error = list(desk.send())[-1]["error"]
    assert error["message"] == "ZeroGPU quota exceeded: You have 5s left."
    spaces.refusal = None
    desk.run(2)


def test_a_stop_ends_the_worker_and_keeps_what_is_there(desk: Desk) -> None:
    desk.model.delay = 0.01
    running = desk.send(2000)
    first, opened = next(running), next(running)
    assert desk.stops.stop(first["run"])
    *_, last = running
    assert last["state"] == "stopped"
    assert 1 <= len(opened["add"][0]) <= desk.store.get(first["run"]).lengths[0] < 2000


def test_closing_a_tab_ends_the_worker(desk: Desk) -> None:
    desk.model.delay = 0.01
    with closing(desk.send(2000)) as running:
        next(running), next(running)
        assert len(multiprocessing.active_children()) == 1


def test_the_endpoint_for_programs_decodes_there_too(desk: Desk, spaces: ForkingSpaces) -> None:
    settings = json.loads(json.dumps(controls.specification()["settings"]))
    request = controls.parse({"prompt": "Once", "settings": settings | {"max_new_tokens": 9}})
    *_, last = reports(Service(desk.host, decode=desk.decode), request)
    *_, same = reports(Service(desk.host), request)
    assert (last["state"], last["texts"]) == ("done", same["texts"])
    assert len(spaces.durations) == 1


@pytest.mark.story_model
def test_a_real_model_decodes_in_a_fork_of_a_process_with_threads(spaces: ForkingSpaces) -> None:
    model = LocalModel.load(str(STORY_MODEL))
    assert Desk(model, spaces).run(4)["add"] == Desk(model).run(4)["add"]


@pytest.mark.parametrize("model", ["fake", pytest.param(None, marks=pytest.mark.story_model)])
def test_the_app_has_its_model_before_the_page_and_keeps_it(
    monkeypatch: pytest.MonkeyPatch, spaces: ForkingSpaces, model: str | None
) -> None:
    built: list[Any] = []
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setenv("SPACE_ID", "someone/xtc_viz")
    monkeypatch.setenv("HF_DEACTIVATE_ASYNC_LOAD", "0")
    monkeypatch.setattr(zerogpu, "_spaces", spaces)
    monkeypatch.setattr(launch, "build", lambda *given, mcp: built.extend(given))
    flags = ["--models", "all", *(["--model", model] if model else [])]
    launch.page(parser().parse_args(flags))
    host, may, limits, decode, _ = built
    assert (may, limits) == (May.FIXED, Limits.default())
    assert (host.state.phase, host.can_rest) == ("ready", False)
    with host.turn() as turn:
        assert turn.wait(0)
        settings = controls.parse(
            {"prompt": "Once", "settings": controls.specification()["settings"]}
        ).settings
        with closing(decode(turn.model, turn.model.encode("Once"), settings)) as columns:
            assert next(columns).position == 0
    assert spaces.durations == [11]
    assert os.environ["HF_DEACTIVATE_ASYNC_LOAD"] == ("0" if model else "1")

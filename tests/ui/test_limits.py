"""What visitors may ask for: the record, the page's controls, and the server that holds to it."""

from __future__ import annotations

import gc
import json
import math
import re
import socket
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from tests.ui.driven import messages, questions
from xtc_viz.errors import BusyError, SettingsError
from xtc_viz.knobs import KNOBS
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui import controls
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.flags import parser
from xtc_viz.ui.gate.gate import VISITOR
from xtc_viz.ui.limits import LIMITS, MAX_LANES, NO_LIMITS, Limits
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service, Stops
from xtc_viz.ui.visitors import visitor_of

HOSTING = Path(__file__).parents[2] / "docs" / "hosting.md"
TIGHT = Limits(max_tokens=20, max_lanes=3, max_prompt=50)


class Desk:
    """Runs on the fake model under limits."""

    def __init__(self, limits: Limits = TIGHT) -> None:
        self.limits = limits
        self.host = ModelHost(FakeModel())
        self.store, self.stops = RunStore(), Stops()

    def request(self, length: int = 8, **changes: Any) -> dict[str, Any]:
        settings = json.loads(json.dumps(controls.specification()["settings"]))
        settings["max_new_tokens"] = length
        return {"req": 1, "kind": "run", "prompt": "Once", "settings": settings, **changes}

    def send(self, request: dict[str, Any]) -> dict[str, Any]:
        sent = messages(Service(self.host, self.store, self.stops, self.limits), request)
        return list(sent)[-1]

    def run(self, **request: Any) -> str:
        last = self.send(request or self.request())
        assert last.get("state") == "done", last
        return str(last["run"])

    def lengths(self, run: str) -> list[int]:
        return self.store.get(run).lengths


def test_every_limit_has_a_field_and_a_value_for_the_public() -> None:
    assert [f.name for f in fields(Limits)] == list(LIMITS)
    assert all(limit.check(limit.public) == limit.public for limit in LIMITS.values())


def test_a_space_is_limited_and_a_page_of_ones_own_is_not() -> None:
    assert Limits.default({}) == NO_LIMITS == Limits()
    public = Limits.default({"SPACE_ID": "someone/xtc_viz"})
    assert all(getattr(public, name) == limit.public for name, limit in LIMITS.items())


@given(st.sampled_from(list(LIMITS.values())), st.floats() | st.integers() | st.booleans())
def test_what_is_taken_is_within_the_bounds(limit: Any, value: float) -> None:
    try:
        taken = limit.check(value)
    except SettingsError:
        return
    assert limit.low <= taken <= limit.high
    assert math.isfinite(taken)
    assert limit.parse(str(taken)) == taken


@pytest.mark.parametrize("text", ["many", "", "0", "-3", "1.5", "inf", "nan"])
def test_a_flag_that_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="`max_tokens` must be none or an integer >= 1"):
        LIMITS["max_tokens"].parse(text)


def test_none_lifts_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "someone/xtc_viz")
    monkeypatch.setenv("XTC_VIZ_MAX_WAITING", "none")
    options = parser().parse_args(["--max-tokens", "None"])
    assert (options.max_tokens, options.max_waiting, options.max_prompt) == (None, None, 4000)


def test_the_page_is_told() -> None:
    free, tight = controls.specification(), controls.specification(TIGHT)
    assert (free["maxTokens"], free["maxLanes"]) == (None, MAX_LANES)
    length = tight["knobs"]["max_new_tokens"]
    assert (tight["maxTokens"], tight["maxLanes"]) == (20, 3)
    assert (length["high"], length["default"]) == (20, 20)
    assert length["interval"] == "an integer in [1, 20]"
    assert tight["settings"]["max_new_tokens"] == 20
    assert controls.parse({"prompt": "Once", "settings": tight["settings"]}, TIGHT)
    roomy = controls.specification(Limits(max_tokens=10**6))["knobs"]["max_new_tokens"]
    assert roomy == free["knobs"]["max_new_tokens"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_new_tokens": 21}, "Length must be an integer in [1, 20], but is 21"),
        ({"max_new_tokens": 9999}, "Length must be an integer in [1, 20], but is 9999"),
        ({"lanes": [{}] * 4}, "`lanes` must be 1 to 3 lanes, but is 4"),
    ],
)
def test_a_setting_beyond_a_limit_is_named(change: dict[str, Any], words: str) -> None:
    desk = Desk()
    request = desk.request()
    request["settings"] |= change
    assert desk.send(request)["error"]["message"] == words


@pytest.mark.parametrize(
    ("field", "label"), [("prompt", "The prompt"), ("system", "The system message")]
)
def test_a_text_beyond_the_limit_is_named(field: str, label: str) -> None:
    desk = Desk()
    error = desk.send(desk.request() | {field: "x" * 51})["error"]
    words = f"{label} must be a text of at most 50 characters, but is 51 characters"
    assert (error["field"], error["message"]) == (field, words)
    desk.run(**desk.request() | {field: "x" * 50})


def test_a_run_goes_on_up_to_the_limit_and_no_further() -> None:
    desk = Desk()
    run = desk.run()
    seen = [desk.lengths(run)]
    for _ in range(2):
        run = desk.run(kind="continue", run=run, more=9)
        seen.append(desk.lengths(run))
    assert seen == [[8, 8], [17, 17], [20, 20]]
    error = desk.send({"kind": "continue", "run": run, "more": 9})["error"]
    assert error["message"] == "`lanes` must be below 20 tokens to go on, but is 20"
    error = desk.send({"kind": "continue", "run": run, "more": 21})["error"]
    assert error["field"] == "max_new_tokens"


def test_a_branch_is_a_lane_and_has_as_many_tokens_as_any() -> None:
    desk = Desk()
    run = desk.run(**desk.request(20))
    step = desk.store.get(run).lanes[0].steps[19]
    branch = {"kind": "branch", "lane": 0, "token": int(step.ids[1])}
    grown = desk.run(**branch, run=run, i=19)
    assert desk.lengths(grown) == [20, 20, 20]
    error = desk.send({**branch, "run": grown, "i": 3})["error"]
    assert error["message"] == "`lanes` must be 1 to 3 lanes, but is 4"


def test_a_run_from_elsewhere_is_held_to_the_limits_too() -> None:
    """As a trace file brings it, written where nothing was limited."""
    free, desk = Desk(NO_LIMITS), Desk()
    desk.store = free.store
    long = free.run(**free.request(prompt="Once upon a time " * 4))
    assert desk.send({"kind": "continue", "run": long, "more": 3})["error"]["field"] == "prompt"
    far = free.run(**free.request(40))
    step = desk.store.get(far).lanes[0].steps[30]
    branch = {"kind": "branch", "run": far, "lane": 0, "i": 30, "token": int(step.ids[1])}
    assert desk.send(branch)["error"]["field"] == "i"
    many = free.request()
    many["settings"]["lanes"] *= 2
    four = free.run(**many)
    assert desk.send({"kind": "continue", "run": four, "more": 3})["error"]["field"] == "lanes"


def test_texts_at_which_a_lane_ends_are_few_and_short_for_everyone() -> None:
    desk = Desk(NO_LIMITS)
    for stop in (["x"] * 21, ["x" * 201]):
        request = desk.request()
        request["settings"]["stop"] = stop
        assert desk.send(request)["error"]["field"] == "stop"
    request = desk.request()
    request["settings"]["lanes"][1]["name"] = "x" * 201
    error = desk.send(request)["error"]
    assert (error["field"], error["lane"]) == ("name", 1)


def test_one_visitor_leaves_room_for_others() -> None:
    host = ModelHost(FakeModel(), max_waiting=8, max_per_visitor=2)
    with host.turn("ada") as going, host.turn("ada"), host.turn("bob") as bob:
        assert going.wait(1)
        with pytest.raises(BusyError, match=r"2 runs of yours are going or waiting already"):
            host.turn("ada").__enter__()
        assert (bob.ahead, host.waiting) == (2, 2)
    with host.turn("ada") as turn:
        assert turn.wait(1)
    with host.turn(), host.turn(), host.turn():  # whose they are is not known
        assert host.waiting == 2


def test_a_visitor_is_who_the_gate_saw() -> None:
    scope = {"type": "http", "headers": [], "client": ("127.0.0.1", 5), VISITOR: "192.0.2.7"}
    assert visitor_of(gr.Request(Request(scope))) == "192.0.2.7"
    assert visitor_of(None) == ""


def test_what_the_page_may_ask_beside_runs_needs_no_place_in_the_queue() -> None:
    """Looking at a run goes on while all places are taken."""
    host = ModelHost(FakeModel(), max_waiting=0, max_per_visitor=1)
    desk = Desk()
    run = desk.run()
    made = {q.__name__: q for q in questions(Service(host, desk.store, desk.stops))}
    with host.turn("ada") as turn:
        assert turn.wait(1)
        assert "error" not in json.loads(made["open"]([run, []]))


def test_the_table_of_limits_is_the_code() -> None:
    rows = re.findall(
        r"^\| `--(\S+)` \| `(\S+)` \| (.*?) \| (\S+) \| (.*?) \|$",
        HOSTING.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    expected = [
        (
            limit.flag,
            "XTC_VIZ_" + limit.name.upper(),
            limit.help,
            f"{limit.public:g}",
            limit.bounds,
        )
        for limit in LIMITS.values()
    ]
    assert rows == expected


def test_a_limit_within_the_usual_bounds_changes_no_other_setting() -> None:
    spec = controls.specification(replace(TIGHT, max_lanes=None))
    others = {name: knob for name, knob in spec["knobs"].items() if name != "max_new_tokens"}
    assert others == {
        name: controls.knob_spec(knob) for name, knob in KNOBS.items() if name in others
    }


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*no_silent_downcasting")
@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
def test_programs_are_held_to_them_too() -> None:
    model = FakeModel(delay=0.05)
    blocks = build(ModelHost(model, max_per_visitor=1), limits=TIGHT)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    _, url, _ = blocks.launch(prevent_thread_lock=True, server_port=port, **launch_options())
    client = Client(url, verbose=False)
    try:
        described = client.view_api(return_format="dict", print_info=False)
        parameters = described["named_endpoints"]["/generate"]["parameters"]
        defaults = {p["parameter_name"]: p.get("parameter_default") for p in parameters}
        assert (defaults["max_new_tokens"], "request" in defaults) == (20, False)
        for words, asked in (
            (
                r"`max_new_tokens` must be an integer in \[1, 20\], but is 21",
                {"max_new_tokens": 21},
            ),
            (r"`lanes` must be 1 to 3 lanes, but is 4", {"lanes": ["Light"] * 4}),
            (r"`prompt` must be a text of at most 50 characters", {"prompt": "x" * 51}),
        ):
            with pytest.raises(AppError, match=words):
                client.predict(**{"prompt": "Once", **asked}, api_name="/generate")
        going = client.submit("Once", api_name="/generate")
        next(going)
        with pytest.raises(AppError, match="One run of yours is going or waiting already"):
            client.predict("Once", max_new_tokens=1, api_name="/generate")
        assert going.result(timeout=30)["tokens"] == [20, 20]
        client.predict("Once", max_new_tokens=1, api_name="/generate")
    finally:
        client.close()
        blocks.close(verbose=False)
        del blocks
        gc.collect()

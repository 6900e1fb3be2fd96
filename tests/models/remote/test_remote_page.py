"""A server through the page's own questions: connecting, writing, and a key that stays secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from tests.models.gate import until
from tests.models.remote.llama import serving
from tests.ui.driven import messages, questions
from xtc_viz.errors import ServerError
from xtc_viz.lab.command import main as lab
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import LoaderByKind
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.remote.key import VARIABLE
from xtc_viz.models.remote.loader import RemoteLoader
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.ui import controls
from xtc_viz.ui.access import May, granted
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.servers import Servers
from xtc_viz.ui.service import Service

pytestmark = [pytest.mark.engines, pytest.mark.slow]

KEY = "sk-5f0c1e2ab94477d3"


@pytest.fixture(scope="module")
def locked(story_gguf: Path) -> Iterator[str]:
    """The address of a server that wants a key."""
    with serving(story_gguf, slots=2, api_keys=[KEY]) as where:
        yield where


class Desk:
    """A server of the page, and what was answered to anybody."""

    def __init__(self, servers: Servers = Servers(every=True)) -> None:  # noqa: B008
        loader = LoaderByKind({LocalSpec: LocalLoader(), RemoteSpec: RemoteLoader()})
        self.host = ModelHost(loader=loader)
        self.service = Service(self.host, may=May.ALL, servers=servers)
        self.questions = {q.__name__: q for q in questions(self.service)}
        self.said: list[str] = []

    def ask(self, name: str, *arguments: Any) -> Any:
        answer = self.questions[name](list(arguments))
        self.said.append(answer)
        return json.loads(answer)

    def connect(self, address: str, key: str = "") -> Any:
        load = self.ask("choose_model", {"name": address, "key": key, "precision": "auto"})
        if not isinstance(load, str):
            return load
        until(lambda: self.ask("hello", load)["own"]["state"] not in ("loading", "waiting"))
        return self.ask("hello", load)

    def run(self, length: int = 8, **more: Any) -> Any:
        settings = json.loads(json.dumps(controls.specification()["settings"]))
        request = {"req": 1, "prompt": "Once", "settings": settings | {"max_new_tokens": length}}
        *_, last = messages(self.service, request | more)
        self.said.append(json.dumps(last))
        return last


def test_the_page_connects_writes_and_goes_on(address: str) -> None:
    desk = Desk()
    state = desk.connect(f"{address}/v1/")
    assert state["own"]["state"] == "done"
    model = state["model"]
    assert model["name"] == "story.gguf"
    assert model["served"] == {"kind": "llama.cpp", "version": "", "candidates": None}
    assert (model["dtype"], model["device"]) == (None, None)
    # There is no memory here that putting it away would free.
    assert state["can_rest"] is False
    first = desk.run()
    assert first["state"] == "done"
    further: list[dict[str, Any]] = [
        {"kind": "continue", "more": 4},
        {"kind": "branch", "lane": 0, "i": 3, "text": " a"},
    ]
    for kind in further:
        assert desk.run(**kind, run=first["run"])["state"] == "done"
    assert "error" not in desk.ask("block", first["run"], 0, 0, 20, None)
    assert "error" not in desk.ask("what_if", first["run"], 0, {"rho": 1.0, "tau": 0.1})
    assert desk.ask("becomes", first["run"], 0, 2, " dog")
    assert desk.ask("tokens", {"eos": True})["eos"] == 1
    # The former model stays where another cannot be had.
    failed = desk.connect("http://127.0.0.1:9")
    assert failed["own"]["state"] == "failed"
    assert "nothing listens there" in failed["own"]["words"]
    assert failed["model"]["name"] == "story.gguf"


def test_a_server_that_ends_ends_the_run_in_words_and_keeps_what_is_there(story_gguf: Path) -> None:
    desk = Desk()
    with serving(story_gguf, slots=1) as where:
        assert desk.connect(where)["own"]["state"] == "done"
        first = desk.run()
    message = desk.run(kind="continue", more=4, run=first["run"])["error"]["message"]
    assert "The server at 127.0.0.1" in message
    kept = desk.service.store.get(first["run"]).trace()
    assert [len(lane.steps) for lane in kept.lanes] == [8, 8]


def test_a_key_is_asked_for_and_given(locked: str) -> None:
    for key in ("", "sk-another-one"):
        with pytest.raises(ServerError, match="wants a key, or another one"):
            RemoteModel.connect(RemoteSpec(locked, key=key))
    assert RemoteModel.connect(RemoteSpec(locked, key=KEY)).encode("Once") == [446]


def test_the_key_is_in_nothing_that_comes_out(
    locked: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Answers, traces, tables, replays, figures, stores, logs, printed lines and errors."""
    caplog.set_level(logging.DEBUG)
    desk = Desk(Servers((locked,), key=KEY))
    assert desk.connect(locked)["own"]["state"] == "done"
    first = desk.run()
    for kind in ("trace", "table", "replay"):
        assert "error" not in str(desk.ask("export", first["run"], kind))[:20]
    desk.ask("block", first["run"], 0, 0, 20, None)
    typed = Desk()
    assert typed.connect(locked, KEY)["own"]["state"] == "done"
    typed.connect(locked, f"{KEY} {KEY}")
    typed.connect(f"http://{KEY}@127.0.0.1")
    typed.connect(f"http://127.0.0.1/?key={KEY}")
    monkeypatch.setenv(VARIABLE, KEY)
    store = tmp_path / "lab.sqlite"
    arguments = ["run", "main", "--small", "--model", locked, "--store", str(store)]
    toml = tmp_path / "one.toml"
    toml.write_text(
        'name = "one"\nsuite = "story"\nprompts = 1\nsamples = 1\nlength = 4\n'
        '[[conditions]]\nname = "plain"\n'
    )
    arguments[1] = str(toml)
    assert lab(arguments) == 0
    assert lab(["export", "one", "--table", str(tmp_path / "a.csv"), "--store", str(store)]) == 0
    out, err = capfd.readouterr()
    for run in (desk, typed):
        run.said.append(repr(vars(run.host)))
    every = [*desk.said, *typed.said, caplog.text, out, err]
    assert sum(map(len, every)) > 10_000
    assert not [text for text in every if KEY in text]
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path.name


def audited(desk: Desk, may: May = May.ALL, **values: Any) -> list[dict[str, Any]]:
    request = {"req": 3, "kind": "audit", "rho": 1.0, "tau": 0.1} | values
    return list(messages(desk.service, request, "me", None, may))


def test_the_page_audits_the_server(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["own"]["state"] == "done"
    *news, last = audited(desk)
    assert last["state"] == "done"
    found = [message["found"] for message in news if "found" in message]
    assert found[-1]["as_claimed"] is True
    assert found[-1]["place"] == "before temperature"
    assert {message["req"] for message in news} == {3}
    assert desk.run()["state"] == "done", "the turn was given up"


def test_the_page_looks_at_its_dice(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["own"]["state"] == "done"
    *news, last = audited(desk, rho=0.5, dice=True)
    assert last["state"] == "done"
    assert "XTC fired" in news[-1]["said"]


def test_an_audit_that_is_stopped_keeps_what_it_found(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["own"]["state"] == "done"
    request = {"req": 3, "kind": "audit", "rho": 0.5, "tau": 0.1}
    found = []
    for message in messages(desk.service, request, "me", None, May.ALL):
        found.append(message)
        if "found" in message:
            desk.ask("stop", message["run"])
    assert found[-1]["state"] == "stopped"
    steps = [message["found"]["steps"] for message in found if "found" in message]
    assert 256 <= steps[-1] < 700
    assert desk.run()["state"] == "done"


def test_on_a_public_page_an_audit_is_no_longer_than_a_spread(address: str) -> None:
    desk = Desk()
    desk.service = replace(desk.service, limits=Limits(max_spread=300))
    assert desk.connect(address)["own"]["state"] == "done"
    found = [message["found"] for message in audited(desk, rho=0.5) if "found" in message]
    assert [one["steps"] for one in found] == [256, 300]


def test_who_may_not_load_models_may_not_audit(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["own"]["state"] == "done"
    [refused] = audited(desk, May.FIXED)
    assert "Only who may choose the model" in refused["error"]["message"]
    assert granted(May.OWN, {"host": "127.0.0.1:7860"}) is May.ALL
    assert granted(May.OWN, {"host": "xtc.example.org"}) is May.FIXED
    assert granted(May.CATALOG, {"host": "xtc.example.org"}) is May.CATALOG
    for values in ({"rho": 2}, {"tau": 0.7}, {"tau": None}, {"rho": True}, {"tau": "0.1"}):
        [wrong] = audited(desk, **values)
        assert wrong["error"]["field"] in values


def test_who_comes_from_elsewhere_connects_nothing(address: str) -> None:
    service = Service(ModelHost(loader=RemoteLoader()), may=May.OWN, servers=Servers((address,)))
    from xtc_viz.ui import server

    choose = next(q for q in server.questions(service) if q.__name__ == "choose_model")
    scope = {"type": "http", "headers": [(b"host", b"xtc.example.org")], "client": ("1.2.3.4", 5)}
    from tests.ui.driven import asked

    answer = asked(choose)([{"name": address}], Request(scope))
    assert "fixed" in json.loads(answer)["error"]["message"]


SERVED = {"server_draws": True}


def served(desk: Desk, length: int = 12, **settings: Any) -> list[dict[str, Any]]:
    """The messages of a run that the server draws."""
    plain = json.loads(json.dumps(controls.specification()["settings"]))
    request = {"req": 1, "prompt": "Once", "settings": plain | SERVED | settings}
    request["settings"]["max_new_tokens"] = length
    return list(messages(desk.service, request, "me"))


def test_the_server_draws_and_the_page_shows_it(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["model"]["draws"] is True
    *news, last = served(desk)
    assert last["state"] == "done"
    [head] = [message["head"] for message in news if "head" in message]
    assert head["server"] is True
    assert head["protect"]["eos"] is False
    block = desk.ask("block", last["run"], 1, 0, 20, None)
    assert [step["token"] for step in block["steps"]]
    assert not any(step["bounded"] or step["forced"] for step in block["steps"])
    assert desk.ask("stages", last["run"], 1, 2, 20)["stages"][1]["name"] == "top_k"
    dice = desk.ask("dice", last["run"], 1)
    assert (dice["rho"], len(dice["rows"])) == (0.5, len(block["steps"]))
    for row in dice["rows"]:
        if row["source"] is not None:
            assert row["coin"] == pytest.approx(dice["rows"][row["source"]]["draw"], abs=1e-4)
    assert any(row["source"] is not None for row in dice["rows"])
    assert all(row["coin"] is None for row in desk.ask("dice", last["run"], 0)["rows"])


def test_of_such_a_run_nothing_is_claimed_that_nobody_knows(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["own"]["state"] == "done"
    drawn = served(desk)[-1]["run"]
    other = {"rho": 1.0, "tau": 0.1}
    for question in (("what_if", drawn, 0, other), ("strength", drawn, 0, other)):
        assert "the server drew this run" in desk.ask(*question)["error"]["message"]
    ways: list[dict[str, Any]] = [
        {"kind": "continue", "more": 4},
        {"kind": "branch", "lane": 0, "i": 3, "text": " a"},
        {"kind": "edit", "lane": 0, "text": "Other", "more": 4},
    ]
    for kind in ways:
        assert "drawn by its server" in desk.run(**kind, run=drawn)["error"]["message"]
    assert "drawn here" in desk.ask("dice", desk.run()["run"], 0)["error"]["message"]
    trace = desk.ask("export", drawn, "trace")
    again = desk.ask("load", trace)
    assert again["head"]["server"] is True
    assert "error" not in desk.ask("dice", again["run"], 1)


def test_what_the_server_cannot_draw_is_said_where_it_is_wrong(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["own"]["state"] == "done"
    lanes = [{"name": "a", "sampler": {}}, {"name": "b", "sampler": {"top_p": 0.9}}]
    [refused] = served(desk, lanes=lanes)
    assert (refused["error"]["field"], refused["error"]["lane"]) == ("top_p", 1)
    [refused] = served(desk, seed=2**40)
    assert refused["error"]["field"] == "seed"
    spread = {
        "req": 1,
        "kind": "spread",
        "prompt": "Once",
        "settings": SERVED | {"lanes": lanes[:1]},
    }
    [refused] = list(messages(desk.service, spread, "me"))
    assert refused["error"]["field"] == "server_draws"


def test_a_run_that_the_server_draws_can_be_stopped(address: str) -> None:
    desk = Desk()
    assert desk.connect(address)["own"]["state"] == "done"
    plain = json.loads(json.dumps(controls.specification()["settings"]))
    request = {"req": 1, "prompt": "Once", "settings": plain | SERVED | {"max_new_tokens": 1800}}
    last: dict[str, Any] = {}
    for last in messages(desk.service, request, "me"):
        if last.get("add"):
            desk.ask("stop", last["run"])
    assert last["state"] == "stopped"
    kept = desk.service.store.get(last["run"]).lengths
    assert all(0 < length < 1800 for length in kept)
    assert desk.run()["state"] == "done", "the turn was given up"


def test_a_server_that_leaves_while_it_draws_is_said_and_what_is_there_kept(
    story_gguf: Path,
) -> None:
    desk = Desk()
    with serving(story_gguf, slots=2) as where:
        assert desk.connect(where)["own"]["state"] == "done"
        first = served(desk)[-1]
    [*_, last] = served(desk)
    assert "The server at 127.0.0.1" in last["error"]["message"]
    assert desk.service.store.get(first["run"]).lengths == [12, 12]

"""Choosing a model through the page's questions: who may, what is told, and nothing leaks."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from tests.models import hub, tiny
from tests.models.gate import LONG, Gate, until
from tests.ui.driven import messages, questions
from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import ModelError, SettingsError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import Progress
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState, LoadState
from xtc_viz.ui import controls
from xtc_viz.ui.access import May
from xtc_viz.ui.models import MAX_LOADS, parse_choice, state_of
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service, Stops


class Desk:
    """A server's questions and runs, for as many sessions as a test wants."""

    def __init__(self, host: ModelHost, may: May = May.ALL) -> None:
        self.host, self.store, self.stops = host, RunStore(), Stops()
        self.service = Service(host, self.store, self.stops, may=may)
        self.questions = {question.__name__: question for question in questions(self.service)}

    def ask(self, name: str, *arguments: Any) -> Any:
        return json.loads(self.questions[name](list(arguments)))

    def choose(self, name: object, **more: Any) -> Any:
        return self.ask("choose_model", {"name": str(name), **more})

    def ended(self, load: str) -> dict[str, Any]:
        """Wait for the end of a load as a page does, by asking."""
        until(lambda: self.ask("hello", load)["own"]["state"] not in ("loading", "waiting"))
        answer: dict[str, Any] = self.ask("hello", load)
        return answer

    def run(self, length: int = 6) -> Iterator[dict[str, Any]]:
        settings = json.loads(json.dumps(controls.specification()["settings"]))
        request = {"req": 1, "prompt": "Once", "settings": settings | {"max_new_tokens": length}}
        return messages(self.service, request)

    def written_by(self) -> str:
        """The model that writes a run now."""
        *_, last = self.run()
        assert last["state"] == "done", last
        return self.store.get(last["run"]).model.name


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_model("llama", tmp_path_factory.mktemp("own") / "tiny-llama")


def test_a_fixed_server_refuses_everything_and_keeps_its_folders_to_itself(folder: Path) -> None:
    desk = Desk(ModelHost(FakeModel()), May.FIXED)
    for question in (
        ("choose_model", {"name": str(folder)}),
        ("choose_model", {"name": "/no/such/folder"}),
        ("stop_model", "any"),
        ("put_away_model",),
    ):
        assert "server is fixed" in desk.ask(*question)["error"]["message"], question
    assert desk.ask("models") == {"may": "fixed"}
    assert desk.ask("hello")["model"]["name"] == "fake"
    assert desk.host.load_ids == ()


def sent(**headers: str) -> Request:
    """A request with these headers."""
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": pairs})


def test_who_comes_through_a_proxy_is_not_at_this_machine(gate: Gate) -> None:
    desk = Desk(ModelHost(FakeModel(), gate.open()), May.OWN)
    for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
        request = sent(Host="localhost:7860", **{header: "10.0.0.1"})
        answer = json.loads(desk.questions["choose_model"]([{"name": "a/b"}], request))
        assert "server is fixed" in answer["error"]["message"]
        assert json.loads(desk.questions["models"]([], request)) == {"may": "fixed"}
        assert json.loads(desk.questions["hello"]([], request))["may"] == "fixed"
    for request in (sent(), sent(Host="evil.example"), sent(Host="[::1")):
        assert json.loads(desk.questions["models"]([], request))["may"] == "fixed"
    for name in ("127.0.0.1:7860", "localhost", "[::1]:7860"):
        assert json.loads(desk.questions["models"]([], sent(Host=name)))["may"] == "all"
    here = sent(Host="127.0.0.1:7860")
    load = json.loads(desk.questions["choose_model"]([{"name": "a/b"}], here))
    assert desk.ended(load)["model"]["name"] == "a/b"


def test_the_catalog_alone_where_that_is_all_that_may_be_chosen(folder: Path) -> None:
    assert parse_choice({"name": "Qwen/Qwen3-0.6B"}, May.CATALOG) == LocalSpec("Qwen/Qwen3-0.6B")
    assert parse_choice({"name": "story-model"}, May.CATALOG).name == str(STORY_MODEL)
    for name in (str(folder), str(STORY_MODEL), "someone/else"):
        with pytest.raises(SettingsError, match="`name` must be a model of the catalog"):
            parse_choice({"name": name}, May.CATALOG)
    with pytest.raises(SettingsError, match="`revision` must be empty"):
        parse_choice({"name": "Qwen/Qwen3-0.6B", "revision": "refs/pr/7"}, May.CATALOG)


def test_a_choice_becomes_a_spec() -> None:
    spec = parse_choice(
        {
            "name": " someone/else ",
            "revision": "v2",
            "precision": "8bit",
            "device": "cpu",
            "attention": "eager",
        },
        May.ALL,
    )
    assert spec == LocalSpec(
        "someone/else", revision="v2", device="cpu", quantization="8bit", attention="eager"
    )
    chosen = parse_choice({"name": "a/b", "precision": "bfloat16"}, May.ALL)
    assert isinstance(chosen, LocalSpec)
    assert chosen.dtype == "bfloat16"
    assert parse_choice({"name": "~/models/x"}, May.ALL).name == str(Path.home() / "models" / "x")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("Qwen/Qwen3-0.6B", "`model` must be an object"),
        ({}, "`name` must be a hub id"),
        ({"name": "   "}, "`name` must be a hub id"),
        ({"name": 5}, "`name` must be a line of at most 300"),
        ({"name": "a\nb"}, "`name` must be a line of at most 300"),
        ({"name": "a" * 301}, "but is 301 characters"),
        ({"name": "a/b", "revision": ["x"]}, "`revision` must be a line"),
        ({"name": "a/b", "precision": "3bit"}, "`precision` must be one of auto, float32"),
        ({"name": "a/b", "device": "tpu"}, "`device` must be one of auto, cpu"),
        ({"name": "a/b", "attention": ["sdpa"]}, "`attention` must be one of auto, sdpa"),
        ({"name": "a/b", "trust_remote_code": True}, "`trust_remote_code` must be one of name"),
        ({"name": "story-model", "revision": "v1"}, "`revision` must be empty"),
    ],
)
def test_what_cannot_be_chosen_is_named(data: object, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_choice(data, May.ALL)
    assert words in str(caught.value)


@pytest.mark.slow
def test_a_model_of_a_folder_takes_over_and_writes(folder: Path) -> None:
    desk = Desk(ModelHost(FakeModel(), LocalLoader()))
    assert desk.written_by() == "fake"
    answer = desk.ended(desk.choose(folder))
    assert answer["own"]["state"] == "done"
    assert answer["model"]["name"] == "tiny-llama"
    assert answer["model"]["chat"]
    assert str(folder) not in json.dumps(answer), "where it lies is nobody's business"
    assert desk.written_by() == "tiny-llama"


@pytest.mark.slow
def test_a_broken_folder_is_told_to_who_asked_and_the_former_model_stays(
    folder: Path, tmp_path: Path
) -> None:
    broken = Path(shutil.copytree(folder, tmp_path / "broken"))
    (broken / "model.safetensors").write_bytes(b"nothing")
    desk = Desk(ModelHost(FakeModel(), LocalLoader()))
    answer = desk.ended(desk.choose(broken))
    assert answer["own"]["state"] == "failed"
    assert "The weights of broken are broken" in answer["own"]["words"]
    assert answer["model"]["name"] == "fake"
    assert desk.written_by() == "fake"
    assert desk.ask("hello")["own"] is None
    gone = desk.ended(desk.choose(tmp_path / "nowhere"))
    assert "There is no folder" in gone["own"]["words"]


@pytest.mark.slow
def test_a_model_of_the_hub_arrives_with_its_progress_and_stays_here(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "Qwen/Qwen3-0.6B"

    def here() -> str:
        (entry,) = (entry for entry in desk.ask("models")["models"] if entry["id"] == name)
        return str(entry["here"])

    notes: set[str] = set()

    class Listening(LocalLoader):
        """Notes what the page says at every report of progress."""

        def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LocalModel]:
            def noting(words: str, share: float | None) -> None:
                progress(words, share)
                notes.add(desk.ask("hello")["note"])

            return super().fetch(spec, noting)

    with hub.serve(folder) as (url, _):
        hub.use(url, tmp_path / "cache", monkeypatch)
        desk = Desk(ModelHost(FakeModel(), Listening()), May.CATALOG)
        assert here() == ""
        answer = desk.ended(desk.choose(name))
        assert answer["model"]["revision"] == hub.COMMIT
        assert f"Looking for {name}" in notes
        assert f"Downloading {name} · 100 %" in notes
        assert any(note.startswith(f"Reading {name} · ") for note in notes)
        assert here() == "on this machine"
        desk = Desk(ModelHost(FakeModel(), LocalLoader()), May.ALL)
        for choice, words in (
            ({"name": "meta/gated"}, "meta/gated is gated: accept its licence"),
            ({"name": "no/where"}, "'no/where' was not found"),
            ({"name": name, "revision": "v9"}, f"{name} has no revision 'v9'"),
        ):
            answer = desk.ended(desk.ask("choose_model", choice))
            assert words in answer["own"]["words"]
            assert answer["model"]["name"] == "fake"


def test_a_stop_ends_the_load_it_was_meant_for(gate: Gate) -> None:
    desk = Desk(ModelHost(FakeModel(), gate))
    first, second = desk.choose("a/first"), desk.choose("a/second")
    assert desk.ask("hello", second)["own"] == {
        "id": second,
        "name": "a/second",
        "state": "waiting",
        "place": 1,
    }
    assert desk.ask("stop_model", second)
    assert desk.ended(second)["own"]["words"] == "Loading a/second was stopped."
    assert desk.ask("hello", first)["own"]["state"] == "loading"
    assert desk.ask("hello")["load"] == first, "every page may see which load is going on"
    gate.open()
    assert desk.ended(first)["own"]["state"] == "done"
    assert not desk.ask("stop_model", first), "it is over"
    assert not desk.ask("stop_model", ["first"])
    assert desk.written_by() == "a/first"


def test_too_many_loads_are_refused(gate: Gate) -> None:
    desk = Desk(ModelHost(FakeModel(), gate))
    loads = [desk.choose(f"a/{n}") for n in range(MAX_LOADS)]
    assert "4 models are being loaded" in desk.choose("one/more")["error"]["message"]
    for load in loads:
        desk.ask("stop_model", load)
    for load in loads:
        assert desk.ended(load)["own"]["state"] == "stopped"
    gate.open()
    assert desk.ended(desk.choose("one/more"))["own"]["state"] == "done"


def test_a_load_during_a_run_waits_and_the_run_is_as_ever(gate: Gate) -> None:
    quiet = Desk(ModelHost(FakeModel()))
    alone = quiet.store.get(list(quiet.run(30))[-1]["run"]).trace()
    desk = Desk(ModelHost(FakeModel(), gate.open()))
    running = desk.run(30)
    next(running), next(running)
    load = desk.choose("a/next")
    until(lambda: "waiting" in desk.ask("hello")["note"])
    assert desk.ask("hello", load)["model"]["name"] == "fake"
    last = list(running)[-1]
    assert last["state"] == "done"
    assert desk.store.get(last["run"]).trace().lanes == alone.lanes
    assert desk.store.get(last["run"]).model.name == "fake"
    assert desk.ended(load)["model"]["name"] == "a/next"
    error = list(messages(desk.service, {"kind": "continue", "run": last["run"]}))[-1]["error"]
    assert "`run` must be one of the model a/next, but is 'fake'" in error["message"]


def test_a_stop_during_a_load_leaves_other_sessions_alone(gate: Gate) -> None:
    """One session loads and stops; another one runs all the while; a third waits for its turn."""
    gate.may_fetch.set()
    desk = Desk(ModelHost(FakeModel(), gate))
    running, waiting = desk.run(30), desk.run(5)
    next(running), next(running)
    load = desk.choose("a/next")
    until(lambda: "waiting" in desk.ask("hello")["note"])
    next(waiting)
    answer = next(waiting)
    assert answer["state"] == "waiting"
    assert "a/next is being loaded meanwhile" in answer["note"]
    desk.ask("stop_model", load)
    assert desk.ended(load)["own"]["state"] == "stopped"
    for run in (running, waiting):
        *_, last = run
        assert last["state"] == "done"
        assert desk.store.get(last["run"]).model.name == "fake"
    assert gate.models == []
    assert desk.host.waiting == 0


def test_who_waits_behind_a_load_is_written_by_the_new_model(gate: Gate) -> None:
    gate.may_fetch.set()
    desk = Desk(ModelHost(FakeModel(), gate))
    load = desk.choose("a/next")
    assert gate.reading.wait(LONG)
    waiting = desk.run(4)
    next(waiting)
    assert next(waiting)["state"] == "waiting"
    gate.open()
    *_, last = waiting
    assert desk.store.get(last["run"]).model.name == "a/next"
    assert desk.ended(load)["own"]["state"] == "done"


def test_put_away_and_back_with_the_next_run(gate: Gate) -> None:
    desk = Desk(ModelHost(loader=gate.open()))
    desk.ended(desk.choose("a/one"))
    assert desk.ask("hello")["can_rest"]
    answer = desk.ask("put_away_model")
    assert (answer["resting"], answer["can_rest"], answer["model"]["name"]) == (
        True,
        False,
        "a/one",
    )
    assert "no model in memory" in desk.ask("put_away_model")["error"]["message"]
    assert desk.written_by() == "a/one"
    assert not desk.ask("hello")["resting"]
    assert len(gate.models) == 2


def test_a_model_that_writes_is_not_put_away(gate: Gate) -> None:
    desk = Desk(ModelHost(loader=gate.open()))
    desk.ended(desk.choose("a/one"))
    running = desk.run(5)
    next(running), next(running)
    assert "when no run is going on" in desk.ask("put_away_model")["error"]["message"]
    assert list(running)[-1]["state"] == "done"
    assert desk.ask("put_away_model")["resting"]


def test_many_sessions_at_once_each_hear_of_their_own() -> None:
    """Loads, stops and runs from many threads: every run is whole, every load has its own end."""
    desk = Desk(ModelHost(FakeModel(), Gate().open()))
    runs: list[list[int]] = []
    ends: dict[str, str] = {}

    def write() -> None:
        for _ in range(3):
            *_, last = desk.run(4)
            runs.append([lane["tokens"] for lane in last["stats"]])

    def choose(name: str) -> None:
        load = desk.ended(desk.choose(name))["own"]
        ends[load["name"]] = load["state"]

    names = ["a/one", "a/broken", "broken", "a/two"]
    threads = [threading.Thread(target=write) for _ in range(3)]
    threads += [threading.Thread(target=choose, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert runs == [[4, 4]] * 9
    assert ends == {"a/one": "done", "a/broken": "done", "broken": "failed", "a/two": "done"}
    assert desk.host.waiting == 0
    assert desk.host.load_ids == ()


def test_a_refusal_names_no_one_elses_load() -> None:
    desk = Desk(ModelHost(FakeModel()))
    assert desk.ask("hello", "guessed")["own"] is None
    assert desk.ask("stop_model", "guessed") is False
    with pytest.raises(ModelError, match="fixed"):
        parse_choice({"name": "a/b"}, May.FIXED)


def test_how_far_a_load_is_in_words() -> None:
    def note(words: str, share: float | None = None) -> str:
        return str(state_of(HostState(load=LoadState("1", "a/next", words, share)))["note"])

    assert note("") == "Loading a/next"
    assert note("downloading a/next", 0.416) == "Downloading a/next · 42 %"
    assert note("waiting for the model to be free") == (
        "Loading a/next, waiting for the model to be free"
    )
    assert state_of(HostState(failure="No such model."))["note"] == "No such model."


def test_of_a_model_elsewhere_the_page_says_what_is_known() -> None:
    info = replace(FakeModel(name="served").info, placement=None)
    line = state_of(HostState(info=info))["model"]
    assert (line["name"], line["context"], line["chat"]) == ("served", 4096, True)
    assert (line["parameters"], line["dtype"], line["device"]) == (None, None, None)

"""`/generate` as its callers meet it: a real server, gradio's own client, and plain HTTP."""

from __future__ import annotations

import gc
import json
import re
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.ui.factories import decode
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.records import tracefile
from xtc_viz.records.trace import FinishReason
from xtc_viz.runs import presets
from xtc_viz.runs.protection import protected_ids
from xtc_viz.settings import with_protected
from xtc_viz.ui.app import build, launch_options

# Gradio sums up its queue with pandas in a way that pandas is about to drop; and both it and its
# client leave event loops and sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*no_silent_downcasting"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]
DOCS = Path(__file__).parents[2] / "docs" / "api.md"
PROMPT = "Once upon a time"


class Served:
    """A server on the fake model."""

    def __init__(self, url: str, host: ModelHost, model: FakeModel) -> None:
        self.url, self.host, self.model = url, host, model

    def ended(self, within: float = 5.0) -> bool:
        """Whether all decodes are closed and the model is free soon."""
        end = time.monotonic() + within
        while time.monotonic() < end:
            if self.model.open_generations == 0:
                with self.host.turn() as turn:
                    return turn.wait(within)
            time.sleep(0.02)
        return False


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    model = FakeModel()
    host = ModelHost(model)
    blocks = build(host)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    _, url, _ = blocks.launch(prevent_thread_lock=True, server_port=port, **launch_options())
    yield Served(url, host, model)
    blocks.close(verbose=False)
    del blocks
    gc.collect()


@pytest.fixture
def served(server: Served) -> Iterator[Served]:
    server.model.delay = 0.0
    yield server
    server.model.delay = 0.0


def test_with_no_one_here_it_hardly_works(served: Served) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    time.sleep(1.0)
    # A few a glance at the queue; gradio's own pace are several hundred.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before < 300


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    found = Client(served.url, verbose=False)
    yield found
    found.close()


def generate(client: Client, prompt: Any = PROMPT, **values: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.predict(prompt, api_name="/generate", **values)
    return answer


def test_it_is_the_only_public_endpoint_and_describes_itself(client: Client) -> None:
    info = client.view_api(return_format="dict", print_info=False)
    assert list(info["named_endpoints"]) == ["/generate"]
    assert info["unnamed_endpoints"] == {}
    described = info["named_endpoints"]["/generate"]
    defaults = {p["parameter_name"]: p.get("parameter_default") for p in described["parameters"]}
    assert defaults["lanes"] == ["Baseline", "XTC"]
    assert defaults["seed"] == 7
    assert defaults["stop"] == []
    required = [p for p in described["parameters"] if not p["parameter_has_default"]]
    assert [p["parameter_name"] for p in required] == ["prompt"]
    with pytest.raises(ValueError, match="run"):
        client.predict(api_name="/run")


def test_the_trace_is_the_one_that_the_decoder_records(client: Client) -> None:
    answer = generate(client, seed=11, max_new_tokens=30)
    assert answer["state"] == "done"
    trace = tracefile.loads(answer["trace"])
    ids = FakeModel().info.eos_ids + FakeModel().info.newline_ids
    lanes = tuple(with_protected(lane, ids) for lane in presets.DEFAULT_LANES)
    expected, _ = decode(prompt=PROMPT, length=30, seed=11, lanes=lanes)
    assert tracefile.dumps(replace(trace, seconds=0.0)) == tracefile.dumps(
        replace(expected, seconds=0.0)
    )
    assert answer["texts"] == [lane.text for lane in expected.lanes]
    assert answer["tokens"] == [len(lane.steps) for lane in expected.lanes]
    assert answer["finish"] == [lane.finish for lane in expected.lanes]


def test_lanes_by_name_and_by_value_and_every_other_setting(client: Client) -> None:
    own: dict[str, Any] = {"name": "mine", "sampler": {"top_k": 9, "xtc": {"rho": 1, "tau": 0.05}}}
    answer = generate(
        client,
        lanes=["strong", "T 1.3 + XTC", own, ".75 / .05"],
        max_new_tokens=6,
        shared_randomness=False,
        stop=["never written"],
        top_candidates=120,
        system="Be brief.",
        chat=True,
        thinking=False,
        protect_newline="token",
        protect_texts=[" the"],
    )
    trace = tracefile.loads(answer["trace"])
    names = [lane.settings.name for lane in trace.lanes]
    assert names == ["Strong", "T 1.3 + XTC", "mine", ".75 / .05"]
    mine = trace.lanes[2].settings.sampler
    assert (mine.top_k, mine.xtc.rho, mine.xtc.tau) == (9, 1.0, 0.05)
    model = FakeModel()
    the = model.encode(" the")
    assert mine.xtc.protected == protected_ids(model, "token", the)
    assert (trace.settings.shared_randomness, trace.settings.top_candidates) == (False, 120)
    assert trace.settings.stop == ("never written",)
    assert trace.prompt_ids == tuple(model.encode_chat(PROMPT, "Be brief.", thinking=False))
    assert all(isinstance(lane.finish, FinishReason) for lane in trace.lanes)


def test_it_reports_while_it_runs(client: Client, served: Served) -> None:
    served.model.delay = 0.03
    reports = list(client.submit(PROMPT, max_new_tokens=20, api_name="/generate"))
    running = [report for report in reports if report["state"] == "running"]
    assert len(running) >= 3
    assert [report["state"] for report in reports][-1] == "done"
    assert running[0]["tokens"] < running[-1]["tokens"] <= reports[-1]["tokens"]
    for early, late in pairwise(running):
        pairs = zip(early["texts"], late["texts"], strict=True)
        assert all(after.startswith(before) for before, after in pairs)


def test_a_second_call_waits_is_told_its_place_and_starts_by_itself(
    client: Client, served: Served
) -> None:
    with served.host.turn() as turn:
        assert turn.wait(5)
        job = client.submit(PROMPT, max_new_tokens=3, api_name="/generate")
        first = next(iter(job))
        assert (first["state"], first["place"], first["trace"]) == ("waiting", 1, None)
        assert not job.done()
    assert job.result(timeout=10)["state"] == "done"


def test_cancelling_ends_the_run(client: Client, served: Served) -> None:
    served.model.delay = 0.05
    job = client.submit(PROMPT, max_new_tokens=2000, api_name="/generate")
    assert next(iter(job))["state"] == "running"
    assert served.model.open_generations == 1
    job.cancel()
    assert served.ended()


def test_cancelling_gives_up_a_place_in_the_queue(client: Client, served: Served) -> None:
    with served.host.turn() as turn:
        assert turn.wait(5)
        job = client.submit(PROMPT, api_name="/generate")
        assert next(iter(job))["state"] == "waiting"
        assert served.host.waiting == 1
        job.cancel()
        for _ in range(100):
            if not served.host.waiting:
                break
            time.sleep(0.02)
        assert served.host.waiting == 0


def start(url: str, **values: Any) -> str:
    """Call the endpoint as curl would; returns the address of its events."""
    where = f"{url}gradio_api/call/v2/generate"
    answer = httpx.post(where, json={"prompt": PROMPT, **values}).raise_for_status()
    return f"{where}/{answer.json()['event_id']}"


def test_hanging_up_ends_the_run(served: Served) -> None:
    served.model.delay = 0.05
    with httpx.stream("GET", start(served.url, max_new_tokens=2000), timeout=10) as events:
        for line in events.iter_lines():
            if "running" in line:
                break
        assert served.model.open_generations == 1
    assert served.ended()


TAU = {"sampler": {"xtc": {"tau": 3}}}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"prompt": ""}, "`prompt` must be a text to go on from, but is ''"),
        ({"prompt": " \n"}, "`prompt` must be a text to go on from, but is ' \\n'"),
        ({"prompt": 7}, "`prompt` must be a text of at most 100,000 characters, but is 7"),
        ({"prompt": "a" * 100_001}, "but is 100,001 characters"),
        ({"prompt": " the" * 5000}, "4096"),
        ({"lanes": ["Stronger"]}, "`lanes` must be an object or one of Baseline, XTC, Light, "),
        ({"lanes": "XTC"}, "`lanes` must be a list of names and objects, but is 'XTC'"),
        ({"lanes": []}, "`lanes` must be 1 to 6 lanes, but is 0"),
        ({"lanes": ["XTC"] * 7}, "`lanes` must be 1 to 6 lanes, but is 7"),
        ({"lanes": ["XTC", TAU]}, "lane 2: `tau` must be in (0, 1), but is 3"),
        (
            {"lanes": [{"sampler": {"topp": 1}}]},
            "lane 1: `topp` must be one of dry_allowed_length,",
        ),
        ({"seed": -1}, "`seed` must be an integer in [0, 2^63 − 1], but is -1"),
        ({"max_new_tokens": 4097}, "`max_new_tokens` must be an integer in [1, 4096]"),
        ({"top_candidates": 5}, "`top_candidates` must be an integer in [100, 1000], but is 5"),
        ({"stop": [""]}, "`stop` must be a list of non-empty texts"),
        ({"chat": "no"}, "`chat` must be true or false, but is 'no'"),
        ({"protect_eos": 0}, "`protect_eos` must be true or false, but is 0"),
        ({"protect_newline": "some"}, "`protect_newline` must be true, false or one of token, all"),
        ({"protect_texts": [1]}, "`protect` must be a list of non-empty texts, but is [1]"),
    ],
)
def test_an_error_names_the_field_the_bounds_and_the_value(
    client: Client, served: Served, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(AppError) as caught:
        generate(client, **values)
    assert words in str(caught.value)
    assert served.ended()


def test_the_bound_of_a_seed_is_the_one_of_the_settings(client: Client) -> None:
    answer = generate(client, seed=2**63 - 1, max_new_tokens=1, lanes=["Baseline"])
    assert tracefile.loads(answer["trace"]).settings.seed == 2**63 - 1


def test_what_breaks_inside_is_not_passed_off_as_an_answer(
    client: Client, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.model.delay = -1  # `time.sleep` refuses it
    with pytest.raises(AppError, match="Something went wrong on the server; its log says what"):
        generate(client, max_new_tokens=3)
    assert "/generate failed" in caplog.text
    served.model.delay = 0.0
    assert generate(client, max_new_tokens=2)["state"] == "done"


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


def test_the_documented_python_runs(served: Served, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = examples("python")
    assert "http://127.0.0.1:7860/" in code
    names: dict[str, Any] = {}
    exec(code.replace("http://127.0.0.1:7860/", served.url), names)
    names["client"].close()
    saved = tracefile.load(tmp_path / "run.json")
    assert [lane.settings.name for lane in saved.lanes] == ["Baseline", "Strong", "my own"]


def test_the_documented_curl_is_what_the_server_takes(served: Served) -> None:
    (code,) = examples("sh")
    body = re.search(r"-d '(\{.*?\})'", code, re.DOTALL)
    assert body, "the example sends a body"
    assert "/gradio_api/call/v2/generate" in code
    found = httpx.get(start(served.url, **json.loads(body[1])), timeout=20).text
    events = re.findall(r"event: (\w+)\ndata: (.*)\n", found)
    assert events[-1][0] == "complete"
    last = json.loads(events[-1][1])[0]
    assert len(tracefile.loads(last["trace"]).lanes) == 2


def test_calls_at_the_same_time_do_not_mix(served: Served) -> None:
    answers: dict[int, dict[str, Any]] = {}

    def call(seed: int) -> None:
        with suppress(Exception):
            own = Client(served.url, verbose=False)
            answers[seed] = generate(own, seed=seed, max_new_tokens=25)
            own.close()

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [0, 1, 2, 3]
    for seed, answer in answers.items():
        assert tracefile.loads(answer["trace"]).settings.seed == seed
    assert len({answer["texts"][1] for answer in answers.values()}) > 1


def test_no_value_is_a_file_that_gradio_fetches(served: Served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(1.0)
        where = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
        file = {"path": where, "meta": {"_type": "gradio.FileData"}}
        body = {"prompt": PROMPT, "lanes": ["Baseline", {"name": file}]}
        url = f"{served.url}gradio_api/call/v2/generate"
        event = httpx.post(url, json=body).json()["event_id"]
        answer = httpx.get(f"{url}/{event}", timeout=20.0).text
        assert "No value of a request may be a file" in answer
        with pytest.raises(TimeoutError):
            listener.accept()

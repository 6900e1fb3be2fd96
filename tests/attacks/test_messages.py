"""Whatever is asked wrongly is answered in words: short, about the field, none of them Python's."""

from __future__ import annotations

import gc
import inspect
import json
import logging
import socket
from collections.abc import Iterator
from typing import Any

import gradio as gr
import httpx
import pytest

from tests.attacks.values import (
    FOLLOWING,
    QUESTIONS,
    Attack,
    bad_values,
    call,
    complaint,
    named,
    request,
    sendable,
)
from tests.ui.driven import Driven, questions, stream
from tests.ui.factories import decode
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.access import May
from xtc_viz.ui.api import build_api
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service

# Gradio leaves event loops and sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*no_silent_downcasting"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]


class Server:
    """All that can be asked of a page on the fake model, without a socket."""

    def __init__(self, may: May = May.ALL) -> None:
        trace, model = decode(prompt="Once", length=12)
        store = RunStore()
        self.host = ModelHost(model)
        self.run = store.add(Run.of(trace, "done"), keep=True)
        limits = Limits(max_tokens=40)  # what is accepted by chance shall not write for long
        self.service = Service(self.host, store, limits=limits, may=may)
        self.questions = {each.__name__: each for each in questions(self.service)}
        with gr.Blocks() as blocks:
            build_api(self.service)
        [endpoint] = blocks.fns.values()
        self.generate: Any = endpoint.fn

    def refusal(self, attack: Attack) -> tuple[object, str]:
        """Return the words by which an attack is refused, None where it is accepted, and what is
        wrong with the answer beside them."""
        data = named(self.run, attack.data)
        if attack.name == "generate":
            # Without a prompt, or with other names, gradio's address refuses it (below).
            taken = inspect.signature(self.generate).parameters
            data = {"prompt": None} | {name: data[name] for name in data if name in taken}
            try:
                for report in Driven(self.generate(**data)):
                    last = json.dumps(report)
                return None, sendable(last)
            except gr.Error as refused:
                return refused.message, ""
        if attack.name == "run":
            lines = list(stream(self.service, data))
            answer = json.loads(lines[-1])
        else:
            lines = [self.questions[attack.name](data)]
            answer = json.loads(lines[-1])
        wrong = "; ".join(filter(None, map(sendable, lines)))
        error = answer.get("error") if isinstance(answer, dict) else None
        return (error["message"] if error else None), wrong


@pytest.fixture(scope="module")
def server() -> Server:
    return Server()


def test_what_is_asked_rightly_is_answered(server: Server) -> None:
    """Else nothing below is about the one place that was turned."""
    # What needs another model, or a run that the model's server drew.
    elsewhere = ("choose_model", "dice")
    right = [Attack(n, arguments) for n, arguments in QUESTIONS.items() if n not in elsewhere]
    right += [Attack("run", request()), *(Attack("run", each) for each in FOLLOWING)]
    for attack in (*right, Attack("generate", call())):
        assert server.refusal(attack) == (None, ""), attack


def test_bad_values_are_refused_in_words(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    wrong, refused = [], 0
    for attack in bad_values(seed=11, count=600):
        words, beside = server.refusal(attack)
        refused += words is not None
        complaints = [complaint(words) if words is not None else "", beside]
        wrong += [f"{attack!r:.300}: {each}" for each in complaints if each]
    assert not wrong, "\n".join(wrong[:20])
    assert refused > 300
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a real server on the fake model."""
    blocks = build(ModelHost(FakeModel()), limits=Limits(max_tokens=40))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    _, url, _ = blocks.launch(prevent_thread_lock=True, server_port=port, **launch_options())
    yield f"{url}gradio_api/call"
    blocks.close(verbose=False)
    del blocks
    gc.collect()


def said(url: str, body: str) -> str:
    """Return the words by which a call over HTTP is refused, at once or by its event."""
    answer = httpx.post(url, content=body, headers={"content-type": "application/json"})
    if answer.status_code == 404:
        return str(answer.json()["detail"])
    if "event_id" not in answer.json():
        assert answer.status_code in (400, 404, 422)
        return str(answer.json()["detail"])
    events = httpx.get(f"{url}/{answer.json()['event_id']}", timeout=20).text
    name, _, data = events.strip().rpartition("\n")
    assert name.endswith("event: error"), events[-300:]
    return str(json.loads(data.removeprefix("data: "))["error"])


@pytest.mark.parametrize(
    ("address", "body", "words"),
    [
        ("v2/generate", "{}", "`prompt`"),
        ("v2/generate", '{"lanes": []}', "`prompt`"),
        ("v2/generate", '{"prompt": ""}', "`prompt`"),
        ("v2/generate", '{"prompt": "\\ud800"}', "`prompt`"),
        ("v2/generate", '{"prompt": "x", "seed": 1%s}' % ("0" * 400), "`seed`"),
        ("v2/generate", '{"prompt": "x", "seed": true}', "`seed`"),
        ("v2/generate", '{"prompt": "x", "seed": NaN}', "`seed`"),
        ("v2/generate", '{"prompt": "x", "tempo": 1}', "`tempo`"),
        ("v2/generate", '{"prompt": "x", "\\ud800": 1}', "does not take"),
        ("v2/generate", '{"prompt": "x", "lanes": [{"name": "\\ud800"}]}', "lane 1: `name`"),
        ("v2/generate", "[]", "JSON object"),
        ("v2/generate", "{", "JSON object"),
        ("v2/generate", "", "JSON object"),
        ("v2/generate", "[" * 5_000, "parsing the body"),
        ("generate", '{"data": []}', "takes 14 values, but was given 0"),
        ("generate", '{"data": ["\\ud800"]}', "takes 14 values, but was given 1"),
        ("generate", '{"data": "\\ud800"}', "JSON object"),
        ("v2/nothing", "{}", "nothing at this address"),
        ("nothing", '{"data": []}', "nothing at this address"),
    ],
)
def test_what_gradio_cannot_read_is_refused_in_words(
    url: str, address: str, body: str, words: str
) -> None:
    answer = said(f"{url}/{address}", body)
    assert not complaint(answer)
    assert words in answer

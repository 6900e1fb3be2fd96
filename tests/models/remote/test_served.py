"""Runs that the server draws by itself: recorded, streamed, stopped, refused, kept and opened."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.remote.hostile import Raw, answering
from tests.models.remote.llama import serving
from xtc_viz.errors import ServerError, SettingsError
from xtc_viz.models.remote.kinds.llamacpp import LlamaCpp
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.wire import Wire
from xtc_viz.records import tracefile
from xtc_viz.records.step import Bound, Step
from xtc_viz.records.trace import FinishReason, Trace
from xtc_viz.runs.chain import Chain
from xtc_viz.runs.jobs import fork, resume, rewrite
from xtc_viz.runs.presets import DEFAULT_LANES
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.runs.served import drawn_lanes
from xtc_viz.sampling.rule import Outcome
from xtc_viz.settings import RunSettings, XTCSettings

pytestmark = [pytest.mark.engines, pytest.mark.slow]

SETTINGS = RunSettings(DEFAULT_LANES, max_new_tokens=40, server_draws=True)


def run(remote: RemoteModel, prompt: str = "Once upon a time", **changes: Any) -> Trace:
    return record(remote, Request(prompt, replace(SETTINGS, **changes)))


def test_every_step_is_recorded_and_foretold(remote: RemoteModel) -> None:
    steps: list[Step] = []
    for seed in range(4):
        trace = run(remote, seed=seed)
        assert trace.settings.server_draws
        for lane in trace.lanes:
            assert lane.settings.sampler.order[-2:] == ("xtc", "temperature")
            assert not lane.settings.sampler.xtc.protected
            steps += lane.steps
    assert len(steps) > 200
    assert sum(step.bound is not Bound.NONE for step in steps) <= len(steps) / 200
    fired = [step for step in steps if step.fired]
    assert len(fired) > 20
    assert all(step.token not in step.removed for step in fired)
    assert any(step.changed for step in fired)
    for step in steps:
        assert 0.0 < step.p <= 1.0
        assert 0.0 < step.q <= 1.0


def test_lanes_are_the_same_until_xtc_parts_them(remote: RemoteModel) -> None:
    """Both have the seed, and so the numbers of their draws."""
    for seed in range(4):
        baseline, xtc = (lane.steps for lane in run(remote, seed=seed).lanes)
        for a, b in zip(baseline, xtc, strict=False):
            if a.token != b.token:
                assert b.changed
                break


def test_the_server_draws_as_it_would_for_anyone(remote: RemoteModel) -> None:
    trace = run(remote)
    chain = Chain.of(trace.lanes[1].settings.sampler, SETTINGS.seed)
    assert isinstance(remote.server, LlamaCpp)
    alone = remote.server.write(trace.prompt_ids, 40, 8, chain.request())
    assert [one.token for one in alone] == [step.token for step in trace.lanes[1].steps]


def test_a_trace_says_so_and_can_be_opened_but_not_continued(
    remote: RemoteModel, tmp_path: Path
) -> None:
    trace = run(remote, max_new_tokens=8)
    tracefile.save(trace, tmp_path / "a.json")
    opened = tracefile.load(tmp_path / "a.json")
    assert opened.settings == trace.settings
    assert opened.settings.server_draws
    assert list(opened.lanes[1].steps) == list(trace.lanes[1].steps)
    ways = (
        lambda: resume(opened, 5),
        lambda: fork(opened, 0, 2, 5, remote),
        lambda: rewrite(opened, 0, "Other words", 5, remote),
    )
    for way in ways:
        with pytest.raises(SettingsError, match="`run` must be one that was drawn here"):
            way()


def test_texts_end_as_they_do_here(remote: RemoteModel) -> None:
    ends = {lane.finish for seed in range(3) for lane in run(remote, seed=seed, stop=(".",)).lanes}
    assert ends == {FinishReason.STOP}
    [eos] = {lane.finish for lane in run(remote, max_new_tokens=900, seed=1).lanes}
    assert eos is FinishReason.EOS


def test_lanes_take_turns_where_the_server_writes_one_at_a_time(story_gguf: Path) -> None:
    with serving(story_gguf, slots=1) as where:
        model = RemoteModel.connect(where)
        settings = Request("Once", SETTINGS).guarded(model)
        columns = list(drawn_lanes(model, model.encode("Once"), settings))
    lanes = [[column.steps[k] for column in columns] for k in range(2)]
    assert sum(step is not None for step in lanes[0]) == 40
    assert lanes[1][0] is None
    assert lanes[1][-1] is not None


def test_who_stops_listening_stops_the_server(remote: RemoteModel) -> None:
    settings = Request("Once", replace(SETTINGS, max_new_tokens=1900)).guarded(remote)
    with closing(drawn_lanes(remote, remote.encode("Once"), settings)) as columns:
        for _ in range(3):
            next(columns)
    # A server that still wrote would have no slot for what follows, but at its end.
    assert record(remote, Request("Once", replace(SETTINGS, max_new_tokens=3))).lanes[0].steps


def test_characters_of_several_tokens_are_all_there(remote: RemoteModel) -> None:
    """Of such tokens the server reports but the last one of each character."""
    server = remote.server
    assert isinstance(server, LlamaCpp)
    prompt, parts = remote.encode("Once"), remote.encode("é😀")
    values = Chain(XTCSettings(0.0, 0.1), top_k=20, seed=3).request()
    values["logit_bias"] = [[token, 20.0] for token in parts]
    with closing(server.stream(prompt, 24, 20, values)) as streamed:
        drawn = list(streamed)
    more: dict[str, Any] = {"prompt": prompt, "n_predict": 24, "return_tokens": True}
    tokens = remote.wire.post("/completion", values | more)["tokens"]
    assert [one.token for one in drawn] == tokens
    assert len(tokens) == 24
    assert set(tokens) & set(parts)
    assert len(server.write(prompt, 24, 20, values)) < 24, "it reports all of them by now"
    context = list(prompt)
    for one in drawn:
        [known] = server.candidates([context], 20)
        assert known.log_probs == pytest.approx(one.known.log_probs, abs=1e-3)
        context.append(one.token)


def test_only_a_server_draws(remote: RemoteModel, local: Any) -> None:
    with pytest.raises(SettingsError, match="no server of llama"):
        record(local, Request("Once", SETTINGS))


class Otherwise(LlamaCpp):
    """A server whose XTC never fires, and who says nothing of that."""

    def __init__(self, server: LlamaCpp) -> None:
        self.__dict__.update(vars(server))

    def stream(self, prompt: Any, length: int, count: int, sampling: Any) -> Any:
        return super().stream(prompt, length, count, sampling | {"xtc_probability": 0.0})


class Silent(Otherwise):
    """One that ends after two tokens."""

    def stream(self, prompt: Any, length: int, count: int, sampling: Any) -> Any:
        return super().stream(prompt, 2, count, sampling)


def run_on(remote: RemoteModel, kind: type[Otherwise], monkeypatch: pytest.MonkeyPatch) -> Trace:
    assert isinstance(remote.server, LlamaCpp)
    monkeypatch.setattr(remote, "server", kind(remote.server))
    return run(remote)


def test_a_server_that_does_otherwise_is_seen_to(
    remote: RemoteModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = run_on(remote, Otherwise, monkeypatch).lanes[1].steps
    against = [step for step in steps if step.token in step.removed]
    assert len(against) > 3
    for step in against:
        assert step.outcome is Outcome.FIRED
        assert step.bound & Bound.DICE
        assert not step.changed


def test_a_server_that_ends_in_the_middle_is_said(
    remote: RemoteModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ServerError, match="ended a text before its end"):
        run_on(remote, Silent, monkeypatch)


EVENT = {"tokens_predicted": 1, "completion_probabilities": [{"id": 3, "top_logprobs": []}]}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"data: {}\n\n", "`tokens_predicted` must be an integer"),
        (b"data: [1]\n\n", "/completion must be an object"),
        (b"data: {\n\n", "with what is no JSON"),
        (b'error: {"error": {"message": "no room"}}\n\n', "breaks off: no room"),
        (b"data: " + json.dumps(EVENT).encode() + b"\n\n", "shows 0 candidates where 128"),
        (b"data: " + b" " * 2**23, "answers with more than"),
    ],
)
def test_what_is_no_stream_is_said(remote: RemoteModel, body: bytes, words: str) -> None:
    props = remote.wire.get("/props")
    with answering(lambda path, values: Raw(body)) as where, closing(Wire(where)) as wire:
        server = LlamaCpp(wire, props)
        with pytest.raises(ServerError, match=words):
            list(server.stream([1], 3, 128, {}))

"""A server that answers as llama.cpp does but for one lie: each is named, none is believed."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.remote.hostile import Raw, answering
from xtc_viz.errors import ModelError, ServerError
from xtc_viz.models.load import no_progress
from xtc_viz.models.remote.loader import RemoteLoader
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.models.remote.values import UNSEEN, Reader
from xtc_viz.models.remote.wire import Wire
from xtc_viz.rows import Row, decode_rows
from xtc_viz.settings import SamplerSettings, XTCSettings

V = 300
WORDS = [b"", *(f" w{i}".encode() for i in range(1, V - 1)), b"\n"]
PROBS = np.linspace(1, 30, V) ** 3
PROBS /= PROBS.sum()
ROW = Row([1, 2], SamplerSettings(xtc=XTCSettings(0.5, 0.05)), max_new_tokens=3)

Change = Callable[[Any], Any]


class Honest:
    """A tiny model that thinks the same whatever was written, behind llama.cpp's addresses."""

    def __init__(self) -> None:
        self.path = "/models/tiny.gguf"
        self.asked: list[str] = []
        self.changes: dict[str, Change] = {}

    def __call__(self, path: str, values: Any) -> Any:
        self.asked.append(path)
        said = self.answer(path, values)
        return self.changes[path](copy.deepcopy(said)) if path in self.changes else said

    def answer(self, path: str, values: Any) -> Any:
        if path == "/props":
            return {
                "default_generation_settings": {"n_ctx": 64},
                "build_info": "b7-abc",
                "total_slots": 1,
                "model_path": self.path,
                "model_alias": self.path,
                "chat_template": "",
            }
        if path == "/v1/models":
            return {"data": [{"meta": {"n_vocab": V, "n_params": 7, "size": 28}}]}
        if path == "/tokenize":
            return {"tokens": [1, 2]}
        if path == "/detokenize":
            return {"content": f"<{values['tokens'][0]}>"}
        if path == "/completion" and values.get("ignore_eos"):
            return {"generation_settings": {"logit_bias": [{"bias": None, "token": 0}]}}
        if path == "/completion":
            prompts, count = values["prompt"], min(values["n_probs"], V)
            return [self.step(index, count) for index in range(len(prompts))]
        return Raw(b"{}", 404)

    @staticmethod
    def step(index: int, count: int) -> dict[str, Any]:
        ids = np.argsort(-PROBS)[:count].tolist()
        top = [{"id": i, "logprob": math.log(PROBS[i]), "bytes": [*WORDS[i]]} for i in ids]
        return {"index": index, "completion_probabilities": [{"top_logprobs": top}]}


def top(answer: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = answer[0]["completion_probabilities"][0]["top_logprobs"]
    return entries


def each(**values: Any) -> Change:
    """Put values into the first candidate."""

    def change(answer: Any) -> Any:
        top(answer)[0].update(values)
        return answer

    return change


def with_top(change: Callable[[list[dict[str, Any]]], list[Any]]) -> Change:
    def changed(answer: Any) -> Any:
        answer[0]["completion_probabilities"][0]["top_logprobs"] = change(top(answer))
        return answer

    return changed


LIES: dict[str, tuple[Change, str]] = {
    "an id out of range": (each(id=V), r"`logprobs` must be of tokens in \[0, 300\), but is 300"),
    "a negative id": (each(id=-1), "but is -1"),
    "no id": (each(id=None), "but is missing"),
    "a true id": (each(id=True), "but is true or false"),
    "a text as an id": (each(id="1"), "but is a text"),
    "one token twice": (with_top(lambda t: [t[1], *t[1:]]), "of different tokens"),
    "not a number": (each(logprob=math.nan), "`logprobs` must be at most 0"),
    "more than certain": (each(logprob=0.5), "at most 0, but is 0.5"),
    "infinitely likely": (each(logprob=math.inf), "at most 0, but is inf"),
    "a huge integer": (each(logprob=-(10**400)), "but is too large"),
    "a text as a number": (each(logprob="-1"), "numbers, but is a text"),
    "too much mass": (each(logprob=-0.001), r"probabilities that add up to 1, but is 1\.8"),
    "no mass": (with_top(lambda t: [e | {"logprob": -9e9} for e in t]), "of none"),
    "too few": (with_top(lambda t: t[:-1]), "shows 127 candidates where 128 were asked for"),
    "none": (with_top(lambda t: []), "shows 0 candidates"),
    "more than there are": (with_top(lambda t: t * 3), "1 to 300 tokens, but is 384"),
    "no objects": (with_top(lambda t: [1] * 128), "must hold objects"),
    "another prompt's": (lambda a: [a[0] | {"index": 5}], "`index`"),
    "too many results": (lambda a: a * 2, "a list of 1, but is one of 2"),
    "no probabilities": (lambda a: [{"index": 0}], "`completion_probabilities` must be a list"),
    "a number": (lambda a: 7, "must be a list, but is 7"),
    "nothing": (lambda a: None, "must be a list, but is missing"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_at_a_step_ends_the_run_with_its_name(lie: str) -> None:
    change, words = LIES[lie]
    honest = Honest()
    with answering(honest) as address:
        model = RemoteModel.connect(address)
        rounds = decode_rows(model, [ROW])
        next(rounds)
        honest.changes["/completion"] = change
        with pytest.raises(ServerError, match=words) as error:
            next(rounds)
        rounds.close()
    assert "The server at 127.0.0.1:" in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        ("/props", lambda a: a | {"default_generation_settings": 3}, "must be an object, but is 3"),
        ("/props", lambda a: a | {"default_generation_settings": {"n_ctx": 0}}, "`n_ctx`"),
        ("/props", lambda a: a | {"default_generation_settings": {"n_ctx": 1e9}}, "`n_ctx`"),
        ("/props", lambda a: a | {"model_path": 5}, "`model_path` must be a text, but is 5"),
        ("/props", lambda a: a | {"chat_template": ["x"]}, "`chat_template` must be a text"),
        ("/v1/models", lambda a: {"data": []}, "`data` must be an object"),
        ("/v1/models", lambda a: {"data": [{}]}, "`n_vocab` in /v1/models"),
        ("/v1/models", lambda a: {"data": [{"meta": {"n_vocab": 10**9}}]}, "`n_vocab`"),
        ("/v1/models", lambda a: {"data": [{"meta": {"n_vocab": V + 1}}]}, "candidates where 301"),
        ("/completion", lambda a: 0, "must be a list, but is 0"),
        ("/completion", each(bytes=[300]), "`bytes` must be bytes"),
        ("/completion", each(bytes="ab"), "`bytes` must be a list"),
        ("/completion", each(bytes=[None]), "`bytes` must be bytes"),
    ],
)
def test_a_lie_at_the_load_is_its_failure(path: str, change: Change, words: str) -> None:
    honest = Honest()
    honest.changes[path] = change
    with answering(honest) as address, pytest.raises(ModelError, match=words):
        RemoteLoader().fetch(RemoteSpec(address), no_progress)


def test_an_honest_one_is_believed() -> None:
    with answering(Honest()) as address:
        model = RemoteModel.connect(address)
        assert model.info.name == "tiny.gguf"
        assert (model.info.eos_ids, model.info.newline_ids) == ((0,), (V - 1,))
        assert model.token_text(7) == " w7"
        assert model.token_text(0) == "<0>"
        steps = [step for entries, _ in decode_rows(model, [ROW]) for step in entries]
        assert [step.error for step in steps] == [None] * 3


def test_another_model_at_the_same_address_is_noticed() -> None:
    honest = Honest()
    with answering(honest) as address:
        model = RemoteModel.connect(address)
        model.start([[1]]).close()
        honest.path = "/models/other.gguf"
        with pytest.raises(ServerError, match=r"no longer runs tiny\.gguf: load it again"):
            model.start([[1]])


@pytest.mark.parametrize(
    ("path", "answer", "words"),
    [
        ("/api/extra/version", {"result": "KoboldCpp", "version": "1.9"}, "is koboldcpp, which"),
        ("/api/version", {"version": "0.9"}, "is Ollama"),
        ("/v1/model", {"id": "x", "parameters": {}}, "is TabbyAPI"),
        (
            "/v1/models",
            {"data": [{"id": "x", "owned_by": "vllm"}]},
            "Name the folder",
        ),
        ("/v1/internal/model/info", {"model_name": "x"}, "is text-generation-webui"),
        ("/elsewhere", {}, "is of no kind that is known here"),
    ],
)
def test_other_kinds_are_refused_with_the_reason(path: str, answer: Any, words: str) -> None:
    def said(asked: str, values: Any) -> Any:
        return answer if asked == path else Raw(b"<html>", 404)

    with answering(said) as address, pytest.raises(ServerError, match=words):
        RemoteModel.connect(address)


def test_a_website_is_of_no_known_kind() -> None:
    with (
        answering(lambda path, values: Raw(b"<html>hello")) as address,
        pytest.raises(ServerError, match="is of no kind that is known here"),
    ):
        RemoteModel.connect(address)


def test_one_that_wants_a_key_says_so_first() -> None:
    raw = Raw(json.dumps({"error": {"message": "Invalid API Key"}}).encode(), 401)
    with (
        answering(lambda path, values: raw) as address,
        pytest.raises(ServerError, match="wants a key, or another one than it was given"),
    ):
        RemoteModel.connect(address)


@given(st.permutations(range(20)))
def test_any_order_is_sorted(order: list[int]) -> None:
    wire = Wire("http://127.0.0.1:1")
    logs = np.log(PROBS[:20])
    known = Reader(wire).candidates(order, [float(logs[i]) for i in order], V)
    wire.close()
    assert list(known.ids) == sorted(range(20), key=lambda i: (-logs[i], i))
    assert known.outside == pytest.approx(1 - PROBS[:20].sum())


def test_what_rounding_hides_lies_outside() -> None:
    wire = Wire("http://127.0.0.1:1")
    reader = Reader(wire)
    assert reader.candidates([0], [0.0], V).outside == UNSEEN
    assert reader.candidates([0, 1], [-1e-4, -3.4e38], V).log_probs[1] == -np.inf
    assert reader.candidates(list(range(V)), np.log(PROBS).tolist(), V).outside == 0.0
    wire.close()

"""What a real vLLM answered, read again, and with one lie in it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models import tiny
from tests.models.remote.agreement import agree
from tests.models.remote.hostile import Raw, answering
from tests.models.remote.recording import CAP, REQUEST, question, recorded
from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import ModelError, ServerError
from xtc_viz.models.load import no_progress
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.tokens.detokenize import TokenTexts
from xtc_viz.models.remote.kinds import vllm
from xtc_viz.models.remote.kinds.vllm import _alike
from xtc_viz.models.remote.loader import RemoteLoader
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.models.remote.tokenizer import SAMPLES, FolderTokenizer, read_folder
from xtc_viz.runs.record import record

pytestmark = pytest.mark.slow

Change = Callable[[Any], Any]


class Recorded:
    """The recorded server, some of whose answers may be changed."""

    def __init__(self) -> None:
        values = recorded()
        self.answers: dict[str, Any] = values["answers"]
        self.logits: dict[str, Any] = values["logits"]
        self.version: str = values["version"]
        self.changes: dict[str, Change] = {}

    def __call__(self, path: str, values: Any) -> Any:
        asked = question(path, values)
        if asked not in self.answers:
            return Raw(b'{"detail":"Not Found"}', 404)
        status, answer = self.answers[asked]
        if status != 200:
            return Raw(b'{"error":{"message":"no"}}', status)
        answer = copy.deepcopy(answer)
        return self.changes[path](answer) if path in self.changes else answer


@pytest.fixture(scope="module", autouse=True)
def folder() -> Iterator[FolderTokenizer]:
    """Reading a folder starts a process of its own: here it is read once."""
    read = read_folder(str(STORY_MODEL), no_progress)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vllm, "read_folder", lambda name, progress: read)
        yield read


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Recorded, str]]:
    said = Recorded()
    with answering(said) as address:
        yield said, address


@pytest.fixture(scope="module")
def model(server: tuple[Recorded, str]) -> RemoteModel:
    return RemoteModel.connect(RemoteSpec(server[1], tokenizer=str(STORY_MODEL)))


@pytest.fixture
def lying(server: tuple[Recorded, str]) -> Iterator[dict[str, Change]]:
    yield server[0].changes
    server[0].changes.clear()


def test_it_says_what_it_is(
    model: RemoteModel, server: tuple[Recorded, str], local: LocalModel
) -> None:
    info = model.info
    assert info.served
    assert (info.name, info.served.kind, info.served.candidates) == ("story", "vLLM", CAP)
    assert info.served.version == server[0].version
    assert (info.context_length, info.parameters, info.has_chat_template) == (512, None, False)
    for name in ("vocab_size", "eos_ids", "newline_ids"):
        assert getattr(info, name) == getattr(local.info, name), name
    ids = [i for i in range(info.vocab_size) if i not in info.eos_ids]
    assert [model.token_text(i) for i in ids] == [local.token_text(i) for i in ids]


def test_a_run_is_that_of_this_process(model: RemoteModel, local: LocalModel) -> None:
    ours, theirs = (record(each, REQUEST) for each in (local, model))
    assert agree(ours, theirs) > 6


def tops(answer: Any) -> dict[str, float]:
    top: dict[str, float] = answer["choices"][0]["logprobs"]["top_logprobs"][0]
    return top


def with_top(change: Callable[[dict[str, float]], Any]) -> Change:
    def changed(answer: Any) -> Any:
        answer["choices"][0]["logprobs"]["top_logprobs"][0] = change(tops(answer))
        return answer

    return changed


LIES: dict[str, tuple[Change, str]] = {
    "no id": (with_top(lambda t: {" the": -1.0, **t}), "shows candidates without their ids"),
    "half an id": (with_top(lambda t: {"token_id:": -1.0, **t}), "without their ids"),
    "an id out of range": (with_top(lambda t: {"token_id:4096": -9.0, **t}), r"\[0, 4096\)"),
    "an endless id": (with_top(lambda t: {f"token_id:{'9' * 50}": -9.0}), "without their ids"),
    "too few": (with_top(lambda t: dict([*t.items()][:7])), "shows 7 candidates where 20"),
    "certain thrice": (with_top(lambda t: dict.fromkeys(t, 0.0)), "add up to 1, but is 20"),
    "a text": (with_top(lambda t: dict.fromkeys(t, "-1")), "numbers, but is a text"),
    "logits": (with_top(lambda t: {k: p + 9 for k, p in t.items()}), "at most 0, but is"),
    "a list": (with_top(lambda t: [*t]), "`top_logprobs` must be an object, but is a list"),
    "nothing": (with_top(lambda t: None), "`top_logprobs` must be an object, but is missing"),
    "no logprobs": (
        lambda a: a | {"choices": [a["choices"][0] | {"logprobs": None}]},
        "`logprobs` must be an object, but is missing",
    ),
    "another prompt's": (
        lambda a: a | {"choices": [a["choices"][0] | {"index": 1}]},
        r"`index` must be an integer in \[0, 0\]",
    ),
    "two for one": (lambda a: a | {"choices": a["choices"] * 2}, "a list of 1, but is one of 2"),
    "no object": (lambda a: [a], "/v1/completions must be an object, but is a list"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_at_a_step_is_named(lie: str, model: RemoteModel, lying: dict[str, Change]) -> None:
    change, words = LIES[lie]
    lying["/v1/completions"] = change
    with pytest.raises(ServerError, match=words) as error:
        record(model, REQUEST)
    assert len(str(error.value)) < 300


def test_another_model_at_the_same_address_is_noticed(
    model: RemoteModel, lying: dict[str, Change]
) -> None:
    def other(answer: Any) -> Any:
        answer["data"][0]["root"] = "elsewhere"
        return answer

    lying["/v1/models"] = other
    with pytest.raises(ServerError, match="no longer runs story: load it again"):
        record(model, REQUEST)


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        (
            "/tokenize",
            lambda a: a | {"tokens": [1]},
            "makes other tokens of 'Once upon",
        ),
        (
            "/detokenize",
            lambda a: a | {"prompt": "x"},
            r"other texts for 6\d of 64 tokens",
        ),
    ],
)
def test_another_tokenizer_is_refused(
    path: str, change: Change, words: str, server: tuple[Recorded, str], lying: dict[str, Change]
) -> None:
    lying[path] = change
    with pytest.raises(ModelError, match=words) as error:
        RemoteLoader().fetch(RemoteSpec(server[1], tokenizer=str(STORY_MODEL)), no_progress)
    assert "in story-model: that is not its model's" in str(error.value)


def test_logits_in_place_of_probabilities_are_refused() -> None:
    said = Recorded()
    said.answers |= said.logits
    with (
        answering(said) as address,
        pytest.raises(ServerError, match="shows logits in place of"),
    ):
        RemoteModel.connect(RemoteSpec(address, tokenizer=str(STORY_MODEL)))


def test_a_folder_tells_what_the_model_of_this_process_does(
    folder: FolderTokenizer, local: LocalModel
) -> None:
    assert (folder.name, folder.eos_ids) == ("story-model", local.info.eos_ids)
    assert folder.table.newline_ids() == local.info.newline_ids
    assert [*folder.samples] == [local.encode(text) for text in SAMPLES]


def test_a_folder_is_wanted_and_looked_at(
    server: tuple[Recorded, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm, "read_folder", read_folder)
    with pytest.raises(ServerError, match=r"tokenizer\.json too: --tokenizer FOLDER, or the field"):
        RemoteModel.connect(server[1])
    nowhere = RemoteSpec(server[1], tokenizer=str(tmp_path / "nowhere"))
    with pytest.raises(ModelError, match="nowhere is no folder"):
        RemoteModel.connect(nowhere)


@pytest.mark.parametrize("kind", sorted(set(tiny.TOKENIZER_OF.values())))
def test_each_token_of_a_tokenizer_is_told_from_those_of_another(kind: str) -> None:
    """vLLM's text of a token is what its tokenizer decodes."""
    tokenizer = tiny.fast_tokenizer(kind)
    table = TokenTexts(tokenizer).table()
    ids = range(len(tokenizer) + 20)
    assert all(_alike(table, i, str(tokenizer.decode([i]))) for i in ids)
    other = [_alike(table, i, str(tokenizer.decode([i + 1]))) for i in ids]
    assert sum(other) < len(other) / 2, "bytes that are no character look alike"

"""A tokenizer in another process says what it says in this one."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.models import tiny
from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.load import LoadStoppedError, no_progress
from xtc_viz.models.local.apart import Apart
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.local.tokens.detokenize import TokenTexts
from xtc_viz.models.tokentable import StreamDetokenizer

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", sorted(set(tiny.TOKENIZER_OF.values())))
def test_the_table_says_what_the_tokenizer_says(kind: str) -> None:
    texts = TokenTexts(tiny.fast_tokenizer(kind))
    table = texts.table()
    tokens = range(len(table.data) + 3)
    for token in tokens:
        assert table.text_of(token) == texts.text_of(token)
        assert table.is_special(token) == texts.is_special(token)
        if not table.is_special(token):
            assert table.bytes_of(token) == texts.bytes_of(token)
            assert table.first_bytes_of(token) == texts.first_bytes_of(token)
    assert table.newline_ids() == texts.newline_ids()
    streams = [StreamDetokenizer(each, [5, 6]) for each in (texts, table)]
    pieces = [[*map(stream.push, tokens), stream.flush()] for stream in streams]
    assert pieces[0] == pieces[1]


def test_prepared_is_as_read(tiny_folder: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_folder("gemma3"), tmp_path / "mine"))
    spec = LocalSpec(str(folder))
    here, other = LocalModel.load(spec), LocalModel.prepare(spec, folder, no_progress)(no_progress)
    assert here.info == other.info
    for text in ("Once upon a time", "", "ß\n\n<|turn_end|>"):
        assert here.encode(text) == other.encode(text)
        assert here.encode_chat(text, "Be kind.") == other.encode_chat(text, "Be kind.")
    ids = here.encode("Once upon")
    assert (here.start([ids]).logits[0] == other.start([ids]).logits[0]).all()
    view = other.tokenizer._apart.view
    assert view.is_dir()
    del other
    gc.collect()
    assert not view.exists()


def test_a_process_that_is_gone_comes_back(
    tiny_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_folder("llama")
    model = LocalModel.prepare(LocalSpec(str(folder)), folder, no_progress)(no_progress)
    ids = model.encode("Once upon")
    model.tokenizer._apart._pool.close()
    assert model.encode("Once upon") == ids
    with pytest.raises(PromptError, match="does not take this"):
        model.encode_chat("hello", "\ud800")


def test_checking_can_be_stopped(tiny_folder: Callable[[str], Path]) -> None:
    calls = 0

    def stopping(words: str, share: float | None) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise LoadStoppedError

    with pytest.raises(LoadStoppedError):
        Apart("mine").plan(tiny_folder("llama"), stopping)


@pytest.mark.parametrize("kind", ["gemma3", "gpt2"])
def test_a_tokenizer_without_its_model(
    kind: str, tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    texts = ("Once upon a time", "ß\n\n<|turn_end|>")
    folder = tiny_folder(kind)
    here = LocalModel.load(str(folder))
    for file in folder.glob("*.j*"):
        shutil.copy(file, tmp_path)
    facts = Apart("mine").folder(tmp_path, texts, no_progress)
    assert facts.eos_ids == here.info.eos_ids
    assert len(facts.eos_ids) == 2
    assert facts.table.newline_ids() == here.info.newline_ids
    assert [*facts.samples] == [here.encode(text) for text in texts]


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("tokenizer.json", None, "has no tokenizer: there is no tokenizer.json"),
        ("tokenizer.json", "{}", "tokenizer.json of mine is broken: it has no `model`"),
        ("generation_config.json", '{"eos_token_id": "2"}', "`eos_token_id` must be a token id"),
        ("config.json", "[", r"config\.json of mine is broken"),
        ("tokenizer.json", "link", "is a link out of its folder"),
    ],
)
def test_a_broken_folder_of_a_tokenizer(
    file: str, content: str | None, words: str, tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    mine = Path(shutil.copytree(tiny_folder("gpt2"), tmp_path / "mine"))
    (mine / file).unlink()
    if content == "link":
        (mine / file).symlink_to(tiny_folder("gpt2") / file)
    elif content is not None:
        (mine / file).write_text(content)
    with pytest.raises(ModelError, match=words):
        Apart("mine").folder(mine, ["a"], no_progress)

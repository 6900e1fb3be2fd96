"""The hub's real client against a small hub on this machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import huggingface_hub
import pytest

from tests.models import hub
from xtc_viz.errors import ModelError
from xtc_viz.models.local.folder.download import fetch, is_here
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec

Folder = Callable[[str], Path]


@pytest.fixture
def address(
    tiny_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """Point the hub's client to a hub of our own; yields the paths it asks for."""
    source = Path(shutil.copytree(tiny_folder("qwen3"), tmp_path / "source"))
    (source / "pytorch_model.bin").write_bytes(b"never fetched")
    (source / "own.py").write_text("raise SystemExit('never fetched')")
    (source / "original").mkdir()
    (source / "original" / "copy.safetensors").write_bytes(b"never fetched")
    with hub.serve(source) as (url, asked):
        hub.use(url, tmp_path / "cache", monkeypatch)
        yield asked


def test_a_hub_model_is_fetched_with_its_progress_and_read(address: list[str]) -> None:
    told: list[tuple[str, float | None]] = []
    model = LocalModel.load("tiny/qwen3", lambda *news: told.append(news))
    assert (model.info.name, model.info.revision) == ("tiny/qwen3", hub.COMMIT)
    assert model.start([[5, 6]]).logits.shape == (1, model.info.vocab_size)
    assert told[0] == ("looking for tiny/qwen3", None)
    shares = [share or 0.0 for words, share in told if words.startswith("downloading")]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    reading = [share for words, share in told if words == "reading tiny/qwen3"]
    assert reading[0] is None
    assert len(reading) > 10
    assert reading[1:] == sorted(share or 0.0 for share in reading[1:])
    assert not [path for path in address if path.endswith((".bin", ".py")) or "original" in path]


def test_a_fetched_model_needs_no_network(
    address: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fetch(LocalSpec("tiny/qwen3"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert fetch(LocalSpec("tiny/qwen3")) == folder


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("meta/gated", None, "meta/gated is gated: accept its licence .* HF_TOKEN"),
        ("no/where", None, "'no/where' was not found"),
        ("tiny/qwen3", "v9", "tiny/qwen3 has no revision 'v9'"),
        ("not a name", None, "'not a name' was not found"),
    ],
)
@pytest.mark.usefixtures("address")
def test_what_the_hub_refuses(name: str, revision: str | None, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fetch(LocalSpec(name, revision=revision))


def test_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="is not on this machine and the hub cannot be reached"):
        fetch(LocalSpec("tiny/qwen3"))


def test_a_fetch_ends_when_its_progress_says_so(address: list[str]) -> None:
    """What stops a download: an exception of the progress callback comes through as it is."""

    class EnoughError(Exception):
        pass

    def progress(words: str, share: float | None) -> None:
        if words.startswith("downloading"):
            raise EnoughError

    with pytest.raises(EnoughError):
        fetch(LocalSpec("tiny/qwen3"), progress)


def test_a_model_is_here_when_all_its_weights_are(address: list[str], tmp_path: Path) -> None:
    assert not is_here("tiny/qwen3")
    folder = fetch(LocalSpec("tiny/qwen3"))
    before = len(address)
    assert is_here("tiny/qwen3")
    assert len(address) == before, "nobody was asked"
    weights = folder / "model.safetensors"
    (folder / "model-1.safetensors").write_bytes(weights.read_bytes())
    weights.unlink()
    index = folder / "model.safetensors.index.json"
    names = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    index.write_text(json.dumps({"weight_map": names}))
    assert not is_here("tiny/qwen3"), "a download that was stopped half-way"
    index.write_text(json.dumps({"weight_map": {"a": "model-1.safetensors"}}))
    assert is_here("tiny/qwen3")

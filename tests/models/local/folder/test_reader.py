"""What can go wrong on the way to a model's weights, and what is said about it."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import Progress
from xtc_viz.models.local.folder.reader import is_out_of_memory
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.spec import ModelSpec
from xtc_viz.records.modelinfo import Placement

pytestmark = pytest.mark.slow

Folder = Callable[[str], Path]


@pytest.fixture
def copy(tiny_folder: Folder, tmp_path: Path) -> Path:
    """A tiny model of one's own, to break."""
    return Path(shutil.copytree(tiny_folder("llama"), tmp_path / "mine"))


def load(folder: Path, **options: Any) -> LocalModel:
    return LocalModel.load(LocalSpec(str(folder), **options))


def edit(folder: Path, file: str, **values: object) -> None:
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_folder_goes_by_its_own_name_only(copy: Path) -> None:
    info = load(copy).info
    assert (info.name, info.revision) == ("mine", "")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_dtype(copy: Path, dtype: str) -> None:
    model = load(copy, dtype=dtype)
    assert model.info.placement == Placement(dtype, "cpu")
    assert model.start([[5, 6]] * 2).advance([7, 8]).dtype == getattr(torch, dtype)


def test_auto_is_float32_on_the_cpu_whatever_the_weights_are_stored_in(copy: Path) -> None:
    edit(copy, "config.json", dtype="bfloat16")
    info = load(copy, device="cpu").info
    assert info.placement == Placement("float32", "cpu")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no folder"):
        load(tmp_path / "absent")


def test_not_a_model_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is no model folder: it has no config\.json"):
        load(tmp_path)


def test_not_a_causal_language_model(copy: Path) -> None:
    edit(copy, "config.json", architectures=["BertForMaskedLM"], model_type="bert")
    with pytest.raises(ModelError, match="mine is a BertForMaskedLM, not a causal"):
        load(copy)


def test_code_of_its_own(copy: Path) -> None:
    edit(
        copy,
        "config.json",
        model_type="own",
        auto_map={"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"},
    )
    (copy / "own.py").write_text("raise SystemExit('this must never run')")
    with pytest.raises(ModelError, match="needs code of its own to run, which is never loaded"):
        load(copy)


def test_pickled_weights_only(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    (copy / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    with pytest.raises(ModelError, match=r"pickled weights only \(pytorch_model.bin\)"):
        load(copy)


def test_no_weights(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="has no weights"):
        load(copy)


def test_a_shard_is_missing(copy: Path) -> None:
    shards = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    (copy / "model.safetensors").rename(copy / "model-1.safetensors")
    (copy / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    with pytest.raises(ModelError, match=r"model-2.safetensors is missing \(1 of 2 files\)"):
        load(copy)


def test_truncated_weights(copy: Path) -> None:
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="weights of mine are broken"):
        load(copy)


def test_weights_of_a_smaller_model_are_no_reason_for_random_numbers(copy: Path) -> None:
    edit(copy, "config.json", num_hidden_layers=3)
    with pytest.raises(ModelError, match=r"incomplete: there is no model.layers.2"):
        load(copy)


def test_a_broken_config(copy: Path) -> None:
    (copy / "config.json").write_text("{")
    with pytest.raises(ModelError, match="mine"):
        load(copy)


def test_a_broken_tokenizer(copy: Path) -> None:
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"tokenizer\.json of mine is broken: it has no `model`"):
        load(copy)


def test_out_of_memory_is_told_from_other_errors() -> None:
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(torch.OutOfMemoryError())
    assert not is_out_of_memory(RuntimeError("shape"))
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)


def test_a_load_can_be_stopped_between_two_weights(copy: Path) -> None:
    """And leaves nothing behind of the half-read model."""

    def models() -> int:
        gc.collect()
        return sum(type(thing).__name__ == "LlamaForCausalLM" for thing in gc.get_objects())

    class Stopping(LocalLoader):
        """Stops what it loads at half of the weights."""

        def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LocalModel]:
            def halfway(words: str, share: float | None) -> None:
                if share is not None and share > 0.5:
                    host.stop_load(*host.load_ids)
                progress(words, share)

            return super().fetch(spec, halfway)

    before = models()
    host = ModelHost(loader=Stopping())
    load = host.load_in_background(LocalSpec(str(copy)))
    assert load.wait(120)
    assert load.failure == "Loading mine was stopped."
    assert host.info is None
    assert models() == before
    assert LocalModel.load(LocalSpec(str(copy))).info.name == "mine"

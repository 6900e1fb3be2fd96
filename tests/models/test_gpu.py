"""Loading and decoding on a CUDA device; skipped where there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local import LocalModel
from xtc_viz.models.placement import resolve_device
from xtc_viz.models.spec import ModelSpec

pytestmark = pytest.mark.gpu
Folder = Callable[[str], Path]


@pytest.mark.parametrize("architecture", ["llama", "qwen3", "gemma3", "gpt2"])
def test_two_greedy_lanes_write_what_generate_writes(
    architecture: str, tiny_folder: Folder
) -> None:
    spec = ModelSpec(str(tiny_folder(architecture)), device="cuda", dtype="float32")
    model = LocalModel.load(spec)
    assert model.info.device.startswith("cuda")
    ids = model.encode("Lily saw a big bear")
    reference = model.model.generate(
        torch.tensor([ids], device="cuda"),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long, device="cuda"),
        do_sample=False,
        max_new_tokens=20,
        eos_token_id=[],
    )[0, len(ids) :].tolist()
    generation = model.start([ids, ids])
    written = [generation.logits.argmax(-1).tolist()]
    for _ in range(19):
        written.append(generation.advance(written[-1]).argmax(-1).tolist())
    assert [list(lane) for lane in zip(*written, strict=True)] == [reference, reference]


def test_auto_is_bfloat16(tiny_folder: Folder) -> None:
    info = LocalModel.load(str(tiny_folder("llama"))).info
    assert info.device.startswith("cuda")
    assert info.dtype == ("bfloat16" if torch.cuda.is_bf16_supported() else "float32")


def test_unloading_frees_the_gpu(tiny_folder: Folder) -> None:
    host = ModelHost()
    before = torch.cuda.memory_allocated()
    host.load(str(tiny_folder("llama")))
    assert torch.cuda.memory_allocated() > before
    host.unload()
    assert torch.cuda.memory_allocated() == before


def test_a_device_that_is_not_there() -> None:
    count = torch.cuda.device_count()
    with pytest.raises(ModelError, match=f"this machine has {count} CUDA devices"):
        resolve_device(f"cuda:{count}")

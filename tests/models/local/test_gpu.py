"""Loading and decoding on a CUDA device; skipped where there is none.

`test_static` replays the same steps on the CPU, from a tape instead of a graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from xtc_viz.decode import decode_lanes
from xtc_viz.errors import ModelError
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.placement import resolve_device
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.local.steps import fixed
from xtc_viz.models.local.steps.generation import LocalGeneration
from xtc_viz.models.local.steps.graph import CudaGraphs
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

pytestmark = pytest.mark.gpu
Folder = Callable[[str], Path]

each_architecture = pytest.mark.parametrize(
    "architecture", ["llama", "qwen3", "gemma3", "mistral", "olmo2", "gpt2"]
)
LANES = (LaneSettings(), LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.1))))


def load(folder: Path) -> LocalModel:
    """Load in float32, in which two ways of adding up agree to many digits."""
    return LocalModel.load(LocalSpec(str(folder), device="cuda", dtype="float32"))


@each_architecture
def test_two_greedy_lanes_write_what_generate_writes(
    architecture: str, tiny_folder: Folder
) -> None:
    model = load(tiny_folder(architecture))
    assert model.info.placement
    assert model.info.placement.device.startswith("cuda")
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


@each_architecture
@pytest.mark.parametrize("texts", [["Once upon a time"] * 2, ["Tom", "Tom and Lily saw"]])
def test_graphs_write_what_is_written_without(
    architecture: str, texts: list[str], tiny_folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixed, "ROOM", 8)
    monkeypatch.setattr(fixed, "ALIGNED", 8)
    model = load(tiny_folder(architecture))
    plain = LocalModel(model.model, model.tokenizer, model.info)
    prompts = [model.encode(text) for text in texts]
    ours, theirs = model.start(prompts), plain.start(prompts)
    for _ in range(40):
        tokens = theirs.logits.argmax(-1).tolist()
        torch.testing.assert_close(
            ours.advance(tokens), theirs.advance(tokens), rtol=1e-4, atol=1e-4
        )
    assert model.graphs is not None
    assert model.graphs.usable, "no graph could be recorded"
    assert isinstance(ours, LocalGeneration)
    assert ours._fixed is not None
    assert ours._fixed._replay is not None


@pytest.mark.parametrize("with_graphs", [True, False])
def test_a_step_makes_the_host_wait_once(
    with_graphs: bool, tiny_folder: Folder, said: list[warnings.WarningMessage]
) -> None:
    model = load(tiny_folder("llama"))
    if not with_graphs:
        model = LocalModel(model.model, model.tokenizer, model.info)
    columns = decode_lanes(model, [5, 6, 7], RunSettings(lanes=LANES, max_new_tokens=20))
    for _ in range(4):  # prefill, a warm-up, the recording, a first replay
        next(columns)
    assert [waits(said, columns) for _ in range(5)] == [1] * 5
    columns.close()


@pytest.fixture
def said() -> Iterator[list[warnings.WarningMessage]]:
    """Collect what torch says whenever it makes the host wait for the device."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        yield said
        torch.cuda.set_sync_debug_mode("default")


def waits(said: list[warnings.WarningMessage], columns: Iterator[object]) -> int:
    """How often the host waits during the next step."""
    said.clear()
    next(columns)
    return sum("synchroniz" in str(warning.message) for warning in said)


def test_a_closed_generation_frees_its_memory(tiny_folder: Folder) -> None:
    model = load(tiny_folder("llama"))

    def decode() -> int:
        generation = model.start([[5, 6, 7]] * 2)
        for _ in range(5):
            generation.advance([8, 9])
        held = torch.cuda.memory_allocated()
        generation.close()
        return held

    decode()  # leaves the workspaces of the libraries behind
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    assert decode() > before
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before


def test_what_cannot_be_recorded_runs_as_it_is(tiny_folder: Folder) -> None:
    model = load(tiny_folder("llama"))
    plain = LocalModel(model.model, model.tokenizer, model.info)

    def look(module: object, args: tuple[torch.Tensor]) -> None:
        args[0].sum().item()

    hook = model.model.model.norm.register_forward_pre_hook(look)
    try:
        ours, theirs = model.start([[5, 6, 7]]), plain.start([[5, 6, 7]])
        stream = torch.cuda.current_stream()
        for token in range(10, 20):
            torch.testing.assert_close(
                ours.advance([token]), theirs.advance([token]), rtol=1e-4, atol=1e-4
            )
    finally:
        hook.remove()
    assert isinstance(model.graphs, CudaGraphs)
    assert not model.graphs.usable
    assert torch.cuda.current_stream() == stream


def test_auto_is_bfloat16(tiny_folder: Folder) -> None:
    info = LocalModel.load(str(tiny_folder("llama"))).info
    assert info.placement
    assert info.placement.device.startswith("cuda")
    assert info.placement.dtype == ("bfloat16" if torch.cuda.is_bf16_supported() else "float32")


def test_resting_frees_the_gpu(tiny_folder: Folder) -> None:
    host = ModelHost(loader=LocalLoader())
    before = torch.cuda.memory_allocated()
    host.load(LocalSpec(str(tiny_folder("llama"))))
    assert torch.cuda.memory_allocated() > before
    host.rest()
    assert torch.cuda.memory_allocated() == before


def test_a_device_that_is_not_there() -> None:
    count = torch.cuda.device_count()
    with pytest.raises(ModelError, match=f"this machine has {count} CUDA devices"):
        resolve_device(f"cuda:{count}")

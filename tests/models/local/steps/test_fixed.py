"""Steps over fixed buffers, recorded and replayed, against the way all other decodes go."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

from tests.models import tiny
from tests.models.tape import HostTape, RefusingGraphs, Tape, TapeGraphs
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps import fixed
from xtc_viz.models.local.steps.cache import new_cache
from xtc_viz.models.local.steps.fixed import ROOM, FixedStep, Graphs, can_be_fixed
from xtc_viz.models.local.steps.forward import forward

pytestmark = pytest.mark.slow

Load = Callable[[str], LocalModel]
TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}

each_architecture = pytest.mark.parametrize("architecture", tiny.CONFIGS)
each_way = pytest.mark.parametrize("kind", [TapeGraphs, RefusingGraphs])
PROMPTS = {
    "one lane": ["Once upon a time"],
    "equal prompts": ["Lily saw a big bear"] * 2,
    "different lengths": ["Tom", "Tom and Lily saw a big bear in the", "Once"],
}


def recording(model: LocalModel, graphs: Graphs) -> LocalModel:
    return LocalModel(model.model, model.tokenizer, model.info, graphs)


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the buffers grow every eight steps."""
    monkeypatch.setattr(fixed, "ROOM", 1)
    monkeypatch.setattr(fixed, "ALIGNED", 8)


@each_architecture
@each_way
@pytest.mark.parametrize("texts", PROMPTS.values(), ids=PROMPTS)
@pytest.mark.usefixtures("little_room")
def test_writes_what_other_decodes_write(
    architecture: str, kind: type[Any], texts: list[str], load: Load
) -> None:
    model = load(architecture)
    prompts = [model.encode(text) for text in texts]
    ours, theirs = recording(model, kind()).start(prompts), model.start(prompts)
    assert torch.equal(ours.logits, theirs.logits), "the prefill is the same one"
    for _ in range(40):
        tokens = theirs.logits.argmax(-1).tolist()
        assert ours.logits.argmax(-1).tolist() == tokens
        torch.testing.assert_close(ours.advance(tokens), theirs.advance(tokens), **TOLERANCE)


@each_architecture
@pytest.mark.usefixtures("little_room")
def test_a_lane_that_is_full_rides_along(architecture: str, load: Load) -> None:
    model, short = load(architecture), [5, 6, 7]
    together = recording(model, TapeGraphs()).start([[5] * 94, short])
    alone = model.start([short])
    for token in range(10, 30):
        both, single = together.advance([5, token]), alone.advance([token])
        torch.testing.assert_close(both[1:], single, **TOLERANCE)


def test_one_step_warms_up_and_the_next_is_recorded(load: Load) -> None:
    graphs = TapeGraphs()
    generation = recording(load("llama"), graphs).start([[5, 6]] * 2)
    assert graphs.warmed == 0, "a run of one token records nothing"
    for _ in range(10):
        generation.advance([7, 8])
    assert (graphs.warmed, graphs.recorded, graphs.replayed) == (1, 1, 9)


@pytest.mark.usefixtures("little_room")
def test_larger_buffers_are_recorded_anew(load: Load) -> None:
    graphs = TapeGraphs()
    generation = recording(load("llama"), graphs).start([[5] * 7])
    for _ in range(17):  # columns 7; 8 to 15; 16 to 23
        generation.advance([7])
    assert (graphs.warmed, graphs.recorded) == (3, 2)


def test_there_is_room_for_a_usual_run(load: Load) -> None:
    generation = recording(load("llama"), TapeGraphs()).start([[5] * 30])
    generation.advance([7])
    keys = cache_of(generation).layers[0].keys
    assert 30 + ROOM <= keys.shape[2] < 30 + ROOM + fixed.ALIGNED


def test_logits_of_a_step_are_not_overwritten_by_the_next(load: Load) -> None:
    generation = recording(load("llama"), TapeGraphs()).start([[5, 6]])
    steps = [generation.advance([i]) for i in range(7, 12)]
    copies = [step.clone() for step in steps]
    generation.advance([12])
    assert all(map(torch.equal, steps, copies))
    assert not torch.equal(steps[-1], steps[-2])


def test_what_cannot_be_recorded_is_not_tried_again(load: Load) -> None:
    graphs = RefusingGraphs()
    model = recording(load("llama"), graphs)
    first = model.start([[5, 6]])
    for _ in range(5):
        first.advance([7])
    assert graphs.asked == 4
    second = model.start([[5, 6]])
    for _ in range(5):
        second.advance([7])
    assert graphs.asked == 4
    torch.testing.assert_close(first.logits, second.logits, **TOLERANCE)


def test_a_closed_generation_holds_no_memory(load: Load) -> None:
    generation = recording(load("llama"), TapeGraphs()).start([[5, 6]])
    for _ in range(3):
        generation.advance([7])
    keys = weakref.ref(cache_of(generation).layers[0].keys)
    assert keys() is not None
    generation.close()
    assert keys() is None
    with pytest.raises(RuntimeError, match="closed"):
        generation.advance([5])


def test_a_tape_refuses_to_look_at_a_value() -> None:
    """What makes the tests above worth something."""
    x = torch.arange(4.0)
    for look in (lambda: x.sum().item(), lambda: bool((x > 1).all()), lambda: x[x > 1]):
        with pytest.raises(RuntimeError, match="while a step is recorded"), Tape():
            look()


@each_architecture
def test_a_recorded_step_touches_nothing_in_the_host_s_memory(architecture: str) -> None:
    """On the device `meta`, whose tensors have no values at all."""
    kind, sizes = tiny.CONFIGS[architecture]
    config = kind(vocab_size=64, pad_token_id=None, **sizes)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config).eval()
        ids, positions = torch.zeros(2, 12, dtype=torch.int64), torch.arange(12)[None]
    cache, tape = new_cache(config), HostTape()
    with torch.inference_mode():
        forward(model, ids, None, positions, cache)
        step = FixedStep(model, cache, [0, 3], 12, 96, RefusingGraphs())
        assert step([5, 6]).device.type == "meta"
        with tape:
            step._step()
    assert len(tape.operations) > 20
    assert tape.on_host == []


def cache_of(generation: Any) -> Any:
    return generation._cache


# --- which models -----------------------------------------------------------------------------


@each_architecture
def test_the_catalog_s_architectures_can_be_fixed(architecture: str, load: Load) -> None:
    assert can_be_fixed(load(architecture).model)


def tiny_model(kind: str = "llama", **values: Any) -> Any:
    config = AutoConfig.for_model(kind, vocab_size=32, **tiny.SIZES, **values)
    return AutoModelForCausalLM.from_config(config)


def test_a_rotary_embedding_that_looks_at_the_length_is_not() -> None:
    rope = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}
    assert not can_be_fixed(tiny_model(rope_parameters=rope))
    rope = {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}
    assert can_be_fixed(tiny_model(rope_parameters=rope))


def test_layers_that_keep_something_else_are_not() -> None:
    assert not can_be_fixed(tiny_model("lfm2", layer_types=["conv", "full_attention"]))
    assert not can_be_fixed(tiny_model("llama4_text", layer_types=["chunked_attention"] * 2))


def test_quantized_or_moving_weights_and_other_attention_are_not() -> None:
    quantized, moving, flash = tiny_model(), tiny_model(), tiny_model()
    quantized.hf_quantizer = object()
    moving.model.layers[0]._hf_hook = nn.Identity()
    flash.config._attn_implementation_internal = "flash_attention_2"
    assert not any(map(can_be_fixed, (quantized, moving, flash)))

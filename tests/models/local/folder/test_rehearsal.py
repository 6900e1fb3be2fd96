"""A load without its weights: what it counts, what it chooses for models of images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, PreTrainedModel

from tests.models import tiny
from xtc_viz.errors import ModelError
from xtc_viz.models.catalog import Precision
from xtc_viz.models.local.folder.files import make_view
from xtc_viz.models.local.folder.rehearsal import AUTO, Plan, plan_load
from xtc_viz.models.local.model import LocalModel

pytestmark = pytest.mark.slow

TEXT = {k: v for k, v in tiny.SIZES.items() if k != "head_dim"} | {
    "vocab_size": 450,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 2,
}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 16,
    "patch_size": 8,
}
TURNED = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}


def plan(folder: Path, view: Path) -> Plan:
    return plan_load(make_view(folder, view, "mine"), view, "mine")


def test_it_counts_what_will_be_in_memory(
    tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    counts = plan(tiny_folder("llama"), tmp_path)
    layer = 32 * 32 + 2 * 16 * 32 + 32 * 32 + 3 * 32 * 64
    assert counts.linear == 2 * layer
    model = LocalModel.load(str(tiny_folder("llama"))).model
    buffers = sum(buffer.numel() for buffer in model.buffers())
    assert counts.linear + counts.others == model.num_parameters() + buffers
    assert counts.bytes_as(Precision.FLOAT32) == 4 * (model.num_parameters() + buffers)


@pytest.mark.parametrize("architecture", tiny.CONFIGS)
def test_every_honest_model_passes(
    tiny_folder: Callable[[str], Path], tmp_path: Path, architecture: str
) -> None:
    assert plan(tiny_folder(architecture), tmp_path).size > 100_000


def composite(kind: str, text: dict[str, Any], vision: dict[str, Any]) -> Any:
    return AutoConfig.for_model(
        kind, text_config=TEXT | text, vision_config=vision, image_token_id=440
    )


IMAGES: dict[str, tuple[Callable[[], Any], str]] = {
    "llava": (
        lambda: composite(
            "llava",
            {"model_type": "llama"},
            VISION | {"model_type": "clip_vision_model", "projection_dim": 16},
        ),
        "LlamaForCausalLM",
    ),
    "idefics3": (
        lambda: composite(
            "idefics3", {"model_type": "llama"}, VISION | {"model_type": "idefics3_vision"}
        ),
        "LlamaForCausalLM",
    ),
    "mistral3": (
        lambda: composite(
            "mistral3",
            {"model_type": "mistral"},
            VISION | {"model_type": "pixtral", "head_dim": 8},
        ),
        "Mistral3ForConditionalGeneration",
    ),
    "gemma3": (
        lambda: AutoConfig.for_model(
            "gemma3",
            text_config=TEXT | {"model_type": "gemma3_text", "head_dim": 8},
            vision_config=VISION | {"model_type": "siglip_vision_model"},
            mm_tokens_per_image=4,
            image_token_index=440,
        ),
        "Gemma3ForConditionalGeneration",
    ),
    "qwen2_5_vl": (
        lambda: composite(
            "qwen2_5_vl",
            {"model_type": "qwen2_5_vl_text", "rope_parameters": TURNED},
            {
                "depth": 1,
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_heads": 4,
                "patch_size": 8,
                "out_hidden_size": 32,
                "fullatt_block_indexes": [0],
            },
        ),
        "Qwen2_5_VLForConditionalGeneration",
    ),
}


def saved(config: Any, folder: Path) -> PreTrainedModel:
    """Save a random model of images with a tokenizer, and return it."""
    torch.manual_seed(1)
    mappings = [auto._model_mapping for auto in AUTO[1:]]
    kinds: list[Any] = [mapping[type(config)] for mapping in mappings if type(config) in mapping]
    model: PreTrainedModel = kinds[0](config).eval()
    model.save_pretrained(folder)
    tiny.fast_tokenizer("bytelevel").save_pretrained(folder)
    return model


@pytest.mark.parametrize("kind", IMAGES)
def test_a_model_of_images_writes_text(tmp_path: Path, kind: str) -> None:
    """As its own class does when it is given text alone."""
    make, loaded_as = IMAGES[kind]
    whole = saved(make(), tmp_path / kind)
    model = LocalModel.load(str(tmp_path / kind))
    assert type(model.model).__name__ == loaded_as
    ids = [5, 6, 7, 8, 9, 10]
    with torch.no_grad():
        expected = whole(input_ids=torch.tensor([ids])).logits[0, -1].softmax(-1)
    generation = model.start([ids[:4], ids[:4]])
    generation.advance([9, 9])
    logits: Any = generation.advance([10, 10])
    torch.testing.assert_close(logits[1].softmax(-1), expected, atol=2e-6, rtol=0)


def test_what_cannot_write_without_an_image(tmp_path: Path) -> None:
    saved(AutoConfig.for_model("blip", text_config=TEXT, vision_config=VISION), tmp_path / "blip")
    with pytest.raises(ModelError, match="writes about an image or a sound only"):
        LocalModel.load(str(tmp_path / "blip"))


def test_what_translates_does_not_continue(
    tiny_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    config = AutoConfig.for_model("t5", vocab_size=450, d_model=32, d_ff=32, num_layers=1)
    folder = tmp_path / "t5"
    config.architectures = ["T5ForConditionalGeneration"]
    config.save_pretrained(folder)
    weights = tiny_folder("llama") / "model.safetensors"
    (folder / weights.name).write_bytes(weights.read_bytes())
    with pytest.raises(ModelError, match="t5 is a T5ForConditionalGeneration, which translates"):
        LocalModel.load(str(folder))

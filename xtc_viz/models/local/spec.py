"""A model of this process: what is asked for beside its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xtc_viz.models.spec import ModelSpec

QUANTIZATIONS = ("none", "8bit", "4bit")
ATTENTIONS = ("auto", "sdpa", "eager", "flash_attention_2")


@dataclass(frozen=True, slots=True)
class LocalSpec(ModelSpec):
    """What to load into this process and how: `name` is a hub id or a folder.

    `device` is `auto`, `cpu`, `cuda` or `cuda:1`; `dtype` is `auto`, `float32`, `bfloat16` or
    `float16`, where auto is bfloat16 on a GPU that has it and float32 on the CPU.
    `quantization` is `none`, `8bit` or `4bit` (with bitsandbytes), `attention` the implementation
    in transformers, `auto` being its own choice. `max_memory` limits what each device may hold,
    such as `{"0": "20GiB", "cpu": "60GiB"}`, and spreads the model over the devices named.
    """

    device: str = "auto"
    dtype: str = "auto"
    quantization: str = "none"
    attention: str = "auto"
    max_memory: dict[str, str] | None = None

    @property
    def is_folder(self) -> bool:
        return Path(self.name).is_dir()

    @property
    def is_path(self) -> bool:
        """Whether it names a folder and no hub id, be that folder there or not (any more)."""
        path = Path(self.name)
        named = path.is_absolute() or self.name.startswith((".", "~")) or len(path.parts) > 2
        return named or self.is_folder

    @property
    def short_name(self) -> str:
        """The hub id, or a folder's own name: where it lies is nobody's business in a trace, nor
        for those who are told that it is gone."""
        return Path(self.name).resolve().name if self.is_path else self.name

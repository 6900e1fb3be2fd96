"""A model's name, and everything that can go wrong on the way to its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

# Called with a text for people and the share that is done, in [0, 1], or None if unknown.
Progress = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What to load and how: `name` is a hub id or a folder.

    `device` is `auto`, `cpu`, `cuda` or `cuda:1`; `dtype` is `auto`, `float32`, `bfloat16` or
    `float16`, where auto is bfloat16 on a GPU that has it and float32 on the CPU.
    """

    name: str
    revision: str | None = None
    device: str = "auto"
    dtype: str = "auto"

    @property
    def is_folder(self) -> bool:
        return Path(self.name).is_dir()

    @property
    def short_name(self) -> str:
        """The hub id, or a folder's own name: where it lies is nobody's business in a trace."""
        return Path(self.name).resolve().name if self.is_folder else self.name


def load_parts(spec: ModelSpec, progress: Progress | None = None) -> tuple[Any, Any]:
    """Return the model, in evaluation mode on its device, and the tokenizer."""
    device = resolve_device(spec.device)
    dtype = resolve_dtype(spec.dtype, device)
    tokenizer = AutoTokenizer.from_pretrained(spec.name, revision=spec.revision)
    model: Any = AutoModelForCausalLM.from_pretrained(
        spec.name, revision=spec.revision, dtype=dtype, use_safetensors=True
    )
    return model.to(device).eval(), tokenizer


def resolve_device(device: str) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)


def resolve_dtype(dtype: str, device: torch.device) -> torch.dtype:
    if dtype != "auto":
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[
            dtype
        ]
    if device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return torch.float32

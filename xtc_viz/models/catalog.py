"""The models that people try XTC on: facts as data, memory as arithmetic on them.

`catalog.json` holds what the models' cards and configs say: licence, whether the hub asks for
consent first (`gated`, null where that is not known), base or chat, whether it reasons in a
`<think>` prefix, and the figures of its config. Everything else is computed here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Precision(StrEnum):
    """How weights are held in memory."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT8 = "8bit"
    INT4 = "4bit"

    @property
    def quantized(self) -> bool:
        return self in (Precision.INT8, Precision.INT4)


class Fit(StrEnum):
    """Whether a run has room; `tight`: only once what uses the memory now has left it."""

    FITS = "fits"
    TIGHT = "tight"
    NO = "no"


class Machine(NamedTuple):
    """What models run on: bytes of all of its memory, and of what nobody uses now.

    `gpus` names the GPUs whose memory it is; without one it is the main memory.
    """

    gpus: tuple[str, ...]
    memory: int
    free: int


# Bytes per weight of the linear layers, and per weight of all others, which quantization leaves
# in 16 bits. 4 bits are NF4 in blocks of 64 whose scales are quantized too; 8 bits have one
# float32 scale per row, which is counted as nothing.
BYTES = {
    Precision.FLOAT32: (4.0, 4.0),
    Precision.BFLOAT16: (2.0, 2.0),
    Precision.INT8: (1.0, 2.0),
    Precision.INT4: (0.5 + 1 / 64 + 4 / (64 * 256), 2.0),
}
# What activations, logits and the allocator's rounding take beside weights and cache.
OVERHEAD = 1.1


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """One model of the catalog; `other` counts parameters beside the text model (vision)."""

    id: str
    architecture: str
    licence: str
    gated: bool | None
    kind: str
    reasoning: str
    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    tied: bool
    other: int = 0

    @property
    def linear_parameters(self) -> int:
        """The weights of the layers' matrices, which is what quantization shrinks."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.inner)

    @property
    def parameters(self) -> int:
        """All weights, as transformers counts them."""
        embeddings = self.vocab * self.hidden * (1 if self.tied else 2)
        small = {
            "qwen2": 2 * self.hidden + self.head_dim * (self.heads + 2 * self.kv_heads),
            "qwen3": 2 * self.hidden + 2 * self.head_dim,
            "olmo2": 2 * self.hidden + self.head_dim * (self.heads + self.kv_heads),
            "gemma3": 4 * self.hidden + 2 * self.head_dim,
        }.get(self.architecture, 2 * self.hidden)
        text = embeddings + self.linear_parameters + self.layers * small + self.hidden
        return text + self.other

    def weight_bytes(self, precision: Precision) -> int:
        """Return the memory of the weights."""
        linear, others = BYTES[precision]
        rest = self.parameters - self.linear_parameters
        return round(self.linear_parameters * linear + rest * others)

    def cache_bytes(self, tokens: int, precision: Precision = Precision.BFLOAT16) -> int:
        """Return the memory of keys and values for `tokens`, of all lanes together.

        Layers with a sliding window need less; they are counted as if they did not.
        """
        width = 4 if precision is Precision.FLOAT32 else 2
        return 2 * self.layers * self.kv_heads * self.head_dim * tokens * width

    def memory_bytes(self, precision: Precision, tokens: int = 4096) -> int:
        """Return what a run needs: weights, the cache of `tokens` tokens, and the overhead."""
        need = self.weight_bytes(precision) + self.cache_bytes(tokens, precision)
        return round(need * OVERHEAD)

    def fits(self, memory_bytes: int, precision: Precision, tokens: int = 4096) -> bool:
        """Whether a run needs at most `memory_bytes`."""
        return self.memory_bytes(precision, tokens) <= memory_bytes

    def fit(self, machine: Machine, precision: Precision) -> Fit:
        """Return whether a run has room on this machine now."""
        need = self.memory_bytes(precision)
        if need > machine.memory:
            return Fit.NO
        return Fit.FITS if need <= machine.free else Fit.TIGHT

    def widest_fit(self, memory_bytes: int, *, gpu: bool) -> Precision | None:
        """Return the most exact precision that fits, or None.

        A GPU begins at bfloat16; a CPU runs float32 where it can, and is not offered the
        quantized forms, whose kernels are made for GPUs.
        """
        order = (
            (Precision.BFLOAT16, Precision.INT8, Precision.INT4)
            if gpu
            else (Precision.FLOAT32, Precision.BFLOAT16)
        )
        return next((p for p in order if self.fits(memory_bytes, p)), None)


@cache
def catalog() -> tuple[CatalogModel, ...]:
    """Return all models, the smallest first."""
    text = files("xtc_viz.models").joinpath("catalog.json").read_text(encoding="utf-8")
    models = [CatalogModel(**entry) for entry in json.loads(text)]
    return tuple(sorted(models, key=lambda model: (model.parameters, model.id)))

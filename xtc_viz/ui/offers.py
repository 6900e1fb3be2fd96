"""The models to choose from: each with what it needs, and whether this machine has it now."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch

from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import SettingsError
from xtc_viz.models.catalog import CatalogModel, Fit, Machine, Precision, catalog
from xtc_viz.models.local.folder.download import is_here
from xtc_viz.models.local.folder.memory import readable, this_machine
from xtc_viz.models.local.spec import ATTENTIONS

AUTO = "auto"
PRECISION_LABELS = {
    Precision.FLOAT32: "32 bits",
    Precision.BFLOAT16: "16 bits",
    Precision.INT8: "8 bits",
    Precision.INT4: "4 bits",
}


@cache
def embedded() -> CatalogModel:
    """The story model of this repository, as an entry of the catalog."""
    config: dict[str, Any] = json.loads((STORY_MODEL / "config.json").read_text(encoding="utf-8"))
    return CatalogModel(
        id=STORY_MODEL.name,
        architecture=config["model_type"],
        licence="apache-2.0",
        gated=False,
        kind="base",
        reasoning="none",
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        inner=config["intermediate_size"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_dim=config["head_dim"],
        vocab=config["vocab_size"],
        tied=config["tie_word_embeddings"],
    )


def devices() -> list[str]:
    """Return what a model may be put on here."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [AUTO, "cpu", *(f"cuda:{i}" for i in range(count))]


def choices() -> dict[str, list[list[str]]]:
    """Return what can be chosen beside a model's name: by field, pairs of a value and words."""
    precisions = [p for p in Precision if can_quantize() or not p.quantized]
    return {
        "precision": [[AUTO, "automatic"], *([str(p), PRECISION_LABELS[p]] for p in precisions)],
        "device": [[name, "automatic" if name == AUTO else name] for name in devices()],
        "attention": [[name, "automatic" if name == AUTO else name] for name in ATTENTIONS],
    }


def can_quantize() -> bool:
    """Whether 8 and 4 bits can be had here."""
    return find_spec("bitsandbytes") is not None


def entries(precision: object = AUTO, device: object = AUTO) -> dict[str, Any]:
    """Return every model with the memory that it needs, and whether this machine has that.

    What does not fit in the precision that suits the device is offered in the widest that does.
    """
    machine = this_machine(one_of("device", device, devices()))
    chosen = precision_of(precision)
    return {
        "machine": {
            "gpus": machine.gpus,
            "memory": readable(machine.memory),
            "free": readable(machine.free),
        },
        "models": [_entry(embedded(), chosen, machine, "part of xtc_viz")]
        + [
            _entry(model, chosen, machine, "on this machine" if is_here(model.id) else "")
            for model in catalog()
        ],
    }


def _entry(
    model: CatalogModel, chosen: Precision | None, machine: Machine, here: str
) -> dict[str, Any]:
    suits = Precision.BFLOAT16 if machine.gpus else Precision.FLOAT32
    precision = chosen or suits
    if chosen is None and model.fit(machine, suits) is Fit.NO:
        widest = model.widest_fit(machine.memory, gpu=bool(machine.gpus))
        if widest and (can_quantize() or not widest.quantized):
            precision = widest
    other = chosen is None and precision is not suits
    return {
        "precision": str(precision) if other else None,
        "held": PRECISION_LABELS[precision] if other else "",
        "id": model.id,
        "parameters": model.parameters,
        "kind": model.kind,
        "reasoning": model.reasoning,
        "licence": model.licence,
        "gated": model.gated,
        "need": readable(model.memory_bytes(precision)),
        "fit": str(model.fit(machine, precision)),
        "here": here,
    }


def precision_of(value: object) -> Precision | None:
    """Return a precision, None for the one that suits the device."""
    name = one_of("precision", value, [AUTO, *Precision])
    return None if name == AUTO else Precision(name)


def one_of(name: str, value: object, choices: Collection[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise SettingsError(name, f"one of {', '.join(choices)}", value)
    return value

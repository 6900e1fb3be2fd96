"""Where a model's weights go and in which form: device, dtype, quantization, attention."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch
from transformers import BitsAndBytesConfig

from xtc_viz.errors import ModelError
from xtc_viz.models.local.spec import ATTENTIONS, QUANTIZATIONS, LocalSpec

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def resolve_device(device: str) -> torch.device:
    """Return the device for a setting, `auto` being the GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
    except RuntimeError:
        resolved = None
    if resolved is None or resolved.type not in ("cpu", "cuda"):
        raise ModelError(f"`device` must be auto, cpu, cuda or cuda:N, but is {device!r}")
    if resolved.type == "cuda" and not torch.cuda.is_available():
        raise ModelError(f"`device` is {device!r}, but this machine has no CUDA device.")
    count = torch.cuda.device_count()
    if resolved.type == "cuda" and (resolved.index or 0) >= count:
        raise ModelError(f"`device` is {device!r}, but this machine has {count} CUDA devices.")
    return resolved


def resolve_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """Return the torch dtype for a setting.

    `auto` is bfloat16 on a GPU that has it. On the CPU it is float32: there two lanes in bfloat16
    are no faster, and on the story model its eligible set at τ = 0.1 was another one at 2 % of
    the steps (float16: 0.3 %).
    """
    if dtype in DTYPES:
        return DTYPES[dtype]
    if dtype != "auto":
        raise ModelError(f"`dtype` must be one of auto, {', '.join(DTYPES)}, but is {dtype!r}")
    if device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return torch.float32


def options(spec: LocalSpec, device: torch.device, dtype: torch.dtype) -> dict[str, Any]:
    """Return what `from_pretrained` needs to put the model where `spec` wants it.

    One device where it can be one. A model is spread over all GPUs, and over main memory where
    `max_memory` admits it, when there are several GPUs to choose from or `max_memory` is given.
    """
    arguments: dict[str, Any] = {"dtype": dtype}
    many = spec.device == "auto" and device.type == "cuda" and torch.cuda.device_count() > 1
    if spec.max_memory is not None or many:
        arguments["device_map"] = "auto"
        if spec.max_memory is not None:
            arguments["max_memory"] = _memory_limits(spec.max_memory)
    elif device.type != "cpu" or spec.quantization != "none":
        # Straight to the device, without a copy in main memory first.
        arguments["device_map"] = {"": device}
    if spec.quantization != "none":
        arguments["quantization_config"] = _quantization(spec.quantization, dtype)
    if spec.attention not in ATTENTIONS:
        known = ", ".join(ATTENTIONS)
        raise ModelError(f"`attention` must be one of {known}, but is {spec.attention!r}")
    if spec.attention != "auto":
        arguments["attn_implementation"] = spec.attention
    return arguments


def spread_of(model: Any) -> list[str]:
    """Return where accelerate put a model's parts, such as `0`, `cpu` or `disk`, in order."""
    places = getattr(model, "hf_device_map", None) or {"": model.device}
    return list(dict.fromkeys(map(str, places.values())))


def devices_of(model: Any) -> tuple[torch.device, ...]:
    """Return the devices that compute, that of the embedding first."""
    places = spread_of(model)
    # Weights that wait in main memory are computed with on a GPU, if there is one.
    gpus = [p for p in places if p.isdecimal() or p.startswith("cuda")]
    return tuple(torch.device(f"cuda:{p}" if p.isdecimal() else p) for p in gpus or ["cpu"])


def _quantization(kind: str, dtype: torch.dtype) -> BitsAndBytesConfig:
    if kind not in QUANTIZATIONS:
        known = ", ".join(QUANTIZATIONS)
        raise ModelError(f"`quantization` must be one of {known}, but is {kind!r}")
    if find_spec("bitsandbytes") is None:
        raise ModelError(
            f"`quantization` {kind} needs the package bitsandbytes, which is not installed: "
            "pip install bitsandbytes"
        )
    if kind == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)  # type: ignore[no-untyped-call]
    return BitsAndBytesConfig(  # type: ignore[no-untyped-call]
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )


def _memory_limits(limits: dict[str, str]) -> dict[int | str, str]:
    """Return the limits as accelerate wants them: GPUs by number, main memory as `cpu`."""
    for device in limits:
        if device != "cpu" and not device.isdecimal():
            raise ModelError(
                "`max_memory` must name GPUs by number and main memory as cpu, but names "
                f"{device!r}"
            )
    return {int(d) if d.isdecimal() else d: size for d, size in limits.items()}

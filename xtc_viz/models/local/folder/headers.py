"""What the head of a safetensors file says of its tensors, held against the file itself.

The format: 8 bytes with the length of the head, the head as JSON, the data. Read here and not by
the package safetensors, as nothing of a stranger's file may be mapped or believed before it is
known what it claims.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from xtc_viz.errors import ModelError, shown
from xtc_viz.models.local.folder.jsonfile import parsed

MAX_HEAD = 32 << 20  # bytes; the head of the largest models has a tenth of it
MAX_DIMENSIONS = 8

# Bits per value, as the format names its types.
BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
    **dict.fromkeys(("F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}


class TensorHead(NamedTuple):
    """One tensor: its type as the format names it, its shape, its bytes in the file."""

    dtype: str
    shape: tuple[int, ...]
    size: int


def tensor_heads(file: Path, name: str) -> dict[str, TensorHead]:
    """Return the tensors of a safetensors file by their names.

    `name` is the model's. Raises `ModelError` for a head that is broken, or that claims what the
    file does not have.
    """
    broken = f"The weights of {name} are broken: {file.name}"
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > size - 8:
            raise ModelError(f"{broken} ends within its head, at {size:,} bytes.")
        if length > MAX_HEAD:
            raise ModelError(f"{broken} has a head of {length:,} bytes (at most {MAX_HEAD:,}).")
        head = parsed(stream.read(length), f"The head of {file.name} of {name}")
    room = size - 8 - length
    tensors = {}
    for key, entry in head.items():
        if key != "__metadata__":
            tensors[key] = _tensor(key, entry, room, broken)
    return tensors


def _tensor(key: str, entry: Any, room: int, broken: str) -> TensorHead:
    place = f"{broken}, at {shown(key)}:"
    fields: dict[str, Any] = entry if isinstance(entry, dict) else {}
    dtype: Any = fields.get("dtype")
    shape: Any = fields.get("shape")
    ends: Any = fields.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in BITS:
        raise ModelError(f"{place} `dtype` is {shown(dtype)}, which is no type.")
    if not _are_sizes(shape) or len(shape) > MAX_DIMENSIONS:
        raise ModelError(f"{place} `shape` is {shown(shape)}.")
    if not _are_sizes(ends) or len(ends) != 2:
        raise ModelError(f"{place} `data_offsets` is {shown(ends)}.")
    begin, end = ends
    if end > room:
        raise ModelError(f"{place} it ends at byte {end:,} of {room:,}, so the file is cut off.")
    if 8 * (end - begin) != prod(shape) * BITS[dtype]:
        raise ModelError(f"{place} {dtype} {shape} does not fill {end - begin:,} bytes.")
    return TensorHead(dtype, tuple(shape), end - begin)


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(
        type(number) is int and 0 <= number < 1 << 63 for number in value
    )
